//! Federated trainings whose clients train on the GPU: the cosines of the CPU, whatever the waves and
//! faults.

use dpscope_core::audit::one_shot::CanaryDesign;
use dpscope_core::random::{Purpose, Words};
use dpscope_engine::{Unattended, UnitRange, Workload};
use dpscope_shaders::train::Kernel;
use dpscope_simulation::TrainingDigest;
use dpscope_train::data::Examples;
use dpscope_train::federated::{
    FederatedAttack, FederatedEvidence, FederatedModels, FederatedPlan, FederatedSettings,
    FederatedTraining, NoiseMechanism, Participation, UpdateClipping,
};
use dpscope_train::gpu::WaveLimits;
use dpscope_train::{LayerSpec, ModelSpec, Shape};
use libtest_mimic::{Failed, Trial};

use crate::audits::adapter;
use crate::training_runs::{edited, ensure, trained};

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        Trial::test("cosines_equal_those_of_the_cpu", cosines_equal_those_of_the_cpu),
        Trial::test("cosines_do_not_depend_on_waves", cosines_do_not_depend_on_waves),
        Trial::test("broken_local_training_is_rejected", broken_local_training_is_rejected),
        Trial::test("a_lost_device_costs_no_federated_model", a_lost_device_costs_no_model),
    ]
}

const SEED: u64 = 5;
const MODELS: u64 = 4;

/// A training, and what the device may use.
#[derive(Clone)]
struct Case {
    settings: FederatedSettings,
    layers: Vec<LayerSpec>,
    limits: WaveLimits,
}

impl Case {
    /// Local batches of 4 of 7 records: the last of each epoch is smaller.
    fn new() -> Self {
        let settings = FederatedSettings {
            clients: 30,
            records_per_client: 7,
            concentration: Some(0.5),
            rounds: 4,
            participation: Participation::Poisson { rate: 0.3 },
            presentations: None,
            local_epochs: 2,
            local_batch_size: 4,
            local_learning_rate: 0.5,
            clipping: UpdateClipping::Fixed { norm: 0.3 },
            noise_multiplier: 0.2,
            noise_mechanism: NoiseMechanism::Gaussian,
            server_learning_rate: 1.0,
            server_momentum: 0.9,
            sees_updates: true,
        };
        let layers = vec![
            LayerSpec::Linear { outputs: 7 },
            LayerSpec::Tanh,
            LayerSpec::Linear { outputs: 4 },
        ];
        Case { settings, layers, limits: WaveLimits::of_memory(1 << 26) }
    }

    fn models(&self) -> Result<FederatedModels, Failed> {
        let shape = Shape::flat(9);
        let mut words = Words::new(9, Purpose::Test, 1);
        let records = 210;
        let labels = (0..records).map(|_| words.below(4)).collect();
        let sign = |_| if words.next_word() & 1 == 1 { 1.0 } else { -1.0 };
        let values = (0..records * shape.len()).map(sign).collect();
        let examples = Examples::from_values("signs", shape, 4, labels, values).ok_or("no data")?;
        let spec = ModelSpec { input: shape, layers: self.layers.clone() };
        let training = FederatedTraining::new(&spec, examples, self.settings, SEED)?;
        let plan = FederatedPlan {
            design: CanaryDesign::Poisson { mean: 6.0 },
            repeats: 3,
            without_canaries: 1,
            unseen: 5,
            attack: FederatedAttack::FinalModel,
            delta: 1e-5,
            significance: 0.05,
            seed: SEED,
            training: TrainingDigest::of(training.description()),
        };
        Ok(FederatedModels::new(plan, training, 0)?)
    }

    fn on_device(&self, edit: Option<fn(&Kernel) -> String>) -> Result<FederatedModels, String> {
        let models = self.models().map_err(|_| "no models")?;
        let adapter = adapter().ok_or("no adapter")?;
        let opening = models.on_device_within(adapter, self.limits, edit, &|| true);
        let opened = pollster::block_on(opening);
        opened.map_err(|refused| refused.error.to_string())
    }
}

/// The largest difference of two cosines, over all models and attacks.
fn distance(found: &FederatedEvidence, expected: &FederatedEvidence) -> f64 {
    let mut largest = 0.0_f64;
    for (found, expected) in found.models.iter().zip(&expected.models) {
        for attack in FederatedAttack::ALL {
            let (found, expected) = (found.cosines(attack), expected.cosines(attack));
            if found.len() != expected.len() {
                return f64::INFINITY;
            }
            let away = found.iter().zip(expected).map(|(a, b)| (a - b).abs());
            largest = away.fold(largest, f64::max);
        }
    }
    largest
}

fn cosines_equal_those_of_the_cpu() -> Result<(), Failed> {
    let mut adaptive = Case::new();
    adaptive.settings.clipping =
        UpdateClipping::Adaptive { initial: 0.1, quantile: 0.5, learning_rate: 0.2 };
    adaptive.settings.participation = Participation::Shuffled { epochs: 2 };
    adaptive.settings.noise_mechanism = NoiseMechanism::Tree;
    let mut whole = Case::new();
    whole.settings.local_batch_size = 100;
    whole.settings.participation = Participation::FixedSize { cohort: 11 };
    let mut last = None;
    for case in [Case::new(), adaptive, whole] {
        let models = case.on_device(None)?;
        let (found, warnings) = trained(&models, MODELS, &|_| {})?;
        ensure(warnings.is_empty() && found.fallback_shards == 0, format!("{warnings:?}"))?;
        let expected = models.compute(&(), UnitRange { first: 0, end: MODELS }, &Unattended)?;
        let away = distance(&found.evidence, &expected);
        ensure(away < 1e-3, format!("{:?}: cosines differ by {away}", case.settings))?;
        last = Some((found.evidence, expected));
    }
    // the mutant: the cosines of another canary
    let (found, mut expected) = last.ok_or("no case")?;
    expected.models[0].final_model.rotate_left(1);
    ensure(distance(&found, &expected) > 0.01, "canaries are alike")
}

fn cosines_do_not_depend_on_waves() -> Result<(), Failed> {
    let case = Case::new();
    let (whole, _) = trained(&case.on_device(None)?, MODELS, &|_| {})?;
    let limits = case.limits;
    for limits in
        [WaveLimits { runs: 1, ..limits }, WaveLimits { runs: 5, work: 1 << 14, ..limits }]
    {
        let models = Case { limits, ..case.clone() }.on_device(None)?;
        let (other, _) = trained(&models, MODELS, &|_| {})?;
        ensure(other.evidence == whole.evidence, format!("{limits:?}: other cosines"))?;
    }
    Ok(())
}

fn broken_local_training_is_rejected() -> Result<(), Failed> {
    fn refused(what: &str, edit: fn(&Kernel) -> String) -> Result<(), Failed> {
        match Case::new().on_device(Some(edit)) {
            Ok(_) => Err(format!("the mutant passes: {what}").into()),
            Err(reason) => {
                ensure(reason.contains("self-test: client"), format!("{what}: {reason}"))
            }
        }
    }
    Case::new().on_device(Some(Kernel::source))?;
    refused("the rate of the first model", |kernel| {
        edited(kernel, "descend", "rows[model * ROW_WORDS + ROWS]", "rows[ROWS - 1u]")
    })?;
    refused("a rate x 0.9", |kernel| {
        edited(kernel, "descend", "rate * velocity", "0.9 * rate * velocity")
    })?;
    refused("parameters of the first model", |kernel| {
        edited(kernel, "descend", "theta[place] -= rate", "theta[place] = theta[at] - rate")
    })?;
    refused("steps that leave the parameters as they are", |kernel| {
        edited(kernel, "descend", "theta[place] -= rate", "theta[place] -= 0.0 * rate")
    })?;
    refused("gradients that are clipped", |kernel| {
        edited(kernel, "factors", "min(bounded, 1.0)", "min(bounded, 0.5)")
    })?;
    refused("rounds that start from other parameters than the server's", |kernel| {
        edited(kernel, "descend", "theta[place] -=", "theta[place] = bitcast<f32>(data[at]) -")
    })?;
    // what a step leaves behind
    refused("sums that are not reset between steps", |kernel| {
        let source = kernel.source();
        source.replace("params.is_first_pass == 1u", "params.is_first_pass == 2u")
    })
}

fn a_lost_device_costs_no_model() -> Result<(), Failed> {
    let case = Case::new();
    let (expected, _) = trained(&case.on_device(None)?, MODELS, &|_| {})?;
    let on_cpu = case.models()?.compute(&(), UnitRange { first: 0, end: MODELS }, &Unattended)?;
    for (lost_at, may_reopen) in [(0, true), (7, true), (0, false), (7, false)] {
        let models = case.on_device(None)?;
        let lose = |call: usize| {
            if call == lost_at {
                if !may_reopen {
                    models.trainer().forbid_reopening();
                }
                models.trainer().lose_device();
            }
        };
        let (found, warnings) = trained(&models, MODELS, &lose)?;
        ensure(!warnings.is_empty(), format!("lost at {lost_at}: no warning"))?;
        let expected = if may_reopen { &expected.evidence } else { &on_cpu };
        ensure(distance(&found.evidence, expected) < 1e-3, format!("lost at {lost_at}"))?;
    }
    Ok(())
}
