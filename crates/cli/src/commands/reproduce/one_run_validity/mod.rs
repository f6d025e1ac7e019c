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
use serde::Serialize;
use serde_json::{Value, json};

use super::ReproduceArgs;
use super::names::{Table, written};
use super::reproduced::Reproduced;
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

/// A simulated training and the results of the procedures that apply.
struct Setting<'a> {
    simulation: Simulation<'a>,
    epsilon: f64,
    gdp_mu: Option<f64>,
    results: Vec<ValidityResult<'a>>,
}

/// A procedure on a simulated training.
struct ValidityResult<'a> {
    procedure: &'a Procedure,
    /// ε or μ of the training.
    truth: f64,
    median: f64,
    runs_above: u64,
    share: f64,
    /// Exact 95 % interval of that share.
    interval: [f64; 2],
    coverage: Coverage,
}

/// What simulated audits show of the chance that a bound exceeds the truth.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Coverage {
    /// It is above the nominal one.
    Exceeded,
    /// The runs do not decide.
    Undecided,
    /// It is at most the nominal one.
    Held,
}

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
    let mut settings = Vec::with_capacity(trainings.len());
    for training in trainings.iter().zip(0..) {
        let simulation = Simulation::new(training, canaries, delta);
        let drawn = pool.install(|| bounds(&procedures, &simulation, runs, seed, &progress))?;
        settings.push(Setting::new(simulation, &procedures, &drawn, cells).map_err(internal)?);
    }
    drop(progress);
    let facts = json!({
        "canaries": canaries, "runs": runs, "significance": SIGNIFICANCE,
        "findings_significance": SIGNIFICANCE, "procedures": procedures,
        "shares": settings.iter().map(Setting::sentence).collect::<Vec<_>>().join(" "),
    });
    let findings = procedures.iter().map(|procedure| finding(&settings, procedure));
    let about = procedures.iter().map(|Procedure { name, description, source, .. }| {
        ("procedure".to_owned(), format!("{name}: {description}; {source}"))
    });
    let notes = vec![("findings", findings.collect()), ("procedures", about.collect())];
    let tables = settings.iter().map(Setting::table).collect();
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

impl<'a> Setting<'a> {
    /// Results of a setting; all findings of `cells` results hold together.
    fn new(
        simulation: Simulation<'a>,
        procedures: &'a [Procedure],
        drawn: &[Vec<f64>],
        cells: f64,
    ) -> Result<Self, anyhow::Error> {
        let (epsilon, gdp_mu) = (simulation.epsilon()?, simulation.gdp_mu()?);
        let mut results = Vec::with_capacity(procedures.len());
        for (place, procedure) in procedures.iter().enumerate() {
            let truth = match procedure.quantity {
                BoundedQuantity::Epsilon => Some(epsilon),
                BoundedQuantity::GdpMu => gdp_mu,
            };
            let Some(truth) = truth else { continue };
            let bounds = drawn.iter().map(|bounds| bounds[place]).collect();
            results.push(ValidityResult::new(procedure, truth, bounds, cells)?);
        }
        Ok(Self { simulation, epsilon, gdp_mu, results })
    }

    /// Its shares, for readers who do not see the drawing.
    fn sentence(&self) -> String {
        let shares = self
            .results
            .iter()
            .map(|result| format!("{} {:.1} %", result.procedure.name, 100.0 * result.share));
        let name = &self.simulation.training.name;
        format!("{name}: {}.", shares.collect::<Vec<_>>().join(", "))
    }

    fn table(&self) -> Table {
        let Self { simulation, epsilon, gdp_mu, results } = self;
        let gdp = match gdp_mu {
            Some(mu) => format!("μ = {}", plain(*mu, Kind::Estimate, 2)),
            None => "no μ".to_owned(),
        };
        let training = simulation.training;
        let facts = json!({
            "name": training.name, "description": simulation.description(), "epsilon": epsilon,
            "delta": simulation.delta, "gdp": gdp, "guesses": simulation.guesses(),
        });
        let rows = results.iter().map(|result| result.row(simulation));
        Table { facts, ..Table::new("results", rows) }
    }
}

impl<'a> ValidityResult<'a> {
    fn new(
        procedure: &'a Procedure,
        truth: f64,
        mut bounds: Vec<f64>,
        cells: f64,
    ) -> Result<Self, anyhow::Error> {
        bounds.sort_unstable_by(f64::total_cmp);
        let runs = bounds.len() as u64;
        let runs_above = runs - bounds.partition_point(|&bound| bound <= truth) as u64;
        let interval = |tail: f64| {
            let lower = clopper_pearson_lower(runs_above, runs, tail)?;
            Ok::<_, anyhow::Error>([lower, clopper_pearson_upper(runs_above, runs, tail)?])
        };
        let [least, most] = interval(0.5 * SIGNIFICANCE / cells)?;
        let coverage = if least > SIGNIFICANCE {
            Coverage::Exceeded
        } else if most <= SIGNIFICANCE {
            Coverage::Held
        } else {
            Coverage::Undecided
        };
        Ok(Self {
            procedure,
            truth,
            median: bounds[bounds.len() / 2],
            runs_above,
            share: runs_above as f64 / runs as f64,
            interval: interval(0.025)?,
            coverage,
        })
    }

    fn row(&self, simulation: &Simulation<'_>) -> Value {
        let Procedure { id, name, quantity, .. } = self.procedure;
        let [low, high] = self.interval;
        let interval = format!(
            "[{}, {}]",
            rounded((1e3 * low).floor() / 10.0, 1),
            rounded((1e3 * high).ceil() / 10.0, 1)
        );
        let nominal = written(SIGNIFICANCE, "%");
        let coverage = match self.coverage {
            Coverage::Exceeded => format!("above {nominal}"),
            Coverage::Undecided => "undecided".to_owned(),
            Coverage::Held => format!("at most {nominal}"),
        };
        json!({
            "training": simulation.training.id, "procedure": id, "name": name, "quantity": quantity,
            "quantity_text": if *quantity == BoundedQuantity::Epsilon { "ε" } else { "μ" },
            "truth": self.truth, "median": self.median, "runs_above": self.runs_above,
            "share": self.share, "share_interval": self.interval, "share_interval_text": interval,
            "coverage": self.coverage, "coverage_text": coverage,
            "is_exceeded": self.coverage == Coverage::Exceeded, "delta": simulation.delta,
            "guesses": simulation.guesses(),
        })
    }
}

/// What the runs show of a procedure, in a label and a sentence.
fn finding(settings: &[Setting<'_>], procedure: &Procedure) -> (String, String) {
    let Procedure { id, name, proven_for, assumes_independence, .. } = procedure;
    let results = || {
        settings.iter().flat_map(|setting| {
            let results = setting.results.iter().filter(|result| result.procedure.id == *id);
            results.map(|result| (&setting.simulation.training.name, result))
        })
    };
    let with = |coverage| results().filter(move |(_, result)| result.coverage == coverage);
    let named = |(training, result): (&String, &ValidityResult<'_>)| {
        format!("{training} ({})", written(result.share, "%"))
    };
    let exceeded: Vec<String> = with(Coverage::Exceeded).map(named).collect();
    if !exceeded.is_empty() {
        let scope = proven_for.as_ref().map_or(String::new(), |trainings| {
            format!("; coverage is proven only for {trainings}")
        });
        let found = format!("{name}: above the truth in {}{scope}", exceeded.join(", "));
        return ("no coverage".to_owned(), found);
    }
    let (all, held) = (results().count(), with(Coverage::Held).count());
    let largest = results()
        .max_by_key(|(_, result)| result.runs_above)
        .filter(|(_, result)| result.runs_above > 0)
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
