//! Trainings with correlated noise, which `bound matrix` accounts for.

use dpscope_core::format::given;
use dpscope_core::training_check::{CorrelatedNoise, TrainingDescription};
use dpscope_formats::accountants::TreeAggregation;

use crate::failure::Failure;

/// Why a training is not accounted for as DP-SGD, with the command that accounts for it.
pub(super) fn refused(noise: &CorrelatedNoise, training: &TrainingDescription) -> Failure {
    let epoch = match (training.dataset_size, training.batch_size) {
        (Some(records), Some(batch @ 1..)) => Some(records.div_ceil(batch)),
        _ => None,
    };
    let whole = |epochs: f64| (epochs >= 1.0 && epochs.fract() == 0.0).then_some(epochs as u64);
    let epochs = match (training.epochs, training.total_steps, epoch) {
        (Some(epochs), ..) => whole(epochs),
        (None, Some(steps), Some(epoch @ 1..)) => whole(steps as f64 / epoch as f64),
        _ => None,
    };
    let steps = training.total_steps.or_else(|| epoch?.checked_mul(epochs?));
    let participation = match (noise.participation, epochs) {
        (Some(pattern), _) => pattern.to_owned(),
        (None, Some(1)) => "single".to_owned(),
        (None, Some(epochs)) => format!("shuffled:{epochs}"),
        (None, None) => "PATTERN".to_owned(),
    };
    let command = Command {
        strategy: noise.strategy.unwrap_or("STRATEGY"),
        steps,
        participation: &participation,
        noise_multiplier: training.noise_multiplier,
        delta: training.delta,
    };
    command.instead_of(noise.name)
}

/// Why a tree in a record is not accounted for as DP-SGD, with the command that does so.
pub(super) fn refused_tree(tree: &TreeAggregation, delta: Option<f64>) -> Failure {
    let command = Command {
        strategy: "tree",
        steps: Some(tree.steps),
        participation: "single",
        noise_multiplier: Some(tree.noise_multiplier),
        delta,
    };
    command.instead_of("SingleEpochTreeAggregationDpEvent")
}

/// `bound matrix`, as far as its options are known.
struct Command<'a> {
    strategy: &'a str,
    steps: Option<u64>,
    participation: &'a str,
    noise_multiplier: Option<f64>,
    delta: Option<f64>,
}

impl Command<'_> {
    fn instead_of(&self, name: &str) -> Failure {
        let Command { strategy, steps, participation, .. } = self;
        let steps = steps.map_or("T".to_owned(), |steps| steps.to_string());
        let noise = self.noise_multiplier.map_or("S".to_owned(), given);
        let delta = self.delta.map_or(String::new(), |delta| format!(" --delta {}", given(delta)));
        Failure::input(format!(
            "{name} adds correlated noise (DP-FTRL), which `check` does not account for: its \
             privacy loss is not that of DP-SGD; run `dpscope bound matrix --strategy {strategy} \
             --steps {steps} --participation {participation} --noise-multiplier {noise}{delta}`"
        ))
    }
}
