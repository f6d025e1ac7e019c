//! `dpscope plan generator`: how many runs a claim needs, and the folder of the audit.

mod args;

pub(crate) use args::GeneratorPlanArgs;

use std::path::Path;

use dpscope_core::accounting::Kind;
use dpscope_core::adjacency::World;
use dpscope_core::audit::bound::ceiling;
use dpscope_core::audit::planner::observations_for_ceiling;
use dpscope_core::audit::trade_off::Trials;
use dpscope_core::foreign_text::ForeignText;
use dpscope_core::format::given;
use dpscope_formats::table::{Rows, write_table};
use dpscope_report::number::{counted, plain};
use dpscope_synth::attack::{LEAST_RUNS, division};
use dpscope_synth::generator::{BoundsSource, Duplicates, Game, Manifest};

use crate::failure::{CommandResult, Exit, Failure};
use crate::files::{cannot_write, write_text};
use crate::generator_folder::{
    DATA, MANIFEST, check_worlds, columns_from_data, data_file, read_columns, read_rows,
    write_manifest,
};
use crate::new_files::{check_new, write_new_files};
use crate::output::print_text;
use crate::seed::seed_or_fresh;
use crate::shell::quoted_path;

/// Fewest runs of each world that an attack can divide.
const LEAST: u64 = LEAST_RUNS as u64;

/// The least number of runs of which so many are evaluated.
fn least_runs(needed: u64) -> u64 {
    let few = (needed.saturating_mul(5) / 2).saturating_sub(5);
    (few..=few.saturating_add(10)).find(|&runs| division(runs)[2] >= needed).unwrap_or(u64::MAX)
}

pub(crate) fn run(args: &GeneratorPlanArgs) -> CommandResult {
    let (delta, significance) = (args.statement.delta, args.statement.significance());
    let goal = args.epsilon.unwrap_or(args.claim + 1.0);
    let needed = observations_for_ceiling(goal, delta, significance / 2.0)
        .map_err(|error| match args.epsilon {
            Some(_) => Failure::input(format!("--epsilon: {error}")),
            None => Failure::input(format!(
                "--claim: {error}, and runs that can show the claim plus 1 are planned; pass a smaller \
                 --claim, or --epsilon"
            )),
        })?;
    let needed = least_runs(needed).max(LEAST);
    let runs = args.runs.unwrap_or(needed);
    if runs < LEAST {
        return Err(Failure::input(format!("--runs {runs}: an attack needs at least {LEAST}")));
    }
    let [_, _, evaluated] = division(runs);
    let shown =
        ceiling(Trials { target: evaluated, zero_out: evaluated }, delta, significance / 2.0)?;
    let mut text = format!(
        "{} of each world can show ε ≥ {} at most, by an attack without errors; {} are needed for ε = {}.\n",
        counted(runs, "run"),
        plain(shown, Kind::Lower, 4),
        needed,
        given(goal)
    );
    if shown <= args.claim {
        text += "So few runs cannot refute the claim, whatever the generator does: plan more.\n";
    }
    if let Some(folder) = &args.out {
        let manifest = write(args, folder, runs)?;
        text += &format!(
            "{} has {MANIFEST} and the data of both worlds.\nNext:  dpscope generator run {} \
             --command '… {{data}} {{rows}} {{seed}} {{out}}'\n",
            ForeignText::new(folder),
            quoted_path(folder)
        );
        if manifest.bounds == BoundsSource::Data {
            text += "Its bounds were taken from the data, so that the audit will report no ε.\n";
        }
    }
    print_text(&text)?;
    Ok(Exit::Done)
}

fn write(args: &GeneratorPlanArgs, folder: &Path, runs: u64) -> Result<Manifest, Failure> {
    let (Some(data), Some(rows)) = (&args.data, args.rows) else {
        return Err(Failure::input("--out needs --data and --rows"));
    };
    check_new(folder, &[MANIFEST])?;
    let columns = match &args.columns {
        Some(path) => read_columns(path)?,
        None if args.bounds_from_data => columns_from_data(data)?,
        None => {
            return Err(Failure::input(
                "--columns is missing: state public bounds and categories, or pass --bounds-from-data, \
                 which gives no epsilon",
            ));
        }
    };
    let manifest = Manifest {
        format: Manifest::format(),
        game: Game::TwoWorlds,
        epsilon: Some(args.claim),
        delta: args.statement.delta,
        significance: args.statement.significance(),
        rows,
        runs,
        bounds: if args.bounds_from_data { BoundsSource::Data } else { BoundsSource::Public },
        seed: seed_or_fresh(args.seed)?.0,
        retries: args.retries,
        duplicates: if args.allow_duplicates { Duplicates::Allow } else { Duplicates::Refuse },
        scoring: None,
        target: None,
        fresh_canaries: None,
        columns,
    };
    let schema = manifest.schema()?;
    let real = read_rows(data, &schema)?;
    let (target, with, without) = worlds(args, &real, &manifest)?;
    let table = Rows { columns: real.columns, values: target };
    let written = write_table(&schema, &table);
    let manifest = Manifest { target: Some(cells(&written)?), ..manifest };
    write_new_files(folder, &[MANIFEST], |unfinished| {
        let path = unfinished.join(DATA);
        std::fs::create_dir_all(&path).map_err(|error| cannot_write(&path, &error))?;
        for (world, rows) in [(World::Target, with), (World::ZeroOut, without)] {
            write_text(&data_file(unfinished, world), &write_table(&schema, &rows))?;
        }
        check_worlds(unfinished, &manifest, &schema)?;
        write_manifest(&manifest, unfinished)
    })?;
    Ok(manifest)
}

/// The target row, and the data with and without it.
fn worlds(
    args: &GeneratorPlanArgs,
    real: &Rows,
    manifest: &Manifest,
) -> Result<(Vec<f64>, Rows, Rows), Failure> {
    let schema = manifest.schema()?;
    let mut other = real.clone();
    if let Some(at) = args.target_row {
        let target = real.iter().nth(at).map(<[f64]>::to_vec).ok_or_else(|| {
            Failure::input(format!("--target-row {at}: the data have {} rows", real.len()))
        })?;
        other.values.drain(at * real.columns..(at + 1) * real.columns);
        return Ok((target, real.clone(), other));
    }
    let Some(cells_text) = &args.target_cells else {
        return Err(Failure::input(
            "--target-row is missing: choose the row that one world lacks, or pass --target-cells",
        ));
    };
    let planned = Manifest { target: Some(cells(&format!("\n{cells_text}"))?), ..manifest.clone() };
    let target = planned.target_row(&schema)?;
    other.values.extend(&target);
    Ok((target, other, real.clone()))
}

/// The cells of the second line of a csv text.
fn cells(text: &str) -> Result<Vec<String>, Failure> {
    let line = text.split_once('\n').map_or("", |(_, rest)| rest);
    let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(line.as_bytes());
    let record = reader.records().next().transpose();
    let record = record
        .map_err(|error| Failure::input(format!("--target-cells: {}", ForeignText::of(error))))?;
    Ok(record.iter().flatten().map(str::to_owned).collect())
}
