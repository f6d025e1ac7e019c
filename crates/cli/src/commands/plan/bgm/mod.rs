//! `dpscope plan bgm`: how many observations an audit of the batched Gaussian mechanism needs.

mod args;
mod planned_audit;

pub(crate) use args::BgmPlanArgs;

use dpscope_core::accounting::{Accountant, Deterministic, Given, Kind, Query, account};
use dpscope_core::adjacency::Adjacency;
use dpscope_core::audit::bound::{PredictedErrors, ThresholdRule, epsilon_from_rates};
use dpscope_core::audit::planner::PlannedAudit;
use dpscope_core::format::given;
use dpscope_core::interval::clopper_pearson_upper;
use dpscope_report::number::{self, confidence, grouped, plain};
use dpscope_report::record::{PlanReport, PlanTarget, PredictedRow};
use dpscope_simulation::backend::CpuBackend;
use dpscope_simulation::{Pilot, Plan};

use crate::failure::{CommandResult, Exit, Failure};
use crate::output::{print_json, print_text};
use crate::seed::seed_or_fresh;

/// Largest number of observations in a prediction.
const MAX_OBSERVATIONS: u64 = 10_000_000_000;

pub(crate) fn run(args: &BgmPlanArgs) -> CommandResult {
    if args.epsilon.is_none() && args.observations.is_none() && args.noise_multiplier.is_none() {
        return Err(Failure::input(
            "nothing to plan: pass --epsilon, --observations, or --noise-multiplier and --steps",
        ));
    }
    let rule: ThresholdRule = args.threshold_rule.into();
    let (delta, significance) = (args.statement.delta, args.statement.significance());
    let audit =
        PlannedAudit { delta, significance, threshold_rule: rule, cuts: Plan::DEFAULT_CUTS };
    let tail = audit.tail_per_rate();
    let simulated = simulated(args, rule)?;
    let row = |observations: u64| -> Result<PredictedRow, Failure> {
        let per_world = audit.evaluated_per_world(observations);
        let predicted =
            simulated.as_ref().map(|found| predict(&found.pilot, per_world, delta, tail));
        Ok(PredictedRow {
            observations,
            ceiling: audit.ceiling(observations)?,
            predicted_epsilon: predicted.transpose()?,
        })
    };
    let target = match args.epsilon {
        None => None,
        Some(epsilon) => {
            let needed = audit.observations_for_ceiling(epsilon)?;
            let reaches = |n: u64| Ok::<_, Failure>(row(n)?.predicted_epsilon >= Some(epsilon));
            let proven_maximum = simulated.as_ref().and_then(|found| found.maximum);
            let is_impossible = proven_maximum.is_some_and(|maximum| epsilon > maximum);
            let is_predicted = simulated.is_some() && !is_impossible;
            Some(PlanTarget {
                epsilon,
                observations_for_ceiling: needed,
                observations_predicted: if is_predicted { fewest(reaches)? } else { None },
                proven_maximum,
                is_impossible,
            })
        }
    };
    let sizes: Vec<u64> = match args.observations {
        Some(n) if n >= 2 && n % 2 == 0 => vec![n],
        Some(n) => {
            return Err(Failure::input(format!(
                "--observations is {n}; it must be even and at least 2"
            )));
        }
        None => PlannedAudit::SIZES.to_vec(),
    };
    let rows: Result<Vec<PredictedRow>, Failure> = sizes.into_iter().map(row).collect();
    let audit_arguments = planned_audit::arguments(args, target.as_ref());
    let report = PlanReport {
        schema: "dpscope.plan/1",
        delta,
        significance,
        threshold_rule: rule,
        cuts: audit.cuts(),
        tail_per_rate: tail,
        target,
        rows: rows?,
        seed: simulated.map(|found| found.seed.to_string()),
        audit: audit_arguments,
    };
    if args.json {
        print_json(&report)?;
    } else {
        print_text(&to_text(&report))?;
    }
    Ok(Exit::Done)
}

/// A small simulation of the mechanism.
struct Simulated {
    pilot: Pilot,
    seed: u64,
    /// Proven of the mechanism: no number of observations shows more.
    maximum: Option<f64>,
}

fn simulated(args: &BgmPlanArgs, rule: ThresholdRule) -> Result<Option<Simulated>, Failure> {
    let Some(noise_multiplier) = args.noise_multiplier else {
        return match args.length.is_given() {
            true => Err(Failure::input(
                "--noise-multiplier is missing; the length of a run is used together with it",
            )),
            false => Ok(None),
        };
    };
    let (seed, _) = seed_or_fresh(args.seed)?;
    let plan = Plan {
        mechanism: args.sampler.mechanism(noise_multiplier, &args.length)?,
        observations: 1 << 22, // for the largest pilot
        delta: args.statement.delta,
        significance: args.statement.significance(),
        threshold_rule: rule,
        cuts: Plan::DEFAULT_CUTS,
        seed,
        training: None,
    };
    // Pilots are always drawn on the CPU.
    let pilot = Pilot::draw(&plan.validated()?, &CpuBackend::new(0)?, &|| true)?;
    Ok(Some(Simulated { pilot, seed, maximum: proven_maximum(&plan) }))
}

/// A proven upper bound on ε of a mechanism.
///
/// Deterministic batches leak at least as much as every order of the records.
fn proven_maximum(plan: &Plan) -> Option<f64> {
    let query = Query::upper((&plan.mechanism).into(), Given::Delta(plan.delta));
    let bound = account(plan.mechanism.sampler, Adjacency::ZeroOut, &query);
    bound.unwrap_or_else(|| Deterministic.account(&query)).ok().map(|bound| bound.epsilon)
}

/// Fewest pilot scores beyond a cut, in both worlds together, for its rates to be used.
///
/// The largest of many rates from single scores would predict more than the mechanism leaks.
const FEWEST_BEYOND: f64 = 30.0;

/// The largest predicted value over all cuts with enough pilot scores.
fn predict(pilot: &Pilot, per_world: u64, delta: f64, tail: f64) -> Result<f64, Failure> {
    let mut best = 0.0_f64;
    // Neighbouring bins predict nearly the same.
    let least = FEWEST_BEYOND / pilot.observations as f64;
    let known = |p: &&PredictedErrors| {
        let (above, below) = (1.0 - p.fnr + p.fpr, p.fnr + 1.0 - p.fpr);
        above >= least && below >= least
    };
    for p in pilot.predicted.iter().step_by(8).filter(known) {
        let upper = |rate: f64| {
            let events = (rate * per_world as f64).round() as u64;
            clopper_pearson_upper(events.min(per_world), per_world, tail)
        };
        let [fpr, fnr] = [p.fpr, p.fnr].map(upper);
        let (fpr, fnr) = (fpr.map_err(Failure::input)?, fnr.map_err(Failure::input)?);
        best = best.max(epsilon_from_rates(fpr, fnr, delta).epsilon);
    }
    Ok(best)
}

/// The fewest observations, to 5 %, that satisfy `reaches`.
fn fewest(reaches: impl Fn(u64) -> Result<bool, Failure>) -> Result<Option<u64>, Failure> {
    if !reaches(MAX_OBSERVATIONS)? {
        return Ok(None);
    }
    let (mut low, mut high) = (1_u64, MAX_OBSERVATIONS);
    while high as f64 > low as f64 * 1.05 {
        let middle = (low as f64 * high as f64).sqrt() as u64;
        if middle <= low || middle >= high {
            break;
        }
        if reaches(middle)? { high = middle } else { low = middle }
    }
    Ok(Some(high + high % 2))
}

fn to_text(report: &PlanReport) -> String {
    let PlanReport { delta, cuts, .. } = report;
    let coverage = match report.threshold_rule {
        ThresholdRule::MaxUncorrected => "without coverage: an estimate".to_owned(),
        _ => format!("{} confidence", confidence(report.significance)),
    };
    let cuts = match cuts {
        1 => "one threshold".to_owned(),
        _ => format!("{cuts} thresholds that share the significance"),
    };
    let mut out = format!("At δ = {}, {coverage}, {cuts}:\n\n", number::delta(*delta));
    if let Some(target) = report.target.as_ref().filter(|target| target.is_impossible) {
        let maximum = plain(target.proven_maximum.unwrap_or(0.0), Kind::Upper, 2);
        out.push_str(&format!(
            "  ε = {} is impossible: this mechanism leaks at most {maximum} (proven), and no bound that \
             holds exceeds that.\n\n",
            given(target.epsilon)
        ));
    } else if let Some(target) = &report.target {
        let least = grouped(target.observations_for_ceiling);
        out.push_str(&format!(
            "  ε = {} needs at least {least} observations if the attack makes no errors,\n",
            given(target.epsilon),
        ));
        let about = target.observations_predicted.map(|n| format!("about {}", grouped(n)));
        let about = about.unwrap_or_else(|| "more than 10^10".to_owned());
        out.push_str(&match report.seed {
            Some(_) => format!("  and {about} for this mechanism (estimate).\n\n"),
            None => "  and more for a real mechanism (pass --noise-multiplier and --steps for a prediction).\n\n".to_owned(),
        });
    }
    let predicts = report.seed.is_some();
    let heading = if predicts { "  predicted (estimate)" } else { "" };
    out.push_str(&format!("  {:>16}  {:>8}{heading}\n", "observations", "ceiling"));
    for row in &report.rows {
        out.push_str(&format!("  {:>16}  {:>8.3}", grouped(row.observations), row.ceiling));
        if let Some(epsilon) = row.predicted_epsilon {
            out.push_str(&format!("  {epsilon:>20.3}"));
        }
        out.push('\n');
    }
    if let Some(seed) = &report.seed {
        out.push_str(&format!("\nseed {seed}\n"));
    }
    out
}
