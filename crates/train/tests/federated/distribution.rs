//! Scores of canaries against the distribution of the linear part of a training.

use dpscope_core::audit::one_shot::{CosineNull, ScoreChecks};
use dpscope_core::random::{Purpose, Words};
use dpscope_engine::{Shard, Unattended, begin, run};
use dpscope_train::federated::{
    FederatedAttack, FederatedModels, FederatedPlan, FederatedSettings, FederatedTraining,
};

use crate::oracle::{Fault, Oracle};
use crate::{linear, plan, settings, signs};

const INPUTS: usize = 1_500;
const CLASSES: usize = 10;
const CANARIES: f64 = 300.0;

/// Mean normal score of the canaries in the final model, that of the linear part, that of a linear part
/// without momentum, and the number of canaries.
fn scores(settings: FederatedSettings, seed: u64) -> (f64, f64, f64, f64) {
    let examples = || signs(INPUTS, CLASSES);
    let training =
        FederatedTraining::new(&linear(INPUTS, CLASSES), examples(), settings, seed).unwrap();
    let plan = FederatedPlan { seed, unseen: 1, ..plan(&training, CANARIES) };
    let plan = FederatedPlan { repeats: 1, without_canaries: 0, ..plan };
    let models = FederatedModels::new(plan, training, 1).unwrap();
    let start = begin(&models, Shard::WHOLE.range(1).unwrap(), &Unattended).unwrap();
    let found = pollster::block_on(run(&models, start, &Unattended)).unwrap().evidence;
    let training = models.training();
    let null = CosineNull::new(training.parameters() as u64).unwrap();
    let cosines = found.models[0].cosines(FederatedAttack::FinalModel);
    let canaries = cosines.len() as f64;
    let mean = ScoreChecks::new(&null.tails(cosines).unwrap()).standardised_mean();
    let initial = training.initial().iter().map(|&value| f64::from(value)).collect();
    let examples = examples();
    let oracle =
        Oracle { training, examples: &examples, initial, seed, expected_canaries: CANARIES };
    let trained = oracle.trained(0, found.models[0].canaries, Fault::None);
    let momentum = settings.server_momentum;
    let (expected, without) = (trained.expected_mean(momentum), trained.expected_mean(0.0));
    (mean / canaries.sqrt(), expected, without, canaries)
}

#[test]
fn mean_scores_are_those_of_the_linear_part() {
    let mut words = Words::new(11, Purpose::Test, 2);
    for (momentum, presentations) in [(0.0, 1), (0.0, 4), (0.9, 1), (0.9, 4)] {
        let settings = FederatedSettings {
            rounds: 8,
            presentations: Some(presentations),
            server_momentum: momentum,
            noise_multiplier: 0.2,
            local_learning_rate: 0.05,
            ..settings()
        };
        let mut rejected = 0;
        for _ in 0..4 {
            let (mean, expected, without, canaries) = scores(settings, words.next_word().into());
            let limit = 3.0 / canaries.sqrt();
            assert!((mean - expected).abs() <= limit, "{mean}, {expected} ± {limit}");
            // a mistake: the weights of a server without momentum
            rejected += u32::from((mean - without).abs() > limit);
        }
        assert_eq!(rejected > 0, momentum > 0.0, "{momentum} {presentations}");
    }
}
