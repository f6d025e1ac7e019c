//! One run with canary rows: each is scored from the released rows by the rule of the manifest, and
//! `audit one-run` takes it from there.

use std::path::{Path, PathBuf};

use clap::{Args, Command, FromArgMatches, ValueEnum};
use dpscope_core::adjacency::World;
use dpscope_core::format::given;
use dpscope_formats::table::{Rows, Schema};
use dpscope_formats::{Array, write_npy};
use dpscope_synth::generator::{Manifest, Outcome, Scoring, canary_scores};

use super::GeneratorArgs;
use crate::canary_plan;
use crate::commands::audit::one_run::{self, OneRunArgs};
use crate::committed::CANARY_ARRAY;
use crate::failure::{CommandResult, Exit, Failure};
use crate::files::{cannot_write, write_atomically};
use crate::generator_folder::{CANARIES, RunPlace, data_file, read_rows};

pub(super) const SCORES: &str = "scores.npy";

pub(super) fn audit(args: &GeneratorArgs, manifest: &Manifest, schema: &Schema) -> CommandResult {
    let folder = args.folder.as_path();
    let canaries = read_rows(&folder.join(CANARIES), schema)?;
    check_data(folder, &canaries, schema)?;
    let synthetic = released(folder, manifest, schema)?;
    let path = folder.join(SCORES);
    write_scores(&path, scores(manifest, schema, &canaries, &synthetic))?;
    let array = folder.join(CANARY_ARRAY);
    let own: [(&str, &Path); 3] = [("--scores", &path), ("--plan", folder), ("--canaries", &array)];
    one_run::run(&arguments(args, manifest, &own)?)
}

/// The rows of the only run.
pub(super) fn released(
    folder: &Path,
    manifest: &Manifest,
    schema: &Schema,
) -> Result<Rows, Failure> {
    let place = RunPlace { folder, world: World::Target, run: 0 };
    match place.outcome(manifest, schema)? {
        Outcome::Rows(rows) => Ok(rows),
        Outcome::Failed(reason) => {
            let why = format!("the only run failed ({reason}), and no canary has a score");
            let remedy = "repair the generator and commit new canaries";
            Err(Failure::input(format!("{why}; {remedy}")).about(&place.file("failed")))
        }
    }
}

pub(super) fn write_scores(path: &Path, scores: Vec<f64>) -> Result<(), Failure> {
    let array = Array::new(vec![scores.len()], scores)?;
    write_atomically(path, &write_npy(&array)).map_err(|error| cannot_write(path, &error))
}

/// Higher for rows that were in the data.
pub(super) fn scores(
    manifest: &Manifest,
    schema: &Schema,
    canaries: &Rows,
    synthetic: &Rows,
) -> Vec<f64> {
    let scoring = manifest.scoring.unwrap_or(Scoring::Nearest);
    canary_scores((scoring, manifest.seed), schema, canaries, synthetic)
}

/// Canaries whose coin is 1 must be in the data, and others must not.
fn check_data(folder: &Path, canaries: &Rows, schema: &Schema) -> Result<(), Failure> {
    let path = data_file(folder, World::Target);
    if !path.exists() {
        return Ok(());
    }
    let data = read_rows(&path, schema)?;
    let committed = canary_plan::open(folder, None)?;
    let coins = committed.coins();
    let coins = coins.first().map_or(&[][..], Vec::as_slice);
    if coins.len() != canaries.len() {
        let why = format!("has {} rows, and there are {} coins", canaries.len(), coins.len());
        return Err(Failure::input(why).about(&folder.join(CANARIES)));
    }
    for (at, (row, is_in)) in canaries.iter().zip(coins).enumerate() {
        let is_present = data.iter().any(|other| other == row);
        let why = match (is_present, *is_in) {
            (false, true) => "lacks it, and its coin is 1",
            (true, false) => "contains it, and its coin is 0",
            _ => continue,
        };
        let remedy = "the data must be those that `dpscope canaries rows` wrote";
        return Err(Failure::input(format!("{why}: canary {at}; {remedy}")).about(&path));
    }
    Ok(())
}

/// The options of `audit one-run`: the given ones, and the claim and the output of this audit.
pub(super) fn arguments(
    args: &GeneratorArgs,
    manifest: &Manifest,
    own: &[(&str, &Path)],
) -> Result<OneRunArgs, Failure> {
    let mut words: Vec<PathBuf> = vec!["dpscope".into()];
    let mut add = |name: &str, value: &Path| words.extend([PathBuf::from(name), value.to_owned()]);
    own.iter().for_each(|(name, value)| add(name, value));
    if let Some(epsilon) = manifest.epsilon {
        add("--claim", Path::new(&given(epsilon)));
        add("--claim-delta", Path::new(&given(manifest.delta)));
    }
    if let Some(plot) = &args.plot {
        add("--plot", plot);
    }
    for (name, file) in [("--report", &args.page.report), ("--sarif", &args.page.sarif)] {
        if let Some(file) = file {
            add(name, file);
        }
    }
    if let Some(format) = args.page.format.and_then(|format| format.to_possible_value()) {
        add("--format", Path::new(format.get_name()));
    }
    if args.show.json {
        words.push("--json".into());
    }
    let matches = OneRunArgs::augment_args(Command::new("dpscope")).try_get_matches_from(words);
    let parsed = matches.and_then(|matches| OneRunArgs::from_arg_matches(&matches));
    parsed.map_err(|error| Failure::with(Exit::Internal, error))
}
