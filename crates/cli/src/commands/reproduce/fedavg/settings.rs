//! Model, data and sizes of the experiments, and what each of them varies.

use dpscope_core::format::given;
use dpscope_report::number::counted;
use dpscope_train::data::Examples;
use dpscope_train::federated::{FederatedSettings, NoiseMechanism, Participation, UpdateClipping};
use dpscope_train::{BuiltInModel, ModelSpec, Network};

use crate::commands::audit::dpsgd::training::{Selection, examples};
use crate::commands::canaries::optimise::model::network;
use crate::commands::reproduce::ReproduceArgs;
use crate::commands::reproduce::args::Reproduction;
use crate::failure::Failure;

pub(super) const SIGNIFICANCE: f64 = 0.05;
pub(super) const CLIENTS: u32 = 900;
pub(super) const RECORDS: u32 = 10;
pub(super) const ROUNDS: u32 = 50;
pub(super) const CLIP_NORM: f64 = 0.5;
pub(super) const MOMENTUM: f64 = 0.9;

const DEFAULT_DELTA: f64 = 1e-6;
const DEFAULT_RUNS: u64 = 6;
const DEFAULT_CANARIES: u64 = 200;
/// Canaries of one training, and of ten trainings together, as in the paper.
const DEFAULT_CANARIES_OF_TEN: u64 = 1_000;

/// Noise multipliers of experiments that vary them, and that of the others.
const NOISE: [f64; 4] = [0.0, 0.1, 0.3, 1.0];
const FIXED_NOISE: f64 = 0.3;
/// Rounds of each canary.
const PRESENTATIONS: [u32; 4] = [1, 2, 4, 8];
/// Trainings that share the canaries of one.
const PARTS: [u32; 2] = [1, 10];

/// What is trained.
pub(super) struct Experiment {
    pub(super) what: Reproduction,
    pub(super) examples: Examples,
    pub(super) spec: ModelSpec,
    pub(super) network: Network,
    pub(super) runs: u32,
    pub(super) canaries: u64,
    pub(super) delta: f64,
    pub(super) seed: u64,
    pub(super) threads: usize,
}

impl Experiment {
    pub(super) fn new(args: &ReproduceArgs, seed: u64) -> Result<Self, Failure> {
        let runs = ReproduceArgs::in_range("--runs", args.runs, DEFAULT_RUNS, (2, 1_000), "")?;
        let default = match args.what {
            Reproduction::FedAvgOneOrTenRuns => DEFAULT_CANARIES_OF_TEN,
            _ => DEFAULT_CANARIES,
        };
        let range = (20, 10_000);
        let canaries = ReproduceArgs::in_range("--canaries", args.canaries, default, range, "")?;
        let images = BuiltInModel::named("lenet");
        let records = Selection::of((CLIENTS * RECORDS) as usize);
        let examples = examples(&args.data, images, records)?;
        let (spec, network) = network("mlp", &examples)?;
        Ok(Self {
            what: args.what,
            examples,
            spec,
            network,
            runs: u32::try_from(runs).unwrap_or(u32::MAX),
            canaries,
            delta: args.delta.unwrap_or(DEFAULT_DELTA),
            seed,
            threads: args.threads(),
        })
    }

    /// The rows of the experiment.
    pub(super) fn settings(&self) -> Vec<Setting> {
        let row = |name: String, noise: f64, presentations: Option<u32>, parts: u32| Setting {
            name,
            settings: settings(noise, presentations, self.sees_updates()),
            parts,
            canaries: self.canaries as f64 / f64::from(parts),
        };
        match self.what {
            Reproduction::FedAvgPresentations => {
                let name = |count: u32| counted(count.into(), "presentation");
                let presentations = PRESENTATIONS.into_iter();
                presentations.map(|count| row(name(count), FIXED_NOISE, Some(count), 1)).collect()
            }
            Reproduction::FedAvgOneOrTenRuns => {
                let name = |parts: u32| counted(parts.into(), "training");
                PARTS.map(|parts| row(name(parts), FIXED_NOISE, None, parts)).into()
            }
            _ => {
                let by_noise = |noise| row(format!("σ = {}", given(noise)), noise, None, 1);
                NOISE.map(by_noise).into()
            }
        }
    }

    /// Whether updates are scored; else as many trainings without canaries are evaluated.
    pub(super) fn sees_updates(&self) -> bool {
        self.what != Reproduction::FedAvgUtility
    }
}

/// A row.
pub(super) struct Setting {
    pub(super) name: String,
    pub(super) settings: FederatedSettings,
    /// Trainings whose canaries are audited together.
    pub(super) parts: u32,
    /// Expected canaries of a training.
    pub(super) canaries: f64,
}

fn settings(noise: f64, presentations: Option<u32>, sees_updates: bool) -> FederatedSettings {
    FederatedSettings {
        clients: CLIENTS,
        records_per_client: RECORDS,
        concentration: None,
        rounds: ROUNDS,
        participation: Participation::Shuffled { epochs: 1 },
        presentations,
        local_epochs: 5,
        local_batch_size: 10,
        local_learning_rate: 0.5,
        clipping: UpdateClipping::Fixed { norm: CLIP_NORM },
        noise_multiplier: noise,
        noise_mechanism: NoiseMechanism::Gaussian,
        server_learning_rate: 1.0,
        server_momentum: MOMENTUM,
        sees_updates,
    }
}
