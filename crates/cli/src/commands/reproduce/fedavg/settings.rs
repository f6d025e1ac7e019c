//! What each experiment varies.

use dpscope_core::format::given;
use dpscope_report::record::FedAvgExperiment;
use dpscope_train::federated::{FederatedSettings, NoiseMechanism, Participation, UpdateClipping};

pub(super) const CLIENTS: u32 = 900;
pub(super) const RECORDS: u32 = 10;
pub(super) const ROUNDS: u32 = 50;
pub(super) const CLIP_NORM: f64 = 0.5;
pub(super) const MOMENTUM: f64 = 0.9;

/// Noise multipliers of experiments that vary them.
const NOISE: [f64; 4] = [0.0, 0.1, 0.3, 1.0];
/// That of the others.
const FIXED_NOISE: f64 = 0.3;
/// Rounds of each canary.
const PRESENTATIONS: [u32; 4] = [1, 2, 4, 8];
/// Trainings that share the canaries of one.
const PARTS: u32 = 10;

/// A row.
pub(super) struct Setting {
    pub(super) name: String,
    pub(super) settings: FederatedSettings,
    /// Trainings whose canaries are audited together.
    pub(super) parts: u32,
    /// Expected canaries of a training.
    pub(super) canaries: f64,
    /// Whether as many trainings without canaries are evaluated.
    pub(super) is_compared: bool,
}

impl Setting {
    /// The rows of an experiment, with so many expected canaries per audit.
    pub(super) fn of(what: FedAvgExperiment, canaries: u64) -> Vec<Self> {
        let canaries = canaries as f64;
        let row = |name: String, noise: f64, presentations: Option<u32>, parts: u32| Self {
            name,
            settings: settings(noise, presentations, what != FedAvgExperiment::Utility),
            parts,
            canaries: canaries / f64::from(parts),
            is_compared: what == FedAvgExperiment::Utility,
        };
        let by_noise = |noise: f64| row(format!("σ = {}", given(noise)), noise, None, 1);
        match what {
            FedAvgExperiment::FinalVsAll
            | FedAvgExperiment::Utility
            | FedAvgExperiment::Gaussianity => NOISE.into_iter().map(by_noise).collect(),
            FedAvgExperiment::Presentations => {
                let name = |count: u32| match count {
                    1 => "1 presentation".to_owned(),
                    _ => format!("{count} presentations"),
                };
                let of = |count| row(name(count), FIXED_NOISE, Some(count), 1);
                PRESENTATIONS.into_iter().map(of).collect()
            }
            FedAvgExperiment::OneOrTenRuns => {
                let name = |parts: u32| match parts {
                    1 => "1 training".to_owned(),
                    _ => format!("{parts} trainings"),
                };
                [1, PARTS].map(|parts| row(name(parts), FIXED_NOISE, None, parts)).into()
            }
        }
    }
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
