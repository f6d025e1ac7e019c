//! Experiments with DP-SGD, setting by setting.

use std::collections::BTreeSet;

use dpscope_report::number::grouped;
use dpscope_simulation::{Plan, TrainingState};
use serde::Deserialize;
use serde_json::{Value, json};

use super::comparison::{ceiling_of, compare, estimate, explain};
use super::{DELTA, SIGNIFICANCE};
use crate::commands::audit::dpsgd::{self, DpSgdArgs};
use crate::commands::reproduce::names::Table;
use crate::commands::reproduce::page::Reproduced;
use crate::commands::reproduce::{ReproduceArgs, data};
use crate::commands::simulate::idealised_counts;
use crate::failure::{Exit, Failure};
use crate::output::print_note;
use crate::progress::{is_drawn, is_interrupted};

/// Models or observations per setting in the paper.
const PUBLISHED_RUNS: u64 = 1_000_000;

/// A setting of an experiment; `SOURCE.md` explains the fields.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Setting {
    experiment: String,
    name: String,
    /// None if no model is trained.
    model: Option<String>,
    sampler: String,
    buffer_examples: Option<u64>,
    threat_model: String,
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

fn settings(what: &str) -> Result<Vec<Setting>, Failure> {
    let text = include_str!("../../../../papers/shuffle_or_not/dp_sgd.csv");
    let mut all: Vec<Setting> = data::csv(text)?;
    all.retain(|one| one.experiment == what);
    Ok(all)
}

pub(in crate::commands::reproduce) fn run(
    args: &ReproduceArgs,
    seed: u64,
) -> Result<Reproduced, Failure> {
    let settings = settings(&args.what.name)?;
    let (mut rows, mut device) = (Vec::with_capacity(settings.len()), String::new());
    for setting in &settings {
        if is_drawn(args.show.quiet) {
            print_note(&format!("{}, ε = {}", setting.name, setting.poisson_epsilon));
        }
        let runs = args.runs.unwrap_or(setting.default_runs(settings.len() as u64));
        let Some((row, used)) = setting.row(&setting.command(runs, seed)?, args)? else { break };
        rows.push(row);
        device = used;
    }
    let (done, all) = (rows.len(), settings.len());
    if done == 0 {
        return Err(Failure::interrupted());
    }
    compare_with_full_shuffle(&mut rows);
    let notes = vec![("reasons", explain(&mut rows)?)];
    let settings = &settings[..done];
    let sizes: BTreeSet<u32> = settings.iter().map(|one| one.batch_size).collect();
    let sizes: Vec<String> = sizes.into_iter().map(|size| grouped(size.into())).collect();
    let facts = json!({
        "delta": DELTA, "significance": SIGNIFICANCE, "published_runs": PUBLISHED_RUNS,
        "cuts": Plan::DEFAULT_CUTS, "device": device, "settings": all,
        "ceiling": rows[0]["ceiling"], "batch_sizes": sizes.join(" or "),
        "is_trained": settings.iter().any(|one| one.model.is_some()),
        "has_times": settings.iter().any(|one| one.times_full_shuffle.is_some()),
        "beyond_ceiling": beyond_ceiling(&rows),
    });
    let page = include_str!("../../../../papers/shuffle_or_not/trainings.toml");
    let message =
        || format!("interrupted: {done} of {all} settings; reduce --runs for a shorter run");
    let mut found = Reproduced::new(page, facts, vec![Table::new("settings", rows)], notes);
    found.interrupted = (done < all).then(message);
    Ok(found)
}

impl Setting {
    /// About two minutes on two cores for all settings, and at least ten runs per world.
    fn default_runs(&self, settings: u64) -> u64 {
        match self.model.as_deref() {
            None => PUBLISHED_RUNS,
            Some("lenet") => (120 / settings).max(20),
            Some(_) => 3_600 / settings,
        }
    }

    /// The command that audits it.
    fn command(&self, runs: u64, seed: u64) -> Result<DpSgdArgs, Failure> {
        let Self { sampler, threat_model, batch_size, .. } = self;
        let mut options = format!(
            "--runs {runs} --seed {seed} --delta {DELTA} --sampler {sampler} --threat-model \
             {threat_model} --batch-size {batch_size}"
        );
        options += &match self.noise_multiplier {
            Some(noise_multiplier) => format!(" --noise-multiplier {noise_multiplier}"),
            None => format!(" --poisson-epsilon {}", self.poisson_epsilon),
        };
        options.extend(self.model.as_ref().map(|model| format!(" --model {model}")));
        options.extend(self.buffer_examples.map(|count| format!(" --buffer-examples {count}")));
        options.extend((self.canary == "fixed").then_some(" --fixed-canary"));
        data::arguments(&options)
    }

    /// Trains and audits a setting: its row, and the device; none if interrupted.
    fn row(
        &self,
        command: &DpSgdArgs,
        args: &ReproduceArgs,
    ) -> Result<Option<(Value, String)>, Failure> {
        let quiet = args.show.quiet;
        let (outcome, device) = match dpsgd::counted(command, &args.device, quiet) {
            Err(failure) if failure.code == Exit::Interrupted => return Ok(None),
            counted => counted?,
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
        let training = state.evidence.training.as_ref().map(TrainingState::whole);
        let claimed = self.poisson_epsilon;
        let mut row = json!({
            "name": self.name, "model": self.model, "sampler": self.sampler,
            "batch_size": self.batch_size, "runs": state.plan.observations,
            "fixed_canary": self.model.as_ref().map(|_| self.canary == "fixed"),
            "noise_multiplier": state.plan.mechanism.noise_multiplier, "claimed_epsilon": claimed,
            "published_estimate": self.published.parse::<f64>().ok(),
            "published_below_claim": self.published == "below",
            "published_times": self.times_full_shuffle, "our_times": null,
            "ceiling": ceiling_of(&state)?,
            "idealised_estimate": idealised.map(|estimate| estimate.value()),
            "residual_variance": training.and_then(|tally| tally.residual_variance()),
            "correct_share": training.and_then(|tally| tally.accuracy()),
        });
        let why = compare(&mut row, &state, state.plan.observations != PUBLISHED_RUNS)?;
        row["why_they_differ"] = Vec::from_iter(why).into();
        if let Some(times) = self.times_full_shuffle {
            row["published_estimate_text"] = format!("{times}×").into();
        } else if self.published == "below" {
            row["published_estimate_text"] = format!("< {claimed}").into();
        }
        Ok(Some((row, device)))
    }
}

/// Adds the ratios of our estimates to that of the full shuffle at the same claim.
fn compare_with_full_shuffle(rows: &mut [Value]) {
    let is_full = |row: &Value| row["sampler"] == "shuffle";
    let full: Vec<Value> = rows.iter().filter(|row| is_full(row)).cloned().collect();
    for row in rows.iter_mut().filter(|row| !is_full(row)) {
        let full = full.iter().find(|full| full["claimed_epsilon"] == row["claimed_epsilon"]);
        let full = full.and_then(|full| full["our_estimate"].as_f64());
        let (Some(ours), Some(full)) = (row["our_estimate"].as_f64(), full) else { continue };
        let times = ours / full;
        if times.is_finite() {
            row["our_times"] = times.into();
            if !row["published_times"].is_null() {
                row["our_estimate_text"] = format!("{ours:.2} = {times:.2}×").into();
            }
        }
    }
}

/// The published values that this number of runs cannot show, before what it cannot show either.
fn beyond_ceiling(rows: &[Value]) -> String {
    let published: Vec<(f64, f64)> = rows
        .iter()
        .filter_map(|row| Some((row["published_estimate"].as_f64()?, row["ceiling"].as_f64()?)))
        .collect();
    let above = published.iter().filter(|(value, ceiling)| value > ceiling).count();
    match (above, published.len()) {
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
    use crate::commands::reproduce::args::EXPERIMENTS;

    #[test]
    fn published_settings_are_valid_plans() {
        let all = EXPERIMENTS.experiment.iter().filter(|one| one.kind == "dpsgd");
        let names: Vec<&String> = all.map(|one| &one.name).collect();
        assert_eq!(names.len(), 6);
        for name in names {
            let settings = settings(name).unwrap();
            assert!(settings.len() >= 3, "{name}");
            for setting in &settings {
                let runs = setting.default_runs(settings.len() as u64);
                let command = setting.command(runs, 1).unwrap();
                assert!(runs >= 20 && dpsgd::planned(&command, 1).is_ok(), "{name}");
            }
        }
    }
}
