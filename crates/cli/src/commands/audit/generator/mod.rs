//! `dpscope audit generator`: a user's own generator of synthetic rows, from the rows it released.

mod args;
mod fresh_null;
mod one_run;
mod worlds;

pub(crate) use args::GeneratorArgs;

use std::path::Path;
use web_time::Instant;

use dpscope_core::adjacency::World;
use dpscope_core::audit::claim::Verdict;
use dpscope_formats::table::Schema;
use dpscope_report::figure::generator_svg;
use dpscope_report::record::{GeneratorReport, IndicativeFigures};
use dpscope_synth::attack::{LEAST_RUNS, Nearness, RowDistance};
use dpscope_synth::generator::{
    BoundsSource, Game, GeneratorPlan, Manifest, Outcome, report_without_bound, worlds_report,
};

use crate::args::{check_drawing, write_drawing};
use crate::failure::{CommandResult, Exit, Failure};
use crate::generator_folder::{RunPlace, check_worlds, data_file, read_manifest, read_rows};
use crate::output::Delivery;

pub(crate) fn run(args: &GeneratorArgs) -> CommandResult {
    let started = Instant::now();
    args.plot.as_deref().map_or(Ok(()), check_drawing)?;
    args.page.check()?;
    let folder = args.folder.as_path();
    let manifest = read_manifest(folder)?;
    let schema = manifest.schema()?;
    if let (Game::PoissonFresh, BoundsSource::Public, Some(fresh)) =
        (manifest.game, manifest.bounds, manifest.fresh_canaries)
    {
        return fresh_null::audit(args, &manifest, &schema, fresh);
    }
    if let (Game::Coins | Game::Poisson, BoundsSource::Public) = (manifest.game, manifest.bounds) {
        return one_run::audit(args, &manifest, &schema);
    }
    let (report, scores) = match (manifest.game, manifest.bounds) {
        (Game::TwoWorlds, BoundsSource::Public) => {
            let found = worlds::audit(folder, &manifest, &schema)?;
            let elapsed_ms = started.elapsed().as_secs_f64() * 1e3;
            let report = worlds_report(&GeneratorPlan::from(&manifest), &found, elapsed_ms);
            (report, found.attack.scores)
        }
        (game, bounds) => {
            let checked = game == Game::TwoWorlds && check_worlds(folder, &manifest, &schema)?;
            let figures = indicative(folder, &manifest, &schema)?;
            let elapsed_ms = started.elapsed().as_secs_f64() * 1e3;
            let plan = GeneratorPlan::from(&manifest);
            let report = report_without_bound(&plan, bounds, figures, elapsed_ms);
            (GeneratorReport { checked_data: checked, ..report }, [Vec::new(), Vec::new()])
        }
    };
    let [with, without] = &scores;
    let drawing = || generator_svg([with, without], &report);
    let delivery = Delivery::new(&args.page, args.show.json);
    delivery.deliver(&report, || Ok(drawing()))?;
    if let Some(path) = &args.plot {
        write_drawing(path, &drawing())?;
    }
    Ok(match report.verdict {
        Some(Verdict::Refuted) => Exit::Refuted,
        Some(Verdict::Inconclusive) => Exit::Inconclusive,
        Some(Verdict::NotRefuted) | None => Exit::Done,
    })
}

/// Lower bound on ε by the attack on the runs of a folder; none where runs give no bound.
pub(in crate::commands) fn measured_epsilon(
    folder: &Path,
    manifest: &Manifest,
    schema: &Schema,
) -> Result<Option<f64>, Failure> {
    let has_bound = manifest.game == Game::TwoWorlds
        && manifest.bounds == BoundsSource::Public
        && manifest.runs >= LEAST_RUNS as u64;
    let found = has_bound.then(|| worlds::audit(folder, manifest, schema)).transpose()?;
    Ok(found.map(|found| found.attack.bound.value()))
}

/// Distances of the real rows to the first table.
fn indicative(
    folder: &Path,
    manifest: &Manifest,
    schema: &Schema,
) -> Result<IndicativeFigures, Failure> {
    let place = RunPlace { folder, world: World::Target, run: 0 };
    let synthetic = match place.outcome(manifest, schema)? {
        Outcome::Rows(rows) => rows,
        Outcome::Failed(reason) => {
            let why =
                format!("the run failed ({reason}), so there is nothing to describe; run it again");
            return Err(Failure::input(why).about(&place.file("failed")));
        }
    };
    let path = data_file(folder, World::Target);
    let real = read_rows(&path, schema)?;
    let figures = Nearness::of(&RowDistance::new(schema), &real, &synthetic);
    let figures = figures.ok_or_else(|| Failure::input("has no rows to compare").about(&path))?;
    Ok(IndicativeFigures {
        copied_share: figures.copied_share,
        median_distance: figures.median,
        least_distance: figures.least,
    })
}
