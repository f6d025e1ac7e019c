//! Models and sizes of the comparison.

use clap::ValueEnum;
use dpscope_core::mechanism::{BatchSampler, BatchedGaussian, ThreatModel};

/// A model, with sizes that a computer without a GPU can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ScaleArg {
    /// 32 tanh units, 400 canaries, 120 metasteps; one minute on two cores.
    Mlp,
    /// LeNet-5, 200 canaries, 50 metasteps; ten minutes on two cores.
    Lenet,
    /// A CNN, 100 canaries, 5 metasteps; half an hour on two cores.
    Cnn,
}

/// Sizes of a scale.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sizes {
    /// The name of the model.
    pub(super) model: &'static str,
    /// Canaries: m.
    pub(super) canaries: u32,
    /// Base records and canaries together.
    pub(super) slots: u32,
    pub(super) metasteps: u32,
    /// Epochs of DP-SGD, with [`STEPS_PER_EPOCH`] steps each.
    epochs: u32,
    noise_multiplier: f64,
    /// The default of `audit dpsgd` for the model.
    pub(super) learning_rate: f64,
    /// What it takes on two cores.
    pub(super) duration: &'static str,
}

/// The reciprocal of the sampling rate of DP-SGD.
const STEPS_PER_EPOCH: u32 = 10;

impl ScaleArg {
    pub(super) fn sizes(self) -> Sizes {
        let mlp = Sizes {
            model: "mlp",
            canaries: 400,
            slots: 3_400,
            metasteps: 120,
            epochs: 15,
            noise_multiplier: 0.9,
            learning_rate: 3.0,
            duration: "one minute",
        };
        match self {
            ScaleArg::Mlp => mlp,
            ScaleArg::Lenet => Sizes {
                model: "lenet",
                canaries: 200,
                slots: 3_200,
                metasteps: 50,
                duration: "ten minutes",
                ..mlp
            },
            ScaleArg::Cnn => Sizes {
                model: "cnn",
                canaries: 100,
                slots: 1_100,
                metasteps: 5,
                epochs: 5,
                learning_rate: 1.0,
                duration: "half an hour",
                ..mlp
            },
        }
    }
}

impl Sizes {
    /// DP-SGD with Poisson batches of all slots.
    pub(super) fn mechanism(&self) -> BatchedGaussian {
        BatchedGaussian {
            noise_multiplier: self.noise_multiplier,
            steps_per_epoch: STEPS_PER_EPOCH,
            epochs: self.epochs,
            sampler: BatchSampler::Poisson,
            threat_model: ThreatModel::TargetCanary,
            batch_size: Some(self.slots / STEPS_PER_EPOCH),
        }
    }
}
