//! Trainings with many canaries on the GPU: the scores of the CPU, whatever the waves and faults.

use dpscope_core::audit::one_run::GuessRule;
use dpscope_core::mechanism::{BatchSampler, BatchedGaussian, ThreatModel};
use dpscope_core::random::{Purpose, Words};
use dpscope_engine::{EngineError, Unattended, UnitRange, Workload};
use dpscope_shaders::train::Kernel;
use dpscope_simulation::TrainingDigest;
use dpscope_train::data::{Examples, SyntheticData};
use dpscope_train::gpu::WaveLimits;
use dpscope_train::one_run::{
    CanarySlots, OneRunEvidence, OneRunModels, OneRunPlan, OneRunScore, OneRunSettings,
    OneRunTraining, PreTraining,
};
use dpscope_train::{LayerSpec, ModelSpec, Shape};
use libtest_mimic::{Failed, Trial};

use crate::audits::adapter;
use crate::training_runs::{edited, ensure, trained};

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        Trial::test("scores_equal_those_of_the_cpu", scores_equal_those_of_the_cpu),
        Trial::test("scores_do_not_depend_on_waves", scores_do_not_depend_on_waves),
        Trial::test("broken_one_run_kernels_are_rejected", broken_kernels),
        Trial::test("a_lost_device_costs_no_model", a_lost_device_costs_no_model),
        Trial::test("one_run_trainings_that_do_not_fit_are_refused", refusals),
    ]
}

const SEED: u64 = 5;
const MODELS: u64 = 5;

/// A training, and what the device may use.
#[derive(Clone)]
struct Case {
    spec: ModelSpec,
    mechanism: BatchedGaussian,
    settings: OneRunSettings,
    limits: WaveLimits,
    /// Whether the data are pixels, unlike the canaries.
    has_pixels: bool,
}

impl Case {
    fn new(sampler: BatchSampler) -> Self {
        let layers = vec![
            LayerSpec::Linear { outputs: 7 },
            LayerSpec::Tanh,
            LayerSpec::Linear { outputs: 4 },
        ];
        let mechanism = BatchedGaussian {
            noise_multiplier: 1.0,
            steps_per_epoch: 5,
            epochs: 2,
            sampler,
            threat_model: ThreatModel::TargetCanary,
            batch_size: Some(8),
            dataset_size: None,
        };
        let settings = OneRunSettings {
            clip_norm: 1.0,
            learning_rate: 0.5,
            momentum: 0.5,
            slots: CanarySlots::of(sampler),
            is_white_box: true,
            debias_records: 0,
            pre_training: None,
        };
        let spec = ModelSpec { input: Shape::flat(9), layers };
        let limits = WaveLimits::of_memory(1 << 26);
        Case { spec, mechanism, settings, limits, has_pixels: false }
    }

    /// Pixels with held-out records and a pre-training, in a convolutional network.
    fn pixels() -> Self {
        let case = Case::new(BatchSampler::Shuffle);
        let layers = vec![
            LayerSpec::Convolution { channels: 3, kernel: 5, stride: 3, padding: 1 },
            LayerSpec::GroupNorm { groups: 1, epsilon: 1e-5 },
            LayerSpec::Relu,
            LayerSpec::MaxPool { size: 3 },
            LayerSpec::Linear { outputs: 10 },
        ];
        let spec = ModelSpec { input: ModelSpec::lenet().input, layers };
        let part = PreTraining { records: 16, epochs: 2, learning_rate: 0.1 };
        let settings = OneRunSettings { pre_training: Some(part), momentum: 0.0, ..case.settings };
        Case { spec, settings, has_pixels: true, ..case }
    }

    fn data(&self) -> Result<[Examples; 2], Failed> {
        let shape = self.spec.input;
        let values = |name: &str, stream: u64, records: usize, classes: u32| {
            let mut words = Words::new(9, Purpose::Test, stream);
            let labels = (0..records).map(|_| words.below(classes)).collect();
            let sign = |_| if words.next_word() & 1 == 1 { 1.0 } else { -1.0 };
            let values = (0..records * shape.len()).map(sign).collect();
            Examples::from_values(name, shape, classes as usize, labels, values).ok_or("no data")
        };
        if self.has_pixels {
            let base = SyntheticData::FmnistLike.generate(44, 20)?;
            return Ok([base, values("canaries", 2, 12, 10)?]);
        }
        Ok([values("base", 1, 28, 4)?, values("canaries", 2, 12, 4)?])
    }

    fn models(&self) -> Result<OneRunModels, Failed> {
        let [base, canaries] = self.data()?;
        let (mechanism, settings) = (self.mechanism, self.settings);
        let training = OneRunTraining::new(&self.spec, base, canaries, mechanism, settings, SEED)?;
        let plan = OneRunPlan {
            mechanism,
            canaries: 12,
            repeats: 3,
            references: 2,
            score: OneRunScore::LossDifference,
            rule: GuessRule::Walk,
            deltas: vec![1e-5],
            significance: 0.05,
            seed: SEED,
            training: TrainingDigest::of(training.description()),
        };
        Ok(OneRunModels::new(plan, training, 0)?)
    }

    fn on_device(&self, edit: Option<fn(&Kernel) -> String>) -> Result<OneRunModels, String> {
        let models = self.models().map_err(|_| "no models")?;
        let adapter = adapter().ok_or("no adapter")?;
        let opening = models.on_device_within(adapter, self.limits, edit, &|| true);
        let opened = pollster::block_on(opening);
        opened.map_err(|refused| refused.error.to_string())
    }
}

/// The largest difference of two scores of one kind.
fn distance(found: &OneRunEvidence, expected: &OneRunEvidence, score: OneRunScore) -> f64 {
    let models = found.models.iter().zip(&expected.models);
    let scores = models.flat_map(|(found, expected)| {
        let (found, expected) = (found.scores(score), expected.scores(score));
        let is_whole = found.len() == expected.len();
        let differences = found.iter().zip(expected).map(|(a, b)| f64::from((a - b).abs()));
        differences.chain((!is_whole).then_some(f64::INFINITY))
    });
    scores.fold(0.0, f64::max)
}

const SAMPLERS: [BatchSampler; 8] = [
    BatchSampler::Poisson,
    BatchSampler::Shuffle,
    BatchSampler::PersistentShuffle,
    BatchSampler::BallsInBins,
    BatchSampler::Deterministic,
    BatchSampler::PartialShuffle { buffer_examples: 11 },
    BatchSampler::SlidingBuffer { buffer_examples: 7 },
    BatchSampler::RandomAllocation { uses_per_epoch: 2 },
];

fn scores_equal_those_of_the_cpu() -> Result<(), Failed> {
    let mut cases: Vec<Case> = SAMPLERS.into_iter().map(Case::new).collect();
    let mut plain = Case::new(BatchSampler::Shuffle);
    (plain.settings.momentum, plain.settings.is_white_box) = (0.0, false);
    cases.extend([plain, Case::pixels()]);
    let mut last = None;
    for case in cases {
        let what = format!("{} {:?}", case.mechanism.sampler, case.settings);
        let models = case.on_device(None).map_err(|reason| format!("{what}: {reason}"))?;
        let (found, warnings) = trained(&models, MODELS, &|_| {})?;
        ensure(warnings.is_empty() && found.fallback_shards == 0, format!("{warnings:?}"))?;
        let expected = models.compute(&(), UnitRange { first: 0, end: MODELS }, &Unattended)?;
        for score in OneRunScore::ALL {
            let away = distance(&found.evidence, &expected, score);
            ensure(away < 1e-3, format!("{what}: {} differs by {away}", score.name()))?;
        }
        for (found, expected) in found.evidence.models.iter().zip(&expected.models) {
            let counts = (found.evaluated, found.correct);
            ensure(counts == (expected.evaluated, expected.correct), format!("{counts:?}"))?;
            let away = (found.held_out_loss - expected.held_out_loss).abs();
            ensure(away < 1e-3, format!("{what}: held-out losses differ by {away}"))?;
        }
        last = Some((found.evidence, expected));
    }
    // the mutant: the scores of another model
    let (found, mut expected) = last.ok_or("no case")?;
    expected.models.rotate_left(1);
    ensure(distance(&found, &expected, OneRunScore::FinalLoss) > 0.01, "models are alike")
}

fn scores_do_not_depend_on_waves() -> Result<(), Failed> {
    let mut case = Case::new(BatchSampler::Shuffle);
    case.spec.layers[0] = LayerSpec::Linear { outputs: 300 };
    let (whole, _) = trained(&case.on_device(None)?, MODELS, &|_| {})?;
    let limits = case.limits;
    for limits in [
        WaveLimits { runs: 1, ..limits },
        WaveLimits { runs: 2, work: 1 << 14, ..limits },
        WaveLimits { planned_bytes: Some(u64::MAX), granted_bytes: 1 << 17, ..limits },
    ] {
        let (other, warnings) =
            trained(&Case { limits, ..case.clone() }.on_device(None)?, MODELS, &|_| {})?;
        let is_halved = warnings.iter().any(|warning| warning.contains("models at a time"));
        ensure(is_halved == limits.planned_bytes.is_some(), format!("{warnings:?}"))?;
        ensure(other.evidence == whole.evidence, format!("{limits:?}: other scores"))?;
    }
    Ok(())
}

fn broken_kernels() -> Result<(), Failed> {
    fn refused(what: &str, part: &str, edit: fn(&Kernel) -> String) -> Result<(), Failed> {
        match Case::new(BatchSampler::Shuffle).on_device(Some(edit)) {
            Ok(_) => Err(format!("the mutant passes: {what}").into()),
            Err(reason) => ensure(
                reason.contains("self-test: unit") && reason.contains(part),
                format!("{what}: {reason}"),
            ),
        }
    }
    Case::new(BatchSampler::Shuffle).on_device(Some(Kernel::source))?;
    refused("no momentum", "parameters", |kernel| {
        edited(kernel, "descend", "MOMENTUM * vector[place] + velocity", "velocity")
    })?;
    refused("a velocity that is not saved", "velocity", |kernel| {
        edited(kernel, "descend", "vector[place] = velocity;", "vector[place] = 0.0;")
    })?;
    refused("noise x 0.9", "parameters", |kernel| {
        edited(kernel, "noise", "NOISE * normal", "0.9 * NOISE * normal")
    })?;
    refused("the stream of the first unit", "row", |kernel| {
        edited(kernel, "select_included", "params.first_run_high), model)", "0u), 0u)")
    })?;
    refused("the coin of the next canary", "row", |kernel| {
        edited(
            kernel,
            "select_included",
            "is_included(record - BASE)",
            "is_included(record - BASE + 1u)",
        )
    })?;
    refused("every canary is included", "row", |kernel| {
        edited(kernel, "select_included", "record = NONE; }", "}")
    })?;
    refused("a batch shifted by one slot", "row", |kernel| {
        edited(
            kernel,
            "select_included",
            "BATCH_SIZE + index)",
            "BATCH_SIZE + (index + 1u) % RECORDS)",
        )
    })?;
    refused("the products of the next canary", "product", |kernel| {
        edited(kernel, "row_products", "COUNT + index)", "COUNT + (index + 1u) % COUNT)")
    })?;
    refused("sums without biases", "product", |kernel| {
        edited(kernel, "linear forward along the sum", "sum + sums[", "sum + 0.0 * sums[")
    })?;
    refused("the noisy sum of the next parameter", "product", |kernel| {
        edited(
            kernel,
            "linear forward along the sum",
            "out * INPUTS + at]",
            "out * INPUTS + at + 1u]",
        )
    })?;
    refused("the loss of another label", "loss", |kernel| {
        edited(kernel, "losses", "logit(row, label)", "logit(row, (label + 1u) % OUTPUTS)")
    })?;
    refused("the next canary in each row", "canary", |kernel| {
        edited(
            kernel,
            "consecutive",
            "FIRST_RECORD + index,",
            "FIRST_RECORD + (index + 1u) % COUNT,",
        )
    })
}

fn a_lost_device_costs_no_model() -> Result<(), Failed> {
    let case = Case::new(BatchSampler::Poisson);
    let case = Case { limits: WaveLimits { runs: 2, ..case.limits }, ..case };
    let (expected, _) = trained(&case.on_device(None)?, MODELS, &|_| {})?;
    let on_cpu = case.models()?.compute(&(), UnitRange { first: 0, end: MODELS }, &Unattended)?;
    for (lost_at, may_reopen) in [(0, true), (7, true), (40, true), (0, false), (40, false)] {
        let models = case.on_device(None)?;
        let lose = |call: usize| {
            if call == lost_at {
                if !may_reopen {
                    models.trainer().forbid_reopening();
                }
                models.trainer().lose_device();
            }
        };
        let (state, warnings) = trained(&models, MODELS, &lose)?;
        let end = if may_reopen { "reopened" } else { "continuing on the CPU" };
        let is_reported = warnings.len() == 1 && warnings[0].ends_with(end);
        ensure(is_reported, format!("lost at {lost_at}: {warnings:?}"))?;
        ensure((state.fallback_shards == 0) == may_reopen, format!("{:?}", state.devices))?;
        let is_trained = |model| {
            expected.evidence.models.contains(model) || !may_reopen && on_cpu.models.contains(model)
        };
        ensure(
            state.evidence.models.iter().all(is_trained),
            format!("lost at {lost_at}: other scores"),
        )?;
    }
    Ok(())
}

fn refusals() -> Result<(), Failed> {
    let refused = |case: Case, parts: &[&str]| -> Result<(), Failed> {
        let reason = case.on_device(None).map_or_else(|reason| reason, |_| String::new());
        let all = parts.iter().all(|part| reason.contains(part));
        ensure(all, format!("`{parts:?}` not in: {reason}"))
    };
    let usual = || Case::new(BatchSampler::Shuffle);
    let limits = WaveLimits::of_memory(1 << 10);
    refused(Case { limits, ..usual() }, &["one model needs", "may be used"])?;
    let settings = OneRunSettings { debias_records: 4, ..usual().settings };
    refused(Case { settings, ..usual() }, &["debias_records", "CPU only"])?;
    let models = usual().models()?;
    let adapter = adapter().ok_or("no adapter")?;
    match pollster::block_on(models.on_device(adapter, 1 << 26, &|| false)) {
        Err(refused) => ensure(matches!(refused.error, EngineError::Stopped), refused.error),
        Ok(_) => Err("the self-test did not stop".into()),
    }
}
