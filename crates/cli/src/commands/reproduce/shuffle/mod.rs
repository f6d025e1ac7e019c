//! Annamalai, Balle, Hayes, De Cristofaro: To Shuffle or not to Shuffle.

mod comparison;
pub(super) mod dpsgd;

use dpscope_core::accounting::{Accountant, Cell, Given, Poisson, Query, Training};
use dpscope_simulation::pair::PairSampler;
use dpscope_simulation::{Evaluate, Plan};
use serde::Deserialize;
use serde_json::json;

use super::names::Table;
use super::page::Reproduced;
use super::{ReproduceArgs, data};
use crate::commands::simulate::{count_whole, shuffle_plan};
use crate::device::backend;
use crate::failure::{Exit, Failure};
use crate::job::float_mode;
use crate::output::print_note;
use crate::progress::{RowProgress, Terminal, is_drawn};
use comparison::{HALF_A_UNIT, ceiling_of, compare, explain};

const DELTA: f64 = 1e-5;
const SIGNIFICANCE: f64 = 0.05;

/// A row of a published table.
#[derive(Deserialize)]
struct Setting {
    model: Option<String>,
    noise_multiplier: f64,
    steps: u32,
    epochs: Option<u32>,
    #[serde(alias = "poisson_epsilon")]
    claimed_epsilon: Option<f64>,
    empirical_epsilon: Option<f64>,
}

impl Setting {
    fn name(&self) -> String {
        let Self { noise_multiplier, steps, .. } = self;
        self.model.clone().unwrap_or_else(|| format!("σ={noise_multiplier:?} T={steps}"))
    }

    fn training(&self) -> Training {
        Training {
            noise_multiplier: self.noise_multiplier,
            steps_per_epoch: self.steps.into(),
            epochs: self.epochs.unwrap_or(1).into(),
            sampling_rate: None,
        }
    }
}

/// Simulations of the mechanism, setting by setting.
struct Mechanism {
    settings: Vec<Setting>,
    published_observations: u64,
    /// Why the printed ε differs from that of an accountant.
    claimed: &'static str,
    default_observations: u64,
}

impl Mechanism {
    fn named(what: &str) -> Result<Self, Failure> {
        Ok(match what {
            "figure-3" => Self {
                settings: data::csv(include_str!(
                    "../../../../papers/shuffle_or_not/figure_3.csv"
                ))?,
                published_observations: 1_000_000_000,
                claimed: "upper-end",
                default_observations: 1_000_000,
            },
            _ => Self {
                settings: data::csv(include_str!("../../../../papers/shuffle_or_not/table_1.csv"))?,
                published_observations: 10_000_000,
                claimed: "copied-claim",
                default_observations: 100_000,
            },
        })
    }
}

pub(super) fn run(args: &ReproduceArgs, seed: u64) -> Result<Reproduced, Failure> {
    let mechanism = Mechanism::named(&args.what.name)?;
    let observations = args.observations.unwrap_or(mechanism.default_observations);
    let backend = backend(&args.device, float_mode(&args.device, &[]))?;
    let sampler =
        PairSampler { seed, observations: None, significance: SIGNIFICANCE, whole_runs: false };
    let (mut rows, mut highest) = (Vec::new(), 0.0);
    let progress = RowProgress::new(true, mechanism.settings.len()).with_estimate();
    for setting in &mechanism.settings {
        let name = setting.name();
        progress.next(&name);
        if is_drawn(args.show.quiet) {
            print_note(&name);
        }
        let plan = shuffle_plan(setting.training(), observations, DELTA, SIGNIFICANCE, seed);
        let outcome = count_whole(&plan, &backend, args.show.quiet)?;
        if outcome.is_interrupted {
            let message = "interrupted; reduce --observations for a shorter run";
            return Err(Failure::with(Exit::Interrupted, message));
        }
        let state = outcome.state;
        let at = Given::Delta(DELTA);
        let control = Terminal::of_pair(args.show.quiet);
        let pair = sampler.rows(setting.training(), at, &backend, &control)?;
        let poisson = Cell::from(Poisson.account(&Query::upper(setting.training(), at)));
        let claimed_difference =
            poisson.value().and_then(|row| Some(setting.claimed_epsilon? - row.epsilon));
        let is_other = claimed_difference.is_some_and(|change| change.abs() > HALF_A_UNIT);
        let mut row = json!({
            "name": name, "noise_multiplier": setting.noise_multiplier, "steps": setting.steps,
            "epochs": setting.epochs.unwrap_or(1), "claimed_epsilon": setting.claimed_epsilon,
            "poisson": poisson, "claimed_difference": claimed_difference,
            "published_estimate": setting.empirical_epsilon, "pair_lower": pair.lower,
            "pair_estimate": pair.estimate, "pair_estimate_text": with_error(&pair.estimate),
            "pair_observations": pair.observations,
            "gain_at_10x": state.outcome()?.evidence().gain_at_10x,
        });
        let is_published_number = observations == mechanism.published_observations;
        let reason = compare(&mut row, &state, !is_published_number)?;
        let why: Vec<&str> =
            is_other.then_some(mechanism.claimed).into_iter().chain(reason).collect();
        row["why_they_differ"] = json!(why);
        rows.push(row);
        highest = ceiling_of(&state)?;
    }
    let notes = vec![("reasons", explain(&mut rows)?)];
    let facts = json!({
        "delta": DELTA, "significance": SIGNIFICANCE, "observations": observations,
        "published_observations": mechanism.published_observations, "cuts": Plan::DEFAULT_CUTS,
        "device": backend.device().name, "ceiling": highest,
    });
    let page = include_str!("../../../../papers/shuffle_or_not/simulations.toml");
    Ok(Reproduced::new(page, facts, vec![Table::new("settings", rows)], notes))
}

/// An estimate with its error, which is rounded up.
fn with_error(estimate: &Cell) -> String {
    estimate.value().map_or("-".to_owned(), |value| {
        let error = value.standard_error.unwrap_or(0.0);
        format!("{:.2} ± {:.2}", value.epsilon, (100.0 * error).ceil() / 100.0)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_tables_have_their_settings() {
        let names = |what: &str| -> Vec<String> {
            Mechanism::named(what).unwrap().settings.iter().map(Setting::name).collect()
        };
        assert_eq!(names("figure-3")[1..3], ["σ=1.0 T=100", "σ=1.5 T=100"]);
        assert_eq!((names("table-1").len(), names("table-1")[0].as_str()), (6, "Places-365"));
    }
}
