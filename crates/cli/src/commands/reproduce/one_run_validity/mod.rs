//! `dpscope reproduce one-run-validity`: how often the bounds of one-run audits exceed the truth.

pub(super) mod canaries;
mod procedures;
mod training;
pub(super) mod without_coverage;

use dpscope_core::accounting::Kind;
use dpscope_core::format::rounded;
use dpscope_core::interval::{clopper_pearson_lower, clopper_pearson_upper};
use dpscope_report::number::plain;
use rayon::prelude::*;
use serde_json::{Value, json};

use super::ReproduceArgs;
use super::names::{Table, written};
use super::page::Reproduced;
use crate::failure::{Exit, Failure};
use crate::host;
use crate::progress::{RowProgress, keep_going};
use procedures::{BoundedQuantity, Bounds, Procedure, procedures};
use training::{Simulation, trainings};

const SIGNIFICANCE: f64 = 0.05;

const DEFAULT_CANARIES: u64 = 1_000;
const DEFAULT_RUNS: u64 = 1_000;
const DEFAULT_DELTA: f64 = 1e-5;

/// Steps of the progress in the runs of a setting.
const PARTS: u64 = 20;

pub(super) fn run(args: &ReproduceArgs, seed: u64) -> Result<Reproduced, Failure> {
    let range = (100, 100_000);
    let canaries =
        ReproduceArgs::in_range("--canaries", args.canaries, DEFAULT_CANARIES, range, "")?;
    let runs = ReproduceArgs::in_range("--runs", args.runs, DEFAULT_RUNS, (1, 1_000_000), "")?;
    let delta = args.delta.unwrap_or(DEFAULT_DELTA);
    let pool = host::pool(args.threads())?;
    let (trainings, procedures) = (trainings()?, procedures()?);
    let cells = (trainings.len() * procedures.len()) as f64;
    let progress =
        RowProgress::new(args.show.quiet, trainings.len() * PARTS as usize).with_estimate();
    let mut tables = Vec::with_capacity(trainings.len());
    for training in trainings.iter().zip(0..) {
        let simulation = Simulation::new(training, canaries, delta);
        let drawn = pool.install(|| bounds(&procedures, &simulation, runs, seed, &progress))?;
        tables.push(table(&simulation, &procedures, &drawn, cells).map_err(internal)?);
    }
    drop(progress);
    let facts = json!({
        "canaries": canaries, "runs": runs, "significance": SIGNIFICANCE,
        "findings_significance": SIGNIFICANCE, "procedures": procedures,
        "shares": tables.iter().map(sentence).collect::<Vec<_>>().join(" "),
    });
    let findings = procedures.iter().map(|procedure| finding(&tables, procedure));
    let about = procedures.iter().map(|Procedure { name, description, source, .. }| {
        ("procedure".to_owned(), format!("{name}: {description}; {source}"))
    });
    let notes = vec![("findings", findings.collect()), ("procedures", about.collect())];
    let page = include_str!("../../../../papers/one_run/page.toml");
    Ok(Reproduced::new(page, facts, tables, notes))
}

fn internal(error: anyhow::Error) -> Failure {
    Failure::with(Exit::Internal, format!("{error:#}"))
}

/// The bounds of all procedures in all runs of a training.
fn bounds(
    procedures: &[Procedure],
    simulation: &Simulation<'_>,
    runs: u64,
    seed: u64,
    progress: &RowProgress,
) -> Result<Vec<Vec<f64>>, Failure> {
    let procedures = Bounds::new(procedures, simulation, SIGNIFICANCE).map_err(internal)?;
    let mut drawn = Vec::with_capacity(runs as usize);
    let keep_going = keep_going();
    for part in 0..PARTS {
        progress.next(&simulation.training.name);
        let of_part = runs * part / PARTS..runs * (part + 1) / PARTS;
        let bounds = |run| match keep_going() {
            true => procedures.of(&simulation.draw(seed, run)).map_err(internal),
            false => Err(Failure::interrupted()),
        };
        let found: Result<Vec<Vec<f64>>, Failure> = of_part.into_par_iter().map(bounds).collect();
        drawn.append(&mut found?);
    }
    Ok(drawn)
}

/// The results of the procedures that apply to a training; all findings of `cells` results hold together.
fn table(
    simulation: &Simulation<'_>,
    procedures: &[Procedure],
    drawn: &[Vec<f64>],
    cells: f64,
) -> Result<Table, anyhow::Error> {
    let (epsilon, gdp_mu) = (simulation.epsilon()?, simulation.gdp_mu()?);
    let training = simulation.training;
    let mut rows = Vec::with_capacity(procedures.len());
    for (place, Procedure { id, name, quantity, .. }) in procedures.iter().enumerate() {
        let (symbol, truth) = match quantity {
            BoundedQuantity::Epsilon => ("ε", Some(epsilon)),
            BoundedQuantity::GdpMu => ("μ", gdp_mu),
        };
        let Some(truth) = truth else { continue };
        let bounds = drawn.iter().map(|bounds| bounds[place]).collect();
        let mut row = json!({
            "training": training.id, "procedure": id, "name": name, "quantity": quantity,
            "quantity_text": symbol, "truth": truth, "delta": simulation.delta,
            "guesses": simulation.guesses(),
        });
        add_coverage(&mut row, truth, bounds, cells)?;
        rows.push(row);
    }
    let gdp = match gdp_mu {
        Some(mu) => format!("μ = {}", plain(mu, Kind::Estimate, 2)),
        None => "no μ".to_owned(),
    };
    let guesses = simulation.guesses().to_string();
    let facts = json!({
        "name": training.name, "description": training.description.replace("{guesses}", &guesses),
        "epsilon": epsilon, "delta": simulation.delta, "gdp": gdp,
        "guesses": simulation.guesses(),
    });
    Ok(Table { facts, ..Table::new("results", rows) })
}

/// Adds how often bounds are above the truth, with the exact 95 % interval of that share, and whether that
/// shows a chance above the nominal one.
fn add_coverage(
    row: &mut Value,
    truth: f64,
    mut bounds: Vec<f64>,
    cells: f64,
) -> Result<(), anyhow::Error> {
    bounds.sort_unstable_by(f64::total_cmp);
    let runs = bounds.len() as u64;
    let runs_above = runs - bounds.partition_point(|&bound| bound <= truth) as u64;
    let interval = |tail: f64| {
        let lower = clopper_pearson_lower(runs_above, runs, tail)?;
        Ok::<_, anyhow::Error>([lower, clopper_pearson_upper(runs_above, runs, tail)?])
    };
    let [least, most] = interval(0.5 * SIGNIFICANCE / cells)?;
    let nominal = written(SIGNIFICANCE, "%");
    let (coverage, words) = if least > SIGNIFICANCE {
        ("exceeded", format!("above {nominal}"))
    } else if most <= SIGNIFICANCE {
        ("held", format!("at most {nominal}"))
    } else {
        ("undecided", "undecided".to_owned())
    };
    let [low, high] = interval(0.025)?;
    let ends = [(1e3 * low).floor(), (1e3 * high).ceil()].map(|end| rounded(end / 10.0, 1));
    row["median"] = json!(bounds[bounds.len() / 2]);
    row["runs_above"] = json!(runs_above);
    row["share"] = json!(runs_above as f64 / runs as f64);
    row["share_interval"] = json!([low, high]);
    row["share_interval_text"] = format!("[{}]", ends.join(", ")).into();
    row["coverage"] = coverage.into();
    row["coverage_text"] = words.into();
    row["is_exceeded"] = (coverage == "exceeded").into();
    Ok(())
}

fn share(row: &Value) -> f64 {
    row["share"].as_f64().unwrap_or(f64::NAN)
}

/// The shares of a training, for readers who do not see the drawing.
fn sentence(table: &Table) -> String {
    let shares = table.rows.iter().map(|row| {
        format!("{} {:.1} %", row["name"].as_str().unwrap_or_default(), 100.0 * share(row))
    });
    let name = table.facts["name"].as_str().unwrap_or_default();
    format!("{name}: {}.", shares.collect::<Vec<_>>().join(", "))
}

/// What the runs show of a procedure, in a label and a sentence.
fn finding(tables: &[Table], procedure: &Procedure) -> (String, String) {
    let Procedure { id, name, proven_for, assumes_independence, .. } = procedure;
    let id = json!(id);
    let results = || {
        tables.iter().flat_map(|table| {
            let rows = table.rows.iter().filter(|row| row["procedure"] == id);
            rows.map(|row| (&table.facts["name"], row))
        })
    };
    let with =
        |coverage: &'static str| results().filter(move |(_, row)| row["coverage"] == coverage);
    let named = |(training, row): (&Value, &Value)| {
        format!("{} ({})", training.as_str().unwrap_or_default(), written(share(row), "%"))
    };
    let exceeded: Vec<String> = with("exceeded").map(named).collect();
    if !exceeded.is_empty() {
        let scope = proven_for.as_ref().map_or(String::new(), |trainings| {
            format!("; coverage is proven only for {trainings}")
        });
        let found = format!("{name}: above the truth in {}{scope}", exceeded.join(", "));
        return ("no coverage".to_owned(), found);
    }
    let (all, held) = (results().count(), with("held").count());
    let largest = results()
        .max_by_key(|(_, row)| row["runs_above"].as_u64())
        .filter(|(_, row)| row["runs_above"] != 0)
        .map_or("no bound above the truth".to_owned(), |found| {
            format!("largest share: {}", named(found))
        });
    let shown = format!(
        "at most {} in {held} of {all} trainings, undecided in {}; {largest}",
        written(SIGNIFICANCE, "%"),
        all - held
    );
    let (label, found) = match proven_for {
        Some(trainings) if *assumes_independence => {
            ("undecided", format!("coverage is proven only for {trainings}; {shown}"))
        }
        Some(trainings) => ("coverage", format!("proven for {trainings}; {shown}")),
        None => ("undecided", format!("not proven; {shown}")),
    };
    (label.to_owned(), format!("{name}: {found}"))
}
