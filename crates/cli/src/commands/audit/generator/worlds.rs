//! Many runs in two worlds: every file is checked before the attack sees one.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;

use dpscope_core::adjacency::World;
use dpscope_formats::table::{Rows, Schema};
use dpscope_synth::attack::{AttackOptions, AttackResult, Features, ForestOptions, attack};

use crate::failure::Failure;
use crate::generator_folder::{Duplicates, Manifest, Outcome, RunPlace, SEED_CHECK, check_worlds};

/// How many runs of a world failed, and the reason of the first.
pub(super) type FailedRuns = (u64, Option<String>);

/// What was found.
pub(super) struct Found {
    pub(super) attack: AttackResult,
    pub(super) failed: [FailedRuns; 2],
    pub(super) checked_data: bool,
    /// Runs of each world that succeeded in a later attempt.
    pub(super) retried: [u64; 2],
    /// Whether a second execution of a run gave other rows.
    pub(super) other_rows: Option<String>,
}

pub(super) fn audit(folder: &Path, manifest: &Manifest, schema: &Schema) -> Result<Found, Failure> {
    let checked_data = check_worlds(folder, manifest, schema)?;
    let target = manifest.target_row(schema)?;
    let features = Features::new(schema, &target);
    let mut seen = HashMap::new();
    let mut read = |world: World| -> Result<(Vec<Vec<f64>>, FailedRuns), Failure> {
        refuse_more_runs(folder, world, manifest)?;
        let (mut examples, mut failed) = (Vec::new(), (0, None));
        for run in 0..manifest.runs {
            let place = RunPlace { folder, world, run };
            let outcome = place.outcome(manifest, schema)?;
            if let Outcome::Failed(reason) = &outcome {
                failed.0 += 1;
                failed.1.get_or_insert_with(|| format!("{}: {reason}", place.name()));
            }
            let rows = match &outcome {
                Outcome::Rows(rows) => Some(rows),
                Outcome::Failed(_) => None,
            };
            if let (Duplicates::Refuse, Some(rows)) = (manifest.duplicates, rows)
                && let Some(other) = seen.insert(digest(rows), place.name())
            {
                return Err(copied(&other, &place));
            }
            examples.push(features.of_outcome(rows));
        }
        Ok((examples, failed))
    };
    let [with, without] = [read(World::Target)?, read(World::ZeroOut)?];
    let options = AttackOptions {
        delta: manifest.delta,
        significance: manifest.significance,
        forest: ForestOptions { seed: manifest.seed, ..ForestOptions::default() },
    };
    let attack = attack([&with.0, &without.0], &options).map_err(|error| {
        Failure::input(format!("{error}; `dpscope plan generator` says how many a claim needs"))
    })?;
    let note = folder.join(SEED_CHECK);
    let other_rows =
        std::fs::read_to_string(note).ok().filter(|text| text.starts_with("different"));
    let retried = World::BOTH.map(|world| {
        let places = (0..manifest.runs).map(|run| RunPlace { folder, world, run });
        places.filter(|place| place.file("retried").exists()).count() as u64
    });
    Ok(Found { attack, failed: [with.1, without.1], checked_data, retried, other_rows })
}

fn digest(rows: &Rows) -> u64 {
    let mut hasher = DefaultHasher::new();
    rows.values.iter().for_each(|value| value.to_bits().hash(&mut hasher));
    hasher.finish()
}

fn copied(other: &str, place: &RunPlace<'_>) -> Failure {
    Failure::input(format!(
        "has the rows of {other}: a file was copied, or the generator ignores its seed; make it use \
         {{seed}} and run it again, or, where so few rows coincide by chance, state \
         duplicates = \"allow\" in the manifest"
    ))
    .about(&place.file("csv"))
}

/// More runs than planned: somebody could choose among them.
fn refuse_more_runs(folder: &Path, world: World, manifest: &Manifest) -> Result<(), Failure> {
    let next = RunPlace { folder, world, run: manifest.runs };
    let extra = [next.file("csv"), next.file("failed")].into_iter().find(|path| path.exists());
    let Some(extra) = extra else { return Ok(()) };
    let why = format!("is one run more than the {} of the manifest", manifest.runs);
    let remedy = "the number of runs is fixed before the first: remove it, or plan anew";
    Err(Failure::input(format!("{why}; {remedy}")).about(&extra))
}
