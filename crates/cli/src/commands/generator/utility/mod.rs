//! `dpscope generator utility`: classifiers trained on released rows and tested on real ones, beside ε.

mod args;

pub(crate) use args::GeneratorUtilityArgs;

use std::path::Path;
use web_time::Instant;

use dpscope_core::adjacency::World;
use dpscope_core::foreign_text::ForeignText;
use dpscope_core::ranking::RankingQuality;
use dpscope_formats::table::{Rows, Schema};
use dpscope_report::document::utility_document;
use dpscope_report::figure::utility_svg;
use dpscope_report::record::{GeneratorUtility, Utility, UtilityFigures, UtilityReport};
use dpscope_report::text::document_text;
use dpscope_synth::generator::{Manifest, Outcome};
use dpscope_synth::utility::{UtilityError, UtilityTask, figures, generator_utility};
use rayon::prelude::*;

use crate::args::{check_drawing, write_drawing};
use crate::commands::audit::generator::measured_epsilon;
use crate::failure::{CommandResult, Exit, Failure};
use crate::generator_folder::{MANIFEST, RunPlace, data_file, read_manifest, read_rows};
use crate::host;
use crate::output::{print_json, print_text};
use crate::progress::{RowProgress, is_interrupted};

pub(crate) fn run(args: &GeneratorUtilityArgs) -> CommandResult {
    let started = Instant::now();
    args.plot.as_deref().map_or(Ok(()), check_drawing)?;
    let generators: Vec<(&Path, Manifest)> = args
        .folders
        .iter()
        .map(|folder| Ok((folder.as_path(), read_manifest(folder)?)))
        .collect::<Result<_, Failure>>()?;
    let Some((first, manifest)) = generators.first() else {
        return Err(Failure::input("name a folder"));
    };
    let schema = manifest.schema()?;
    for (folder, other) in &generators {
        if other.schema()? != schema {
            let why = format!("its columns are not those of {}", ForeignText::new(first));
            return Err(Failure::input(why).about(&folder.join(MANIFEST)));
        }
    }
    let tested = Tested::of(args, &schema, manifest.seed)?;
    let runs = |manifest: &Manifest| args.runs.min(manifest.runs);
    let total: u64 = generators.iter().map(|(_, manifest)| runs(manifest)).sum();
    let progress = RowProgress::new(args.show.quiet, total as usize);
    let pool = host::pool(0)?;
    let mut rows = Vec::with_capacity(generators.len());
    for (folder, manifest) in &generators {
        let found =
            pool.install(|| tested.generator(folder, manifest, runs(manifest), &progress))?;
        rows.push(found);
    }
    drop(progress);
    let utility = tested.utility(&generators, rows)?;
    if let Some(path) = &args.plot {
        write_drawing(path, &utility_svg(&utility))?;
    }
    let report = UtilityReport {
        schema: "dpscope.utility/1",
        version: env!("CARGO_PKG_VERSION"),
        utility,
        elapsed_ms: started.elapsed().as_secs_f64() * 1e3,
    };
    if args.show.json {
        print_json(&report)?;
    } else {
        print_text(&document_text(&utility_document(&report.utility)))?;
    }
    Ok(Exit::Done)
}

/// What classifiers predict, and the rows that they are tested on.
struct Tested<'a> {
    task: UtilityTask,
    rows: Rows,
    path: &'a Path,
    schema: &'a Schema,
    /// Seed of the forest.
    seed: u64,
}

impl<'a> Tested<'a> {
    fn of(args: &'a GeneratorUtilityArgs, schema: &'a Schema, seed: u64) -> Result<Self, Failure> {
        let labelled = schema.clone().with_label(&args.label);
        let labelled = labelled.map_err(|error| Failure::input(format!("--label: {error}")))?;
        let task = UtilityTask::new(&labelled, args.positive.as_deref());
        let task = task.map_err(|error| Failure::input(format!("--positive: {error}")))?;
        let path = args.test_data.as_path();
        let rows = read_rows(path, schema)?;
        let tested = Tested { task, rows, path, schema, seed };
        tested.task.tested(&tested.rows).map_err(|error| tested.refused(&error))?;
        Ok(tested)
    }

    fn refused(&self, error: &UtilityError) -> Failure {
        let remedy = "the test data need rows with the category and rows without it";
        match error {
            UtilityError::Test(_) => Failure::input(format!("{error}; {remedy}")).about(self.path),
            _ => Failure::input(error),
        }
    }

    fn qualities(&self, synthetic: &Rows) -> Result<Vec<RankingQuality>, Failure> {
        let found = self.task.qualities(synthetic, &self.rows, self.seed);
        found.map_err(|error| self.refused(&error))
    }

    /// Runs that failed released nothing to learn from, and are left out.
    fn generator(
        &self,
        folder: &Path,
        manifest: &Manifest,
        runs: u64,
        progress: &RowProgress,
    ) -> Result<GeneratorUtility, Failure> {
        let measured = measured_epsilon(folder, manifest, self.schema)?;
        let place = |run| RunPlace { folder, world: World::Target, run };
        let qualities: Vec<Vec<RankingQuality>> = (0..runs)
            .into_par_iter()
            .filter_map(|run| {
                if is_interrupted() {
                    return Some(Err(Failure::interrupted()));
                }
                progress.next(&place(run).name());
                match place(run).outcome(manifest, self.schema) {
                    Ok(Outcome::Rows(rows)) => Some(self.qualities(&rows)),
                    Ok(Outcome::Failed(_)) => None,
                    Err(failure) => Some(Err(failure)),
                }
            })
            .collect::<Result<_, Failure>>()?;
        if qualities.is_empty() {
            let why = "and so did all others: no rows to learn from; repair the generator and run it again";
            return Err(Failure::input(why).about(&place(0).file("failed")));
        }
        let name = folder.display().to_string();
        Ok(generator_utility(name, [manifest.epsilon, measured], &qualities))
    }

    /// Classifiers trained on the data of the first folder, if it has them.
    fn real(&self, folder: &Path) -> Result<Option<UtilityFigures>, Failure> {
        let path = data_file(folder, World::Target);
        if !path.exists() {
            return Ok(None);
        }
        let data = read_rows(&path, self.schema)?;
        if self.rows.iter().all(|row| data.iter().any(|other| other == row)) {
            let why = format!(
                "all its rows are in {}, which the generator sees; hold out rows before the first run",
                ForeignText::new(path)
            );
            return Err(Failure::input(why).about(self.path));
        }
        Ok(Some(figures(&[self.qualities(&data)?])))
    }

    fn utility(
        &self,
        generators: &[(&Path, Manifest)],
        rows: Vec<GeneratorUtility>,
    ) -> Result<Utility, Failure> {
        let (tested_rows, positive_share) =
            self.task.tested(&self.rows).map_err(|error| self.refused(&error))?;
        let significance = generators.iter().map(|(_, manifest)| manifest.significance);
        Ok(Utility {
            label: self.task.label().to_owned(),
            positive: self.task.positive().to_owned(),
            tested_rows,
            positive_share,
            significance: significance.fold(0.0, f64::max),
            generators: rows,
            real: generators.first().map_or(Ok(None), |(folder, _)| self.real(folder))?,
        })
    }
}
