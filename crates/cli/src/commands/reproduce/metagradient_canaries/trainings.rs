//! What is trained: canaries of each kind with SGD and DP-SGD.

use dpscope_train::data::Examples;
use dpscope_train::metagradient::{
    CanaryStart, Checkpointing, FeatureRanges, OptimizationSettings, Optimizer, SmoothModel,
    StartLabels,
};
use dpscope_train::{ModelSpec, Network};

use super::scale::{ScaleArg, Sizes};
use crate::commands::audit::dpsgd::DpSgdArgs;
use crate::commands::canaries::optimise::model::{load_data, network};
use crate::commands::reproduce::one_run_validity::without_coverage::Statement;
use crate::commands::reproduce::{ReproduceArgs, data};
use crate::failure::{Exit, Failure};

const DEFAULT_DELTA: f64 = 1e-5;
const DEFAULT_RUNS: u64 = 10;
pub(super) const MOMENTUM: f64 = 0.9;

/// Reference models of the calibration.
pub(super) const REFERENCES: u32 = 8;
/// The reciprocal of the sampling rate of DP-SGD.
const STEPS_PER_EPOCH: u32 = 10;

/// Memory for the states of a training, in MiB.
const STATES_MIB: u64 = 512;

/// One of so many canaries is guessed.
const GUESSED_ONE_OF: u64 = 10;

/// What is compared.
pub(super) struct Comparison {
    pub(super) sizes: Sizes,
    pub(super) examples: Examples,
    pub(super) spec: ModelSpec,
    pub(super) network: Network,
    pub(super) ranges: FeatureRanges,
    /// SGD, in which canaries are optimised and compared.
    pub(super) settings: OptimizationSettings,
    pub(super) checkpointing: Checkpointing,
    /// The audits with DP-SGD.
    pub(super) audit: DpSgdArgs,
    pub(super) runs: u32,
    pub(super) seed: u64,
    pub(super) threads: usize,
}

impl Comparison {
    pub(super) fn new(args: &ReproduceArgs, seed: u64) -> Result<Self, Failure> {
        let mut sizes = args.scale.unwrap_or(ScaleArg::Mlp).sizes()?;
        let checked = |option, value, default, range| {
            let value = ReproduceArgs::in_range(option, value, default, range, "")?;
            u32::try_from(value).map_err(Failure::input)
        };
        let range = (20, u64::from(sizes.slots) / 2);
        sizes.canaries = checked("--canaries", args.canaries, sizes.canaries.into(), range)?;
        sizes.metasteps = args.metasteps.unwrap_or(sizes.metasteps);
        let runs = checked("--runs", args.runs, DEFAULT_RUNS, (2, 200))?;
        let model = SmoothModel::named(&sizes.model)
            .ok_or_else(|| Failure::with(Exit::Internal, "a model without a name"))?;
        let records = u64::from(sizes.slots - sizes.canaries);
        let all = load_data(&args.data, Some(model.data), sizes.canaries.into(), Some(records))?;
        if all.len() < sizes.slots as usize {
            let (found, needed) = (all.len(), sizes.slots);
            return Err(Failure::input(format!(
                "{} has {found} records, but --scale {} needs {needed}",
                all.name(),
                sizes.model
            )));
        }
        let first: Vec<u32> = (0..sizes.slots).collect();
        let examples = match all.len() == sizes.slots as usize {
            true => all,
            false => all.select(all.name(), &first).unwrap_or(all),
        };
        let (spec, network) = network(&sizes.model, &examples)?;
        let settings = OptimizationSettings {
            steps: model.steps,
            batch_size: model.batch_size,
            learning_rate: model.learning_rate,
            rule: Optimizer::Momentum { momentum: MOMENTUM, weight_decay: 0.0 },
            ..OptimizationSettings::new(sizes.metasteps, seed)
        };
        let states = (network.parameters() * 2 * size_of::<f32>()) as u64;
        let memory = (STATES_MIB << 20) / rayon::current_num_threads() as u64;
        let checkpointing = Checkpointing::within(settings.steps, states, memory)
            .unwrap_or(Checkpointing::TwoLevel);
        let guesses = u64::from(runs) * guesses_of(sizes.canaries.into());
        let Sizes { audit, slots, .. } = &sizes;
        let mut audit: DpSgdArgs = data::arguments(&format!(
            "--protocol one-run --sampler poisson --records {slots} --batch-size {} --repeats {runs} \
             --reference-models {REFERENCES} --guesses {guesses} {audit}",
            slots / STEPS_PER_EPOCH
        ))?;
        audit.run.statement.delta = args.delta.unwrap_or(DEFAULT_DELTA);
        let ranges = FeatureRanges::of(&examples);
        let threads = args.threads();
        Ok(Comparison {
            sizes,
            examples,
            spec,
            network,
            ranges,
            settings,
            checkpointing,
            audit,
            runs,
            seed,
            threads,
        })
    }

    pub(super) fn statement(&self) -> Statement {
        let statement = &self.audit.run.statement;
        Statement { delta: statement.delta, significance: statement.significance() }
    }

    pub(super) fn start(&self, labels: StartLabels) -> Result<CanaryStart<'_>, Failure> {
        let canaries = self.sizes.canaries as usize;
        CanaryStart::draw(&self.examples, canaries, None, labels, self.seed).map_err(Failure::input)
    }

    /// The records that are no canaries.
    pub(super) fn base(&self, start: &CanaryStart<'_>) -> Result<Examples, Failure> {
        let all = 0..self.examples.len() as u32;
        let others: Vec<u32> = all.filter(|record| !start.records.contains(record)).collect();
        self.examples
            .select(self.examples.name(), &others)
            .ok_or_else(|| Failure::with(Exit::Internal, "records that do not exist"))
    }
}

/// k of an audit of m canaries.
pub(super) fn guesses_of(canaries: u64) -> u64 {
    (canaries / GUESSED_ONE_OF).max(1)
}
