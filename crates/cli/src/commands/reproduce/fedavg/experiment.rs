//! Model, data and sizes of the experiments.

use dpscope_report::record::FedAvgExperiment;
use dpscope_train::data::Examples;
use dpscope_train::{BuiltInModel, ModelSpec, Network};

use super::settings::{CLIENTS, RECORDS};
use crate::commands::audit::dpsgd::training::{Selection, examples};
use crate::commands::canaries::optimise::model::network;
use crate::commands::reproduce::ReproduceArgs;
use crate::failure::Failure;
use crate::seed::seed_or_fresh;

pub(super) const SIGNIFICANCE: f64 = 0.05;
const DEFAULT_DELTA: f64 = 1e-6;
const DEFAULT_RUNS: u64 = 6;
const DEFAULT_CANARIES: u64 = 200;
/// Canaries of one training, and of ten trainings together, as in the paper.
const DEFAULT_CANARIES_OF_TEN: u64 = 1_000;

/// What is trained.
pub(super) struct Experiment {
    pub(super) what: FedAvgExperiment,
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
    pub(super) fn new(args: &ReproduceArgs, what: FedAvgExperiment) -> Result<Self, Failure> {
        let in_range = |option: &str, value: u64, least: u64, most: u64| {
            if (least..=most).contains(&value) {
                return Ok(value);
            }
            let range = format!("from {least} to {most}");
            Err(Failure::input(format!("{option} is {value}; it must be {range}")))
        };
        let runs = in_range("--runs", args.runs.unwrap_or(DEFAULT_RUNS), 2, 1_000)?;
        let canaries = args.canaries.unwrap_or(match what {
            FedAvgExperiment::OneOrTenRuns => DEFAULT_CANARIES_OF_TEN,
            _ => DEFAULT_CANARIES,
        });
        let canaries = in_range("--canaries", canaries, 20, 10_000)?;
        let (seed, _) = seed_or_fresh(args.seed)?;
        let images = BuiltInModel::named("lenet");
        let records = Selection::of((CLIENTS * RECORDS) as usize);
        let examples = examples(&args.data, images, records)?;
        let (spec, network) = network("mlp", &examples)?;
        Ok(Self {
            what,
            examples,
            spec,
            network,
            runs: u32::try_from(runs).unwrap_or(u32::MAX),
            canaries,
            delta: args.delta.unwrap_or(DEFAULT_DELTA),
            seed,
            threads: args.device.threads.map_or(0, usize::from),
        })
    }
}
