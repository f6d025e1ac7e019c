//! `dpscope canaries rows`: canary rows for one run of a generator of synthetic rows.

mod args;

pub(crate) use args::RowsArgs;

use dpscope_core::adjacency::{Adjacency, World};
use dpscope_core::random::{Purpose, Words};
use dpscope_formats::table::{ColumnKind, Rows, Schema, write_table};
use dpscope_formats::{Array, write_npy};
use dpscope_report::number::counted;
use dpscope_report::record::{OneRunPlan, PlannedGame, PlannedRule, ScoreDirection};
use dpscope_synth::generator::{BoundsSource, Duplicates, Game, Manifest};

use crate::canary_plan::{self, digest_of_file};
use crate::failure::{CommandResult, Exit, Failure};
use crate::files::{cannot_write, write_atomically, write_text};
use crate::generator_folder::{
    CANARIES, DATA, MANIFEST, data_file, read_columns, read_rows, write_manifest,
};
use crate::output::print_text;
use crate::seed::seed_or_fresh;
use crate::shell::quoted_path;

/// Most canaries; their coins and rows are held in memory.
const MOST: u64 = 1_000_000;

pub(crate) fn run(args: &RowsArgs) -> CommandResult {
    let folder = args.out.as_path();
    check(args)?;
    let (seed, _) = seed_or_fresh(None)?;
    let manifest = Manifest {
        format: Manifest::format(),
        game: if args.poisson.is_some() { Game::Poisson } else { Game::Coins },
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
        columns: read_columns(&args.columns)?,
    };
    let schema = manifest.schema()?;
    let mut data = read_rows(&args.data, &schema)?;
    let canaries = drawn(&schema, &data, args.count, seed)?;
    let path = folder.join(DATA);
    std::fs::create_dir_all(&path).map_err(|error| cannot_write(&path, &error))?;
    let digest = write_canaries(args, &schema, &canaries)?;
    let commitment = canary_plan::commit(folder, &plan(args, digest))?;
    let committed = canary_plan::open(folder, None)?;
    let copies = match args.poisson {
        Some(mean) => committed.copies(mean),
        None => committed.coins().concat().into_iter().map(u8::from).collect(),
    };
    let real = data.len();
    for (row, copies) in canaries.iter().zip(&copies) {
        (0..*copies).for_each(|_| data.values.extend(row));
    }
    shuffle(&mut data, seed);
    write_text(&data_file(folder, World::Target), &write_table(&schema, &data))?;
    write_manifest(&manifest, folder)?;
    let folder_name = quoted_path(folder);
    print_text(&format!(
        "{} of {} are in the data of {folder_name}, beside {}.\nPublish before the run, so that others can \
         check the coins later: {commitment}\nNext:  dpscope generator run {folder_name} --command \
         '… {{data}} {{seed}} {{out}}'\n",
        copies.iter().map(|&copies| u64::from(copies)).sum::<u64>(),
        counted(args.count, "canary").replace("canarys", "canaries"),
        counted(real as u64, "real row"),
    ))?;
    Ok(Exit::Done)
}

fn check(args: &RowsArgs) -> Result<(), Failure> {
    if !(5..=MOST).contains(&args.count) {
        return Err(Failure::input(format!("--count must lie between 5 and {MOST}")));
    }
    if let Some(mean) = args.poisson
        && !(mean > 0.0 && mean <= args.count as f64)
    {
        return Err(Failure::input(
            "--poisson must be above 0 and at most --count: make a larger pool, or expect fewer canaries",
        ));
    }
    let manifest = args.out.join(MANIFEST);
    match manifest.exists() {
        true => Err(Failure::input("exists: a plan is never overwritten; choose another folder")
            .about(&manifest)),
        false => Ok(()),
    }
}

fn plan(args: &RowsArgs, canaries_digest: String) -> OneRunPlan {
    OneRunPlan {
        schema: OneRunPlan::SCHEMA.to_owned(),
        game: args.poisson.map_or(PlannedGame::Coins, PlannedGame::Poisson),
        adjacency: Adjacency::AddRemove,
        canaries: args.count,
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
        let columns = schema.columns().iter();
        let row: Vec<f64> = columns.map(|column| draw(&column.kind, &mut words)).collect();
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

fn draw(kind: &ColumnKind, words: &mut Words) -> f64 {
    match kind {
        ColumnKind::Number { low, high } => {
            let share = words.uniform();
            (low * (1.0 - share) + high * share).clamp(*low, *high)
        }
        ColumnKind::Integer { low, high } => {
            let values = i64::from(*high) - i64::from(*low) + 1;
            let drawn = match u32::try_from(values) {
                Ok(values) => words.below(values),
                Err(_) => words.next_word(), // all of 2³²
            };
            (i64::from(*low) + i64::from(drawn)) as f64
        }
        ColumnKind::Category { names } => f64::from(words.below(names.len() as u32)),
    }
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
fn write_canaries(args: &RowsArgs, schema: &Schema, canaries: &Rows) -> Result<String, Failure> {
    let folder = args.out.as_path();
    write_text(&folder.join(CANARIES), &write_table(schema, canaries))?;
    let array = Array::new(vec![canaries.len(), canaries.columns], canaries.values.clone())?;
    let path = folder.join("canaries.npy");
    write_atomically(&path, &write_npy(&array)).map_err(|error| cannot_write(&path, &error))?;
    digest_of_file(&path)
}
