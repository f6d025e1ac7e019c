//! Compares metagradients with finite differences of whole trainings, and checkpoint schedules with
//! each other.

use dpscope_core::math::{powi, sin};
use dpscope_train::metagradient::{
    Checkpointing, InnerTraining, Interruption, Occurrence, Optimizer, Record, Records,
    ReferenceDerivatives, rough_layer,
};
use dpscope_train::{LayerSpec, ModelSpec, Network, Shape};

const INPUTS: usize = 3;
const CANARIES: usize = 4;

/// InnerTraining data of two classes.
struct Waves;

impl Records<f64> for Waves {
    fn append(&self, record: u32, examples: &mut Vec<f64>) -> u32 {
        let value = |input| 0.5 + 0.4 * sin(f64::from(7 * record + 3 * input + 1));
        examples.extend((0..INPUTS as u32).map(value));
        record % 2
    }
}

/// A training of a small network.
struct Setup {
    network: Network,
    initial: Vec<f64>,
    batches: Vec<Vec<Occurrence>>,
    learning_rates: Vec<f64>,
    optimizer: Optimizer,
    clip_norm: Option<f64>,
}

impl Setup {
    fn new(steps: usize, optimizer: Optimizer) -> Self {
        let layers =
            [LayerSpec::Linear { outputs: 4 }, LayerSpec::Tanh, LayerSpec::Linear { outputs: 2 }];
        let spec = ModelSpec { input: Shape::flat(INPUTS), layers: layers.to_vec() };
        let network = Network::new(&spec).expect("the model is valid");
        let initial = (0..network.parameters()).map(|p| 0.7 * sin(1.7 * p as f64 + 0.5)).collect();
        let row = |record| Occurrence { record, augmentation: None };
        let batch = |step: usize| {
            let base = (0..2).map(|at| Record::Base((2 * step + at) as u32 % 6));
            let canary = Record::Canary((step % 2 * 2) as u32);
            base.chain([canary]).map(row).collect()
        };
        let batches = (0..steps).map(batch).collect();
        let rate = if matches!(optimizer, Optimizer::Adam { .. }) { 0.03 } else { 0.2 };
        Setup {
            network,
            initial,
            batches,
            learning_rates: vec![rate; steps],
            optimizer,
            clip_norm: None,
        }
    }

    fn with<T>(&self, use_training: impl FnOnce(&InnerTraining<'_, f64>) -> T) -> T {
        use_training(&InnerTraining {
            base: &Waves,
            labels: &[1, 0, 1, 0],
            weights: &[1.0, -1.0, 1.0, -1.0],
            initial: &self.initial,
            batches: &self.batches,
            learning_rates: &self.learning_rates,
            rule: &self.optimizer,
            clip_norm: self.clip_norm,
            noise: None,
            keep_going: &|| true,
        })
    }

    fn metagradient(
        &self,
        canaries: &[f64],
        schedule: Checkpointing,
    ) -> Result<dpscope_train::metagradient::Metagradient<f64>, Interruption> {
        let mut derivatives = ReferenceDerivatives::new(&self.network);
        self.with(|training| training.metagradient(&mut derivatives, canaries, schedule))
    }
}

fn canaries(shift: f64) -> Vec<f64> {
    let value = |p: usize| 0.5 + 0.4 * sin(2.1 * p as f64);
    (0..INPUTS * CANARIES).map(|p| value(p) + shift * sin(1.9 * p as f64 + 1.0)).collect()
}

fn optimizers() -> [Optimizer; 5] {
    let (momentum, weight_decay) = (0.9, 0.02);
    [
        Optimizer::SGD,
        Optimizer::Momentum { momentum, weight_decay },
        Optimizer::Nesterov { momentum, weight_decay },
        Optimizer::DecoupledDecay { momentum, weight_decay },
        Optimizer::Adam {
            beta1: 0.9,
            beta2: 0.99,
            epsilon: 1e-3,
            epsilon_root: 1e-4,
            weight_decay,
        },
    ]
}

#[test]
fn differences_converge_to_the_metagradient() {
    for optimizer in optimizers() {
        for clip_norm in [None, Some(0.3)] {
            let setup = Setup { clip_norm, ..Setup::new(7, optimizer) };
            let at = |shift| setup.metagradient(&canaries(shift), Checkpointing::StoreAll);
            let found = at(0.0).expect("the training converges");
            let along: f64 = found
                .gradient
                .iter()
                .enumerate()
                .map(|(p, value)| value * sin(1.9 * p as f64 + 1.0))
                .sum();
            let direct: f64 = found
                .direct
                .iter()
                .enumerate()
                .map(|(p, value)| value * sin(1.9 * p as f64 + 1.0))
                .sum();
            let objective = |shift| at(shift).expect("the training converges").objective;
            let error = |h: f64, derivative: f64| {
                ((objective(h) - objective(-h)) / (2.0 * h) - derivative).abs()
            };
            let [coarse, fine, finest] = [1e-2, 1e-3, 1e-4].map(|h| error(h, along));
            let what = format!("{optimizer:?} {clip_norm:?}: {coarse:e} {fine:e} {finest:e}");
            // A gradient that begins to be clipped has no third derivative.
            let ratio = if clip_norm.is_some() { 20.0..500.0 } else { 90.0..110.0 };
            assert!(ratio.contains(&(coarse / fine)), "{what}");
            assert!(finest < 1e-7, "{what}");
            assert!(error(1e-4, direct) > 1e-3, "{what}: the direct part alone");
        }
    }
}

#[test]
fn schedules_return_the_same_bits() {
    for (index, steps) in [1, 2, 8, 37, 500].into_iter().enumerate() {
        let setup = Setup::new(steps, optimizers()[(index + 1) % 5]);
        let run = |schedule| setup.metagradient(&canaries(0.0), schedule).expect("it converges");
        let bits = |values: &[f64]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
        let stored = run(Checkpointing::StoreAll);
        assert_eq!(stored.cost.forward_steps, steps as u64);
        let revolve = [1, 3, 9].map(|states| Checkpointing::Revolve { states });
        for schedule in revolve.into_iter().chain([Checkpointing::TwoLevel]) {
            if steps == 500 && schedule == (Checkpointing::Revolve { states: 1 }) {
                continue;
            }
            let found = run(schedule);
            assert_eq!(bits(&found.gradient), bits(&stored.gradient), "{steps} {schedule:?}");
            assert_eq!(bits(&found.parameters), bits(&stored.parameters), "{steps} {schedule:?}");
            assert_eq!(found.objective.to_bits(), stored.objective.to_bits());
            assert!(
                steps < 3 || found.cost.forward_steps > stored.cost.forward_steps || {
                    found.cost.most_states >= steps
                }
            );
        }
        // Other canaries have other bits.
        let other = setup.metagradient(&canaries(1e-9), Checkpointing::StoreAll);
        assert_ne!(bits(&other.expect("it converges").gradient), bits(&stored.gradient));
    }
}

#[test]
fn diverging_and_cancelled_trainings_are_reported() {
    let mut setup = Setup::new(300, Optimizer::SGD);
    let cancelled = setup.with(|training| {
        let training = InnerTraining { keep_going: &|| false, ..*training };
        let mut derivatives = ReferenceDerivatives::new(&setup.network);
        training.metagradient(&mut derivatives, &canaries(0.0), Checkpointing::StoreAll)
    });
    assert_eq!(cancelled, Err(Interruption::Cancelled));
    setup.optimizer = Optimizer::DecoupledDecay { momentum: 0.0, weight_decay: 1.0 };
    setup.learning_rates.fill(powi(10.0, 3));
    let diverged = setup.metagradient(&canaries(0.0), Checkpointing::StoreAll);
    assert_eq!(diverged, Err(Interruption::Diverged));
}

#[test]
fn rough_layers_are_found() {
    let rough = |spec: &ModelSpec| rough_layer(&Network::new(spec).expect("the model is valid"));
    assert_eq!(rough(&ModelSpec::lenet()), None);
    let found = rough(&ModelSpec::mlp()).expect("ReLU is rough");
    assert_eq!((found.layer, found.kind), (2, "relu"));
    assert!(rough(&ModelSpec::cnn()).is_some_and(|found| found.to_string().contains("max-pool")));
}

#[test]
fn settings_outside_their_domain_are_named() {
    let invalid = Optimizer::Nesterov { momentum: 1.0, weight_decay: 0.0 };
    assert_eq!(invalid.first_invalid(), Some(("momentum", 1.0, "in [0, 1)")));
    let Optimizer::Adam { beta1, beta2, epsilon, weight_decay, .. } = optimizers()[4] else {
        unreachable!("the last is Adam")
    };
    let invalid = Optimizer::Adam { beta1, beta2, epsilon, epsilon_root: 0.0, weight_decay };
    assert_eq!(invalid.first_invalid().map(|(name, ..)| name), Some("epsilon_root"));
    assert!(optimizers().iter().all(|optimizer| optimizer.first_invalid().is_none()));
}
