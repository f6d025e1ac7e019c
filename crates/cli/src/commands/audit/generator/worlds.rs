//! Many runs in two worlds: every file is checked before the attack sees one.

use std::path::Path;

use dpscope_core::adjacency::World;
use dpscope_formats::table::Schema;
use dpscope_synth::generator::{Manifest, OutcomeError, WorldOutcomes, WorldsAttack};

use crate::failure::Failure;
use crate::generator_folder::{RunPlace, SEED_CHECK, check_worlds};

pub(super) fn audit(
    folder: &Path,
    manifest: &Manifest,
    schema: &Schema,
) -> Result<WorldsAttack, Failure> {
    let checked_data = check_worlds(folder, manifest, schema)?;
    let mut outcomes = WorldOutcomes::new(manifest.clone())?;
    for world in World::BOTH {
        refuse_more_runs(folder, world, manifest)?;
        for run in 0..manifest.runs {
            let place = RunPlace { folder, world, run };
            let outcome = place.outcome(manifest, schema)?;
            let added = outcomes.add((world, run), &place.name(), &outcome);
            added.map_err(|error| Failure::input(error).about(&place.file("csv")))?;
        }
    }
    let found = outcomes.attack().map_err(|error| {
        Failure::input(format!("{error}; `dpscope plan generator` says how many a claim needs"))
    })?;
    let note = folder.join(SEED_CHECK);
    let other_rows =
        std::fs::read_to_string(note).ok().filter(|text| text.starts_with("different"));
    let retried = World::BOTH.map(|world| {
        let places = (0..manifest.runs).map(|run| RunPlace { folder, world, run });
        places.filter(|place| place.file("retried").exists()).count() as u64
    });
    Ok(WorldsAttack { checked_data, retried, other_rows, ..found })
}

/// More runs than planned: somebody could choose among them.
fn refuse_more_runs(folder: &Path, world: World, manifest: &Manifest) -> Result<(), Failure> {
    let next = RunPlace { folder, world, run: manifest.runs };
    let extra = [next.file("csv"), next.file("failed")].into_iter().find(|path| path.exists());
    let Some(extra) = extra else { return Ok(()) };
    let error = OutcomeError::TooMany { planned: manifest.runs };
    Err(Failure::input(error).about(&extra))
}
