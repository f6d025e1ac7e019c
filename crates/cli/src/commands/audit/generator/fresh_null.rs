//! One run with a Poisson number of independent canary rows: others of the same distribution, drawn after
//! the run, show what chance gives.

use std::path::Path;

use dpscope_core::adjacency::World;
use dpscope_core::foreign_text::ForeignText;
use dpscope_core::format::given;
use dpscope_formats::table::{Rows, Schema};
use dpscope_synth::generator::{FreshCanaries, Manifest};

use super::GeneratorArgs;
use super::one_run::{SCORES, arguments, released, scores, write_scores};
use crate::commands::audit::one_run;
use crate::failure::{CommandResult, Failure};
use crate::generator_folder::{
    CANARIES, MANIFEST, data_file, fresh_canaries, manifest_digest, null_rows, read_rows,
};
use crate::output::print_note;

const NULL_SCORES: &str = "null_scores.npy";

pub(super) fn audit(
    args: &GeneratorArgs,
    manifest: &Manifest,
    schema: &Schema,
    fresh: FreshCanaries,
) -> CommandResult {
    let folder = args.folder.as_path();
    let canaries = fresh_canaries(schema, fresh, manifest.seed);
    check(folder, &canaries, schema)?;
    if canaries.is_empty() {
        let why = "has no canary: so few were expected that none was drawn, and ε ≥ 0 is all that the \
                   run shows; commit new ones with a larger --poisson";
        return Err(Failure::input(why).about(&folder.join(CANARIES)));
    }
    let synthetic = released(folder, manifest, schema)?;
    let [included, absent] = [SCORES, NULL_SCORES].map(|name| folder.join(name));
    write_scores(&included, scores(manifest, schema, &canaries, &synthetic))?;
    let null = null_rows(schema, fresh, manifest.seed);
    write_scores(&absent, scores(manifest, schema, &null, &synthetic))?;

    let design = format!("poisson:{}", fresh.mean);
    let [delta, significance] = [manifest.delta, manifest.significance].map(given);
    let own: [(&str, &Path); 5] = [
        ("--scores", &included),
        ("--null-scores", &absent),
        ("--design", Path::new(&design)),
        ("--delta", Path::new(&delta)),
        ("--significance", Path::new(&significance)),
    ];
    let path = folder.join(MANIFEST);
    let exit = one_run::of_manifest(&arguments(args, manifest, &own)?, &path)?;
    print_note(&format!(
        "canaries, scoring and claim follow from {}, whose digest is {}; the result holds only if this \
         digest was published before the run",
        ForeignText::new(&path),
        manifest_digest(folder)?
    ));
    Ok(exit)
}

/// The canaries must be those of the seed, and in the data.
fn check(folder: &Path, canaries: &Rows, schema: &Schema) -> Result<(), Failure> {
    let remedy = "the files must be those that `dpscope canaries rows` wrote";
    let path = folder.join(CANARIES);
    if read_rows(&path, schema)? != *canaries {
        let why = "differs from what the seed of the manifest draws";
        return Err(Failure::input(format!("{why}; {remedy}")).about(&path));
    }
    let path = data_file(folder, World::Target);
    if !path.exists() {
        return Ok(());
    }
    let data = read_rows(&path, schema)?;
    let occurrences = |rows: &Rows, row: &[f64]| rows.iter().filter(|other| *other == row).count();
    let is_missing = |row: &[f64]| occurrences(&data, row) < occurrences(canaries, row);
    match canaries.iter().position(is_missing) {
        None => Ok(()),
        Some(at) => {
            let why = format!("lacks canary {at}, which was drawn to be in the data");
            Err(Failure::input(format!("{why}; {remedy}")).about(&path))
        }
    }
}
