//! `dpscope canaries rows`: canary rows for one run of a generator of synthetic rows.

mod args;

pub(crate) use args::RowsArgs;

use std::path::Path;

use dpscope_core::adjacency::{Adjacency, World};
use dpscope_core::random::{Purpose, Words};
use dpscope_formats::table::{Rows, Schema, write_table};
use dpscope_formats::{Array, write_npy};
use dpscope_report::number::counted;
use dpscope_report::record::{OneRunPlan, PlannedGame, PlannedRule, ScoreDirection};
use dpscope_synth::generator::{
    BoundsSource, Duplicates, FreshCanaries, Game, Manifest, uniform_row,
};

use crate::canary_plan::{self, digest_of_file};
use crate::committed::{CANARY_ARRAY, COMMITMENT, PLAN, SEED};
use crate::failure::{CommandResult, Exit, Failure};
use crate::files::{cannot_write, write_atomically, write_text};
use crate::generator_folder::{
    CANARIES, DATA, MANIFEST, data_file, fresh_canaries, manifest_digest, read_columns, read_rows,
    write_manifest,
};
use crate::new_files::{check_new, write_new_files};
use crate::output::print_text;
use crate::seed::seed_or_fresh;
use crate::shell::quoted_path;

/// Most canaries; their coins and rows are held in memory.
const MOST: u64 = 1_000_000;

/// What was written.
struct Written {
    /// Canaries in the data.
    inserted: u64,
    commitment: String,
}

pub(crate) fn run(args: &RowsArgs) -> CommandResult {
    let (seed, _) = seed_or_fresh(None)?;
    let fresh = args.poisson.zip(args.null_draws);
    let fresh = fresh.map(|(mean, null_draws)| FreshCanaries { mean, null_draws });
    check(args, fresh)?;
    let game = match (fresh, args.poisson) {
        (Some(_), _) => Game::PoissonFresh,
        (None, Some(_)) => Game::Poisson,
        (None, None) => Game::Coins,
    };
    let manifest = Manifest {
        format: Manifest::format(),
        game,
        epsilon: args.claim,
        delta: args.statement.delta,
        significance: args.statement.significance(),
        rows: args.rows,
        runs: 1,
        bounds: BoundsSource::Public,
        seed,
        retries: 0,
        duplicates: Duplicates::Refuse,
        scoring: Some(args.scoring.into()),
        target: None,
        fresh_canaries: fresh,
        columns: read_columns(&args.columns)?,
    };
    let schema = manifest.schema()?;
    let data = read_rows(&args.data, &schema)?;
    let real = data.len();
    let files = [MANIFEST, PLAN, SEED, COMMITMENT, CANARIES];
    let written = write_new_files(&args.out, &files, |folder| {
        write(args, folder, (&manifest, &schema), data)
    });
    print_text(&next(args, (written?, real as u64)))?;
    Ok(Exit::Done)
}

/// Writes canaries, manifest and data; returns the number of canaries in the data, and the commitment.
fn write(
    args: &RowsArgs,
    folder: &Path,
    (manifest, schema): (&Manifest, &Schema),
    mut data: Rows,
) -> Result<Written, Failure> {
    let path = folder.join(DATA);
    std::fs::create_dir_all(&path).map_err(|error| cannot_write(&path, &error))?;
    let seed = manifest.seed;
    let written = match manifest.fresh_canaries {
        Some(fresh) => {
            let canaries = fresh_canaries(schema, fresh, seed);
            write_text(&folder.join(CANARIES), &write_table(schema, &canaries))?;
            data.values.extend(&canaries.values);
            write_manifest(manifest, folder)?;
            Written { inserted: canaries.len() as u64, commitment: manifest_digest(folder)? }
        }
        None => {
            let count = args.count.unwrap_or(0);
            let canaries = drawn(schema, &data, count, seed)?;
            let digest = write_canaries(folder, schema, &canaries)?;
            let commitment = canary_plan::commit(folder, &plan(args, count, digest))?;
            let copies = copies(args, folder)?;
            for (row, copies) in canaries.iter().zip(&copies) {
                (0..*copies).for_each(|_| data.values.extend(row));
            }
            write_manifest(manifest, folder)?;
            Written { inserted: copies.iter().map(|&copies| u64::from(copies)).sum(), commitment }
        }
    };
    shuffle(&mut data, seed);
    write_text(&data_file(folder, World::Target), &write_table(schema, &data))?;
    Ok(written)
}

/// How often each canary of a committed plan is in the data.
fn copies(args: &RowsArgs, folder: &Path) -> Result<Vec<u8>, Failure> {
    let committed = canary_plan::open(folder, None)?;
    Ok(match args.poisson {
        Some(mean) => committed.copies(mean),
        None => committed.coins().concat().into_iter().map(u8::from).collect(),
    })
}

/// What was written, and what to do.
fn next(args: &RowsArgs, (written, real): (Written, u64)) -> String {
    let Written { inserted, commitment } = written;
    let folder = quoted_path(&args.out);
    let canaries = |count| counted(count, "canary").replace("canarys", "canaries");
    let (what, later) = match args.count {
        Some(count) => (format!("{inserted} of {} are", canaries(count)), "the coins"),
        None => {
            let verb = if inserted == 1 { "is" } else { "are" };
            (format!("{} {verb}", canaries(inserted)), "the canaries")
        }
    };
    format!(
        "{what} in the data of {folder}, beside {}.\nPublish before the run, so that others can check \
         {later} later: {commitment}\nNext:  dpscope generator run {folder} --command \
         '… {{data}} {{rows}} {{seed}} {{out}}'\n",
        counted(real, "real row"),
    )
}

fn check(args: &RowsArgs, fresh: Option<FreshCanaries>) -> Result<(), Failure> {
    if fresh.is_some_and(|fresh| !fresh.is_possible()) {
        return Err(Failure::input(
            "--poisson must be above 0 and at most 10000, and --null-draws at least 100 times as many and \
             at most 10000000",
        ));
    }
    if args.count.is_some_and(|count| !(5..=MOST).contains(&count)) {
        return Err(Failure::input(format!("--count must lie between 5 and {MOST}")));
    }
    if let (Some(mean), Some(count)) = (args.poisson, args.count)
        && !(mean > 0.0 && mean <= count as f64)
    {
        return Err(Failure::input(
            "--poisson must be above 0 and at most --count: make a larger pool, or expect fewer canaries",
        ));
    }
    check_new(&args.out, &[MANIFEST])
}

fn plan(args: &RowsArgs, canaries: u64, canaries_digest: String) -> OneRunPlan {
    OneRunPlan {
        schema: OneRunPlan::SCHEMA.to_owned(),
        game: args.poisson.map_or(PlannedGame::Coins, PlannedGame::Poisson),
        adjacency: Adjacency::AddRemove,
        canaries,
        canaries_digest,
        rule: PlannedRule::Walk,
        deltas: vec![args.statement.delta],
        significance: args.statement.significance(),
        direction: ScoreDirection::Higher,
        runs: 1,
    }
}

/// Different rows, uniform on the public domain without the rows of the data: a canary whose coin is 0
/// must be absent.
fn drawn(schema: &Schema, data: &Rows, count: u64, seed: u64) -> Result<Rows, Failure> {
    let key = |row: &[f64]| row.iter().map(|value| value.to_bits()).collect::<Vec<u64>>();
    let mut seen: std::collections::HashSet<Vec<u64>> = data.iter().map(key).collect();
    let mut words = Words::new(seed, Purpose::GeneratorCanaries, 0);
    let mut rows = Rows { columns: data.columns, values: Vec::new() };
    let mut misses = 0_u64;
    while (rows.len() as u64) < count {
        let row = uniform_row(schema, &mut words);
        if seen.insert(key(&row)) {
            rows.values.extend(row);
        } else {
            misses += 1;
        }
        if misses > 20 * count + 1_000 {
            return Err(Failure::input(format!(
                "--count {count}: the public domain has too few rows that the data lack; use fewer \
                 canaries, or audit many runs with `dpscope plan generator`"
            )));
        }
    }
    Ok(rows)
}

/// Their order says nothing about the coins.
fn shuffle(data: &mut Rows, seed: u64) {
    let mut order: Vec<usize> = (0..data.len()).collect();
    Words::new(seed, Purpose::GeneratorCanaries, 1).shuffle(&mut order);
    let columns = data.columns;
    let rows = order.iter().flat_map(|at| &data.values[at * columns..(at + 1) * columns]);
    data.values = rows.copied().collect();
}

/// As csv and as an array, whose digest is committed.
fn write_canaries(folder: &Path, schema: &Schema, canaries: &Rows) -> Result<String, Failure> {
    write_text(&folder.join(CANARIES), &write_table(schema, canaries))?;
    let array = Array::new(vec![canaries.len(), canaries.columns], canaries.values.clone())?;
    let path = folder.join(CANARY_ARRAY);
    write_atomically(&path, &write_npy(&array)).map_err(|error| cannot_write(&path, &error))?;
    digest_of_file(&path)
}
