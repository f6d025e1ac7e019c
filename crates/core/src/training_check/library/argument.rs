//! Arguments in the call of a loader, as the training that they describe.

use crate::format::given;
use crate::training_check::{TrainingDescription, TrainingError, TrainingSetup};

/// An argument, in lower case and without blanks or quotes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Argument {
    /// Its keyword, or what its place means; empty if unknown.
    pub(super) name: String,
    pub(super) value: String,
    /// The last part of the path that is called.
    pub(super) function: String,
}

/// What an argument says about a training.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Quantity {
    BatchSize,
    DatasetSize,
    SamplingRate,
    /// Number of records drawn per epoch.
    DrawsPerEpoch,
    /// Steps in all, or of one pass.
    Steps,
    StepsInAll,
    StepsPerEpoch,
    Epochs,
    NoiseMultiplier,
    ClipNorm,
    BufferExamples,
    MaxBatchSize,
    DropLast,
}

const QUANTITIES: &[(&str, Quantity)] = &[
    ("batch_size", Quantity::BatchSize),
    ("num_samples", Quantity::DatasetSize),
    ("num_records", Quantity::DatasetSize),
    ("sample_rate", Quantity::SamplingRate),
    ("sampling_rate", Quantity::SamplingRate),
    ("sampling_prob", Quantity::SamplingRate),
    ("steps", Quantity::Steps),
    ("num_steps", Quantity::Steps),
    ("iterations", Quantity::StepsInAll),
    ("max_steps", Quantity::StepsInAll),
    ("total_steps", Quantity::StepsInAll),
    ("steps_per_epoch", Quantity::StepsPerEpoch),
    ("epochs", Quantity::Epochs),
    ("num_epochs", Quantity::Epochs),
    ("num_train_epochs", Quantity::Epochs),
    ("noise_multiplier", Quantity::NoiseMultiplier),
    ("max_grad_norm", Quantity::ClipNorm),
    ("l2_norm_clip", Quantity::ClipNorm),
    ("buffer_size", Quantity::BufferExamples),
    ("window_size", Quantity::BufferExamples),
    ("truncated_batch_size", Quantity::MaxBatchSize),
    ("drop_last", Quantity::DropLast),
    ("drop_remainder", Quantity::DropLast),
    ("dataloader_drop_last", Quantity::DropLast),
];

/// Parts of arguments that change neither batches nor noise nor steps.
const HARMLESS: &[&str] = &[
    "beta",
    "eval",
    "interleave",
    "learning_rate",
    "logging",
    "lr=",
    "momentum",
    "parallel",
    "prefetch",
    "rank=",
    "save",
    "seed",
    "shardshuffle",
    "timeout",
    "verbose",
    "warmup",
    "weight_decay",
    "worker",
];

/// Relative difference of sampling rates that rounding may explain.
const RATE_TOLERANCE: f64 = 0.01;

impl Argument {
    pub(super) fn quantity(&self) -> Option<Quantity> {
        // in PyTorch's samplers; in that of Opacus, it is the number of all records
        let draws = ["randomsampler", "weightedrandomsampler"];
        if self.name == "num_samples" && draws.contains(&self.function.as_str()) {
            return Some(Quantity::DrawsPerEpoch);
        }
        QUANTITIES.iter().find(|(name, _)| *name == self.name).map(|&(_, quantity)| quantity)
    }

    /// A number, or a quotient of numbers.
    pub(super) fn number(&self) -> Option<f64> {
        let literal = |text: &str| -> Option<f64> {
            let has_digit = text.contains(|c: char| c.is_ascii_digit());
            has_digit.then(|| text.replace('_', "").parse().ok())?
        };
        let mut parts = self.value.split('/').map(literal);
        let first = parts.next()??;
        parts.try_fold(first, |quotient, divisor| Some(quotient / divisor?))
    }

    pub(super) fn whole(&self) -> Option<u64> {
        self.value.replace('_', "").parse().ok()
    }

    pub(super) fn flag(&self) -> Option<bool> {
        self.value.parse().ok()
    }

    /// Whether it is a number that may change the training, and that nothing compares.
    pub(super) fn is_unread(&self) -> bool {
        let is_part = |c: char| c.is_ascii_digit() || "._+-*/()e".contains(c);
        let is_numeric =
            self.value.chars().all(is_part) && self.value.contains(|c: char| c.is_ascii_digit());
        let is_read = self.quantity().is_some() && self.number().is_some();
        let shown = self.shown();
        is_numeric && !is_read && !HARMLESS.iter().any(|part| shown.contains(part))
    }

    /// As in code.
    pub(super) fn shown(&self) -> String {
        let Argument { name, value, function } = self;
        if name.is_empty() { format!("{function}({value})") } else { format!("{name}={value}") }
    }

    /// # Errors
    /// [`TrainingError::Contradicted`] if the training differs.
    pub(super) fn compare(
        &self,
        training: &TrainingDescription,
        setup: &TrainingSetup,
    ) -> Result<(), TrainingError> {
        let flag = || self.flag().map(|flag| f64::from(u8::from(flag)));
        let described = self.quantity().and_then(|quantity| described(quantity, training, setup));
        let (Some(written), Some(described)) = (self.number().or_else(flag), described) else {
            return Ok(());
        };
        let Described { names, values, shown, tolerance } = described;
        let is_near = |value: &f64| (written - value).abs() <= tolerance * value.abs();
        if values.iter().any(is_near) {
            return Ok(());
        }
        Err(TrainingError::Contradicted { argument: self.shown(), names, value: shown })
    }
}

/// What a training says of a quantity.
struct Described {
    names: &'static [&'static str],
    /// Any of them is right.
    values: Vec<f64>,
    shown: String,
    /// Relative.
    tolerance: f64,
}

/// None if the training says nothing of it.
fn described(
    quantity: Quantity,
    training: &TrainingDescription,
    setup: &TrainingSetup,
) -> Option<Described> {
    let one = |names: &'static [&'static str], value: f64| Described {
        names,
        values: vec![value],
        shown: given(value),
        tolerance: 1e-9,
    };
    let count = |names, value: u64| one(names, value as f64);
    // without the rate, which may come from the call itself
    let undrawn = TrainingSetup { drawn_rate: None, ..*setup };
    // samplers may round the batches of an epoch down
    let (epoch, whole) = (setup.steps_per_epoch(), setup.dataset_size / setup.batch_size.max(1));
    Some(match quantity {
        Quantity::BatchSize => count(&["batch_size"], setup.batch_size),
        Quantity::DatasetSize => count(&["dataset_size"], setup.dataset_size),
        // fewer draws are read from the call; more than the number of records remain
        Quantity::DrawsPerEpoch => {
            count(&["dataset_size"], setup.draws_per_epoch.unwrap_or(setup.dataset_size))
        }
        Quantity::SamplingRate => Described {
            values: undrawn.sampling_rates().to_vec(),
            tolerance: RATE_TOLERANCE,
            ..one(&["batch_size", "dataset_size"], undrawn.sampling_rate())
        },
        Quantity::Steps => of_run(training, setup, &[setup.steps(), epoch, whole]),
        Quantity::StepsInAll => of_run(training, setup, &[setup.steps()]),
        Quantity::StepsPerEpoch => of_run(training, setup, &[epoch, whole]),
        Quantity::Epochs => {
            let partial = setup.partial_epoch_steps as f64 / epoch as f64;
            let epochs = training.epochs.unwrap_or(setup.epochs as f64 + partial);
            Described { values: vec![epochs], ..of_run(training, setup, &[]) }
        }
        Quantity::NoiseMultiplier => one(&["noise_multiplier"], setup.noise_multiplier),
        Quantity::ClipNorm => one(&["clip_norm"], setup.drawn_noise?.clip_norm),
        Quantity::BufferExamples => count(&["buffer_examples"], setup.loader.buffer_examples()?),
        Quantity::MaxBatchSize => {
            count(&["max_batch_size"], setup.loader.truncation()?.max_batch_size)
        }
        Quantity::DropLast => Described {
            shown: setup.drop_last.to_string(),
            ..count(&["drop_last"], u64::from(setup.drop_last))
        },
    })
}

fn of_run(training: &TrainingDescription, setup: &TrainingSetup, values: &[u64]) -> Described {
    let values = values.iter().map(|&value| value as f64).collect();
    let (steps, epoch) = (setup.steps(), setup.steps_per_epoch());
    let (names, shown): (&[&str], String) = match (training.total_steps, training.epochs) {
        (None, Some(epochs)) => {
            (&["epochs"], format!("{} ({steps} steps, {epoch} per epoch)", given(epochs)))
        }
        _ => (&["total_steps"], format!("{steps} ({epoch} per epoch)")),
    };
    Described { names, values, shown, tolerance: 1e-9 }
}
