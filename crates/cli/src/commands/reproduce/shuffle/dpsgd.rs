//! Experiments with DP-SGD, setting by setting.

use std::collections::BTreeSet;

use dpscope_core::audit::bound::{ThresholdRule, ceiling};
use dpscope_core::mechanism::{BatchedGaussian, SamplerKind, ThreatModel};
use dpscope_engine::Workload;
use dpscope_report::number::grouped;
use dpscope_simulation::{Plan, TrainingState};
use serde::Deserialize;
use serde_json::{Value, json};

use super::comparison::{OurResult, Reasons, estimate};
use super::{DELTA, SIGNIFICANCE};
use crate::commands::audit::dpsgd::{built_in, calibrated_noise, name_runs};
use crate::commands::reproduce::names::Table;
use crate::commands::reproduce::reproduced::Reproduced;
use crate::commands::reproduce::{ReproduceArgs, data};
use crate::commands::simulate::{count_whole, count_whole_of, idealised_counts};
use crate::device::backend;
use crate::failure::{Exit, Failure};
use crate::job::float_mode;
use crate::output::print_note;
use crate::progress::{is_drawn, is_interrupted};

/// Records of the one epoch.
const RECORDS: u32 = 10_000;

/// Models or observations per setting in the paper.
const PUBLISHED_RUNS: u64 = 1_000_000;

/// A setting of an experiment.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Experiment {
    experiment: String,
    name: String,
    /// None if no model is trained.
    model: Option<String>,
    sampler: SamplerKind,
    buffer_examples: Option<u64>,
    threat_model: ThreatModel,
    batch_size: u32,
    /// "fixed" if all runs share one canary gradient.
    canary: String,
    poisson_epsilon: f64,
    /// None if calibrated to the claim.
    noise_multiplier: Option<f64>,
    /// A number, or "below" the claim without one.
    published: String,
    times_full_shuffle: Option<f64>,
}

fn experiments(what: &str) -> Result<Vec<Experiment>, Failure> {
    let text = include_str!("../../../../papers/shuffle_or_not/dp_sgd.csv");
    let mut all: Vec<Experiment> = data::csv(text)?;
    all.retain(|one| one.experiment == what);
    Ok(all)
}

/// A finished setting.
struct Audited<'a> {
    experiment: &'a Experiment,
    plan: Plan,
    ours: OurResult,
    /// The estimate for the batched Gaussian mechanism at the same number of observations; none if
    /// that takes long or no model is trained.
    idealised: Option<f64>,
    ceiling: f64,
    training: Option<TrainingState>,
    device: String,
}

pub(in crate::commands::reproduce) fn run(
    args: &ReproduceArgs,
    seed: u64,
) -> Result<Reproduced, Failure> {
    let experiments = experiments(&args.what.name())?;
    let mut audited: Vec<Audited<'_>> = Vec::with_capacity(experiments.len());
    for experiment in &experiments {
        if is_drawn(args.show.quiet) {
            print_note(&format!("{}, ε = {}", experiment.name, experiment.poisson_epsilon));
        }
        let runs = args.runs.unwrap_or(default_runs(&experiments, experiment));
        let Some(one) = Audited::new(experiment, plan(experiment, runs, seed)?, args)? else {
            break;
        };
        audited.push(one);
    }
    let (done, settings) = (audited.len(), experiments.len());
    let Some(last) = audited.last() else { return Err(Failure::interrupted()) };
    let reasons = Reasons::read()?;
    let used: Vec<&str> = audited.iter().filter_map(Audited::reason).collect();
    let rows = audited.iter().map(|one| one.row(&audited, &reasons));
    let has_times = |one: &Experiment| one.times_full_shuffle.is_some();
    let facts = json!({
        "delta": DELTA, "significance": SIGNIFICANCE, "published_runs": PUBLISHED_RUNS,
        "cuts": Plan::DEFAULT_CUTS, "device": last.device, "settings": settings,
        "ceiling": audited[0].ceiling, "batch_sizes": batch_sizes(&audited),
        "is_trained": audited.iter().any(|one| one.experiment.model.is_some()),
        "has_times": audited.iter().any(|one| has_times(one.experiment)),
        "beyond_ceiling": beyond_ceiling(&audited),
    });
    let page = include_str!("../../../../papers/shuffle_or_not/trainings.toml");
    let notes = vec![("reasons", reasons.notes(&used))];
    let message =
        || format!("interrupted: {done} of {settings} settings; reduce --runs for a shorter run");
    Ok(Reproduced {
        interrupted: (done < settings).then(message),
        ..Reproduced::new(page, facts, vec![Table::new("settings", rows)], notes)
    })
}

/// About two minutes on two cores for all settings, and at least ten runs per world.
fn default_runs(all: &[Experiment], one: &Experiment) -> u64 {
    let settings = all.len().max(1) as u64;
    match one.model.as_deref() {
        None => PUBLISHED_RUNS,
        Some("lenet") => (120 / settings).max(20),
        Some(_) => 3_600 / settings,
    }
}

fn plan(experiment: &Experiment, runs: u64, seed: u64) -> Result<Plan, Failure> {
    let batch_size = experiment.batch_size;
    let steps_per_epoch = RECORDS / batch_size.max(1);
    let noise_multiplier = match experiment.noise_multiplier {
        Some(noise_multiplier) => noise_multiplier,
        None => {
            calibrated_noise(experiment.poisson_epsilon, DELTA, (steps_per_epoch.into(), 1), None)?
        }
    };
    let plan = Plan {
        mechanism: BatchedGaussian {
            noise_multiplier,
            steps_per_epoch,
            epochs: 1,
            sampler: experiment.sampler.with_buffer(experiment.buffer_examples)?,
            threat_model: experiment.threat_model,
            batch_size: Some(batch_size),
            dataset_size: None,
        },
        observations: runs,
        delta: DELTA,
        significance: SIGNIFICANCE,
        threshold_rule: ThresholdRule::Simultaneous,
        cuts: Plan::DEFAULT_CUTS,
        seed,
        training: None,
    };
    plan.validated().map_err(name_runs)?;
    Ok(plan)
}

impl<'a> Audited<'a> {
    /// Trains and audits a setting; none if interrupted.
    fn new(
        experiment: &'a Experiment,
        plan: Plan,
        args: &ReproduceArgs,
    ) -> Result<Option<Self>, Failure> {
        let quiet = args.show.quiet;
        let (counted, device) = match &experiment.model {
            Some(model) => {
                let has_fresh_canary = experiment.canary != "fixed";
                let models = built_in(model, &plan, has_fresh_canary, &args.device)?;
                (count_whole_of(&models, quiet), models.device())
            }
            None => {
                let backend = backend(&args.device, float_mode(&args.device, &[]))?;
                (count_whole(&plan, &backend, quiet), backend.device())
            }
        };
        let outcome = match counted {
            Err(failure) if failure.code == Exit::Interrupted => return Ok(None),
            outcome => outcome?,
        };
        if outcome.is_interrupted {
            return Ok(None);
        }
        let state = outcome.state;
        let idealised = idealised_counts(&state, args.device.threads, quiet);
        if is_interrupted() && idealised.is_none() {
            return Ok(None);
        }
        let idealised = idealised.map(|counts| estimate(&counts)).transpose()?;
        let trials = state.evidence.histograms.trials();
        Ok(Some(Self {
            ours: OurResult::new(&state, experiment.published.parse().ok())?,
            idealised: idealised.map(|estimate| estimate.value()),
            ceiling: ceiling(trials, DELTA, SIGNIFICANCE / 2.0)?,
            training: state.evidence.training,
            plan: state.plan,
            device: device.name,
            experiment,
        }))
    }

    fn published(&self) -> Option<f64> {
        self.experiment.published.parse().ok()
    }

    fn reason(&self) -> Option<&'static str> {
        self.ours.reason(self.plan.observations != PUBLISHED_RUNS)
    }

    /// Ratio of our estimate to that of the full shuffle at this claim.
    fn times(&self, all: &[Self]) -> Option<f64> {
        let is_full = |one: &&Self| one.experiment.sampler == SamplerKind::Shuffle;
        let claim = self.experiment.poisson_epsilon;
        let full =
            all.iter().filter(is_full).find(|one| one.experiment.poisson_epsilon == claim)?;
        let times = self.ours.estimate / full.ours.estimate;
        (!is_full(&self) && times.is_finite()).then_some(times)
    }

    fn row(&self, all: &[Self], reasons: &Reasons) -> Value {
        let Self { experiment, plan, ours, .. } = self;
        let claimed = experiment.poisson_epsilon;
        let is_below = experiment.published == "below";
        let times = self.times(all);
        let why: Vec<&str> = self.reason().into_iter().collect();
        let training = self.training.as_ref().map(TrainingState::whole);
        let mut row = json!({
            "name": experiment.name, "model": experiment.model, "sampler": experiment.sampler,
            "batch_size": experiment.batch_size, "runs": plan.observations,
            "fixed_canary": experiment.model.as_ref().map(|_| experiment.canary == "fixed"),
            "noise_multiplier": plan.mechanism.noise_multiplier, "claimed_epsilon": claimed,
            "published_estimate": self.published(), "published_below_claim": is_below,
            "published_times": experiment.times_full_shuffle, "our_times": times,
            "our_estimate": ours.estimate, "standard_error": ours.standard_error,
            "difference": ours.difference, "our_bound": ours.bound, "ceiling": self.ceiling,
            "why_they_differ": why, "why_they_differ_text": reasons.marks(&why),
            "idealised_estimate": self.idealised,
            "residual_variance": training.and_then(|tally| tally.residual_variance()),
            "correct_share": training.and_then(|tally| tally.accuracy()),
        });
        if let Some(published) = experiment.times_full_shuffle {
            row["published_estimate_text"] = format!("{published}×").into();
            if let Some(times) = times {
                row["our_estimate_text"] = format!("{:.2} = {times:.2}×", ours.estimate).into();
            }
        } else if is_below {
            row["published_estimate_text"] = format!("< {claimed}").into();
        }
        row
    }
}

/// The distinct sizes, ascending.
fn batch_sizes(audited: &[Audited<'_>]) -> String {
    let sizes: BTreeSet<u32> = audited.iter().map(|one| one.experiment.batch_size).collect();
    let shown: Vec<String> = sizes.into_iter().map(|size| grouped(size.into())).collect();
    shown.join(" or ")
}

/// The published values that this number of runs cannot show, before what it cannot show either.
fn beyond_ceiling(audited: &[Audited<'_>]) -> String {
    let published = audited.iter().filter_map(|one| Some((one.published()?, one.ceiling)));
    let above = published.clone().filter(|(value, ceiling)| value > ceiling).count();
    match (above, published.count()) {
        (0, _) => String::new(),
        (above, all) if above == all => {
            "any published value, since all are above the ceiling; nor ".to_owned()
        }
        (above, all) => {
            format!("{above} of the {all} published values, which are above the ceiling; nor ")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::reproduce::args::{Family, Reproduction};
    use clap::ValueEnum;

    #[test]
    fn published_settings_are_valid_plans() {
        let all = Reproduction::value_variants().iter();
        let names: Vec<String> =
            all.filter(|what| what.family() == Family::DpSgd).map(|what| what.name()).collect();
        assert_eq!(names.len(), 6);
        for name in names {
            let experiments = experiments(&name).unwrap();
            assert!(experiments.len() >= 3, "{name}");
            for experiment in &experiments {
                let runs = default_runs(&experiments, experiment);
                assert!(runs >= 20 && plan(experiment, runs, 1).is_ok(), "{name}");
            }
        }
    }
}
