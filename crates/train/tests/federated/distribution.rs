//! Scores of canaries against the distribution of the linear part of a training.

use dpscope_core::audit::one_shot::{CosineNull, ScoreChecks};
use dpscope_core::random::{Purpose, Words};
use dpscope_engine::{Shard, Unattended, begin, run};
use dpscope_train::federated::{
    FederatedAttack, FederatedModels, FederatedPlan, FederatedSettings, FederatedTraining,
    NoiseMechanism, Participation,
};

use crate::federated::oracle::{Fault, Oracle};
use crate::federated::{BANDED, SEED, idle, linear, mean_score, plan, settings, signs};

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

/// Mean √d·cosine of canaries whose two rounds are known, and its standard error.
fn known_rounds(noise_mechanism: NoiseMechanism) -> (f64, f64) {
    let participation = Participation::MinSeparation { epochs: 2 };
    let settings = FederatedSettings { noise_mechanism, clients: 4, ..idle(participation) };
    let training =
        FederatedTraining::new(&linear(400, 10), signs(400, 10), settings, SEED).unwrap();
    let plan = FederatedPlan { repeats: 60, without_canaries: 0, ..plan(&training, 4.0) };
    let models = FederatedModels::new(plan, training, 2).unwrap();
    let start = begin(&models, Shard::WHOLE.range(60).unwrap(), &Unattended).unwrap();
    let done = pollster::block_on(run(&models, start, &Unattended)).unwrap();
    mean_score(&models, &done.evidence.models, FederatedAttack::KnownRounds)
}

#[test]
fn known_rounds_show_the_sensitivity_of_their_noise() {
    // mean ‖S·1_R‖ over the pairs of rounds (1, 5), (2, 6), (3, 7) and (4, 8); the sums of a tree are
    // those of the rounds 1, 1–2, 3, 1–4, 5, 5–6, 7 and 1–8
    let tree = [9.0_f64, 7.0, 7.0, 5.0].map(f64::sqrt).iter().sum::<f64>() / 4.0;
    // the last columns of a band of three miss entries: 1, 1/4 and 9/64, over their sum 89/64
    let last = [89.0_f64, 89.0, 80.0, 64.0].map(|square| (1.0 + square / 89.0).sqrt());
    let banded = last.iter().sum::<f64>() / 4.0;
    let independent = 2.0_f64.sqrt();
    for (mechanism, length, mistaken) in [
        (NoiseMechanism::Gaussian, independent, tree),
        (NoiseMechanism::Tree, tree, independent),
        (BANDED, banded, tree),
    ] {
        let (mean, error) = known_rounds(mechanism);
        // other canaries hide a little
        let is_near = |length: f64| (mean - length / 0.4).abs() < 5.0 * error + 0.1;
        assert!(is_near(length) && !is_near(mistaken), "{mechanism:?}: {mean} ± {error}");
    }
}

#[test]
fn the_noise_of_a_round_is_estimated_from_its_canaries() {
    for sigma in [0.4, 0.8] {
        let participation = Participation::Shuffled { epochs: 1 };
        let settings = FederatedSettings { noise_multiplier: sigma, ..idle(participation) };
        let training =
            FederatedTraining::new(&linear(400, 10), signs(400, 10), settings, SEED).unwrap();
        let plan = FederatedPlan { repeats: 20, without_canaries: 0, ..plan(&training, 80.0) };
        let models = FederatedModels::new(plan, training, 2).unwrap();
        let start = begin(&models, Shard::WHOLE.range(20).unwrap(), &Unattended).unwrap();
        let evidence = pollster::block_on(run(&models, start, &Unattended)).unwrap().evidence;
        let size = models.training().parameters() as u64;
        let noise = evidence.round_noise(20, size).unwrap();
        assert_eq!(noise.server_rounds(), 20 * u64::from(settings.rounds));
        // a canary of one round has the cosine of that round; others in it add 1/d each to a square
        let (mean, error) = mean_score(&models, &evidence.models, FederatedAttack::KnownRounds);
        assert!((noise.gdp_mu() - mean).abs() < error, "{noise:?} {mean} ± {error}");
        let [low, high] = noise.gdp_mu_range();
        let holds = |mu: f64| low - 0.05 < mu && mu < high + 0.05;
        assert!(holds(1.0 / sigma) && !holds(0.8 / sigma), "{noise:?}");
        assert!(noise.most_gdp_mu() > 5.0 * high, "{noise:?}");
    }
}
