//! Every check of a server of an audit with canary clients: on a sound server it fires no more often
//! than its significance allows, and on a server with the fault that it is for in every run.

use dpscope_core::audit::one_run::{CanaryClass, OneRunFinding};
use dpscope_core::audit::one_shot::{
    ClaimedParticipation, CosineNull, DeclaredNumber, NullTails, ReplyWeights, ScoreChecks,
    StatedNoise, UpdateResidual, class_score_finding, control_finding, unseen_finding,
};
use dpscope_simulation::CanaryDirections;
use dpscope_tests::Draws;

use crate::budget::Misses;

const DIMENSION: usize = 1_000;
const CANARIES: usize = 80;
const UNSEEN: usize = 200;
const CLIENTS: usize = 12;
const ROUNDS: usize = 6;
/// Server rounds of each canary.
const OWN_ROUNDS: usize = 2;
const CLIP_NORM: f64 = 0.5;
const NOISE_MULTIPLIER: f64 = 0.6;
/// Norm of the control client, in units of the clipping norm.
const CONTROL: f64 = 4.0;
const CONTROL_INDEX: u64 = u64::MAX;

const FAULTY_RUNS: u64 = 20;
const SOUND_RUNS: u64 = 200;

/// The significance of every check but that of the signs.
const LEVEL: f64 = 1e-5;

/// A mistake of a server, or of what its operator hands to the audit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    None,
    NoNoise,
    HalfNoise,
    /// Noise for the mean, added to the sum.
    NoiseOfMean,
    ReusedNoise,
    /// Canaries send five times the clipping norm, which is not clipped.
    Unclipped,
    /// Only updates of more than five times the clipping norm escape clipping.
    LoudUnclipped,
    /// The mean is released, and called a sum.
    MeanForSum,
    WeightsByExamples,
    FewReplies,
    EveryRound,
    WrongFlattening,
    WrongDimension,
    WrongSign,
}

impl Fault {
    /// In units of the clipping norm.
    fn norm_of_canary(self, canary: usize, examples: &[f64], loudness: &[f64]) -> f64 {
        match self {
            Fault::Unclipped => 5.0,
            Fault::LoudUnclipped => loudness[canary],
            Fault::WeightsByExamples => {
                examples[canary] * CANARIES as f64 / examples.iter().sum::<f64>()
            }
            _ => 1.0,
        }
    }

    fn noise_multiplier(self) -> f64 {
        match self {
            Fault::NoNoise => 0.0,
            Fault::HalfNoise => 0.5 * NOISE_MULTIPLIER,
            Fault::NoiseOfMean => NOISE_MULTIPLIER / CLIENTS as f64,
            _ => NOISE_MULTIPLIER,
        }
    }

    /// What the audit is given in place of a sum.
    fn released(self, sum: Vec<f64>) -> Vec<f64> {
        match self {
            Fault::MeanForSum => sum.into_iter().map(|x| x / CLIENTS as f64).collect(),
            Fault::WrongSign => sum.into_iter().map(|x| -x).collect(),
            Fault::WrongFlattening => by_columns(&sum),
            _ => sum,
        }
    }
}

/// What an auditor knows of one training.
struct Training {
    /// Releases, each a sum of clipped updates with noise.
    updates: Vec<Vec<f64>>,
    own_rounds: Vec<Vec<usize>>,
    /// Number of examples and loudness of each canary, drawn by lot.
    examples: Vec<f64>,
    loudness: Vec<f64>,
    directions: Vec<Vec<f64>>,
    unseen: Vec<Vec<f64>>,
    control: Vec<f64>,
    replies: Vec<f64>,
    null: CosineNull,
}

fn dot(one: &[f64], other: &[f64]) -> f64 {
    one.iter().zip(other).map(|(a, b)| a * b).sum()
}

fn add(sum: &mut [f64], factor: f64, other: &[f64]) {
    sum.iter_mut().zip(other).for_each(|(sum, x)| *sum += factor * x);
}

fn noise(draws: &mut Draws) -> Vec<f64> {
    (0..DIMENSION).map(|_| draws.normal()).collect()
}

fn train(seed: u64, fault: Fault) -> Training {
    let mut draws = Draws::of_run(2_303, seed);
    let mut all = CanaryDirections::new(seed, DIMENSION);
    let directions: Vec<_> = (0..CANARIES).map(|i| all.direction(i as u64)).collect();
    let unseen = (CANARIES..CANARIES + UNSEEN).map(|i| all.direction(i as u64)).collect();
    let control = all.direction(CONTROL_INDEX);
    let of = |values: [f64; 4], draws: &mut Draws| -> Vec<f64> {
        (0..CANARIES).map(|_| values[draws.below(4)]).collect()
    };
    let examples = of([1.0, 1.0, 10.0, 100.0], &mut draws);
    let loudness = of([1.0, 1.0, 1.0, 10.0], &mut draws);
    let rounds_of = |draws: &mut Draws| {
        let mut rounds: Vec<usize> = (0..ROUNDS).collect();
        draws.shuffle(&mut rounds);
        rounds.truncate(if fault == Fault::EveryRound { ROUNDS } else { OWN_ROUNDS });
        rounds
    };
    let own_rounds: Vec<Vec<usize>> = (0..CANARIES).map(|_| rounds_of(&mut draws)).collect();
    let sent = |canary: usize| fault.norm_of_canary(canary, &examples, &loudness);
    let client_directions: Vec<_> = (0..CLIENTS).map(|_| noise(&mut draws)).collect();
    let mut last_noise = noise(&mut draws);
    let mut update = |round: usize| {
        if fault != Fault::ReusedNoise {
            last_noise = noise(&mut draws);
        }
        let mut sum = vec![0.0; DIMENSION];
        add(&mut sum, fault.noise_multiplier() * CLIP_NORM, &last_noise);
        for direction in &client_directions {
            // clients that drift: the sum has a part of each round's own
            let length = CLIP_NORM * (0.5 + 0.5 * draws.uniform());
            add(&mut sum, length / dot(direction, direction).sqrt(), direction);
        }
        for canary in (0..CANARIES).filter(|&canary| own_rounds[canary].contains(&round)) {
            add(&mut sum, CLIP_NORM * sent(canary), &directions[canary]);
        }
        add(&mut sum, CLIP_NORM * CONTROL, &control);
        fault.released(sum)
    };
    let updates = (0..ROUNDS).map(&mut update).collect();
    let replies = match fault {
        Fault::FewReplies => vec![1.0; CLIENTS - 1],
        Fault::WeightsByExamples => examples.iter().copied().take(CLIENTS).collect(),
        _ => vec![1.0; CLIENTS],
    };
    let dimension = if fault == Fault::WrongDimension { 10 * DIMENSION } else { DIMENSION };
    let null = CosineNull::new(dimension as u64).expect("valid");
    Training { updates, own_rounds, examples, loudness, directions, unseen, control, replies, null }
}

/// A layer of 40 columns, flattened in Fortran order.
fn by_columns(values: &[f64]) -> Vec<f64> {
    let columns = 40;
    let rows = values.len() / columns;
    (0..values.len()).map(|i| values[columns * (i % rows) + i / rows]).collect()
}

impl Training {
    const STATED: StatedNoise =
        StatedNoise { noise_multiplier: NOISE_MULTIPLIER, clip_norm: CLIP_NORM };

    /// The sum of all updates, each scaled to norm 1, and the factors.
    fn scaled_sum(&self) -> (Vec<f64>, Vec<f64>) {
        let mut sum = vec![0.0; DIMENSION];
        let factor = |update: &Vec<f64>| dot(update, update).sqrt().recip();
        let factors: Vec<f64> = self.updates.iter().map(factor).collect();
        self.updates.iter().zip(&factors).for_each(|(update, f)| add(&mut sum, *f, update));
        (sum, factors)
    }

    fn cosines(&self, directions: &[Vec<f64>]) -> Vec<f64> {
        let (sum, _) = self.scaled_sum();
        let norm = dot(&sum, &sum).sqrt();
        directions.iter().map(|direction| dot(direction, &sum) / norm).collect()
    }

    fn tails(&self, directions: &[Vec<f64>]) -> NullTails {
        self.null.tails(&self.cosines(directions)).expect("cosines")
    }

    /// ⟨c, a⟩/|R| and ‖a‖/|R| of each canary.
    fn products(&self) -> Vec<(f64, f64)> {
        let of = |(direction, rounds): (&Vec<f64>, &Vec<usize>)| {
            let mut sum = vec![0.0; DIMENSION];
            rounds.iter().for_each(|&round| add(&mut sum, 1.0, &self.updates[round]));
            let count = rounds.len() as f64;
            (dot(direction, &sum) / count, dot(&sum, &sum).sqrt() / count)
        };
        self.directions.iter().zip(&self.own_rounds).map(of).collect()
    }

    fn noise(&self) -> Option<OneRunFinding> {
        let squares: Vec<f64> = self.updates.iter().map(|update| dot(update, update)).collect();
        Self::STATED.noise_finding(&squares, DIMENSION as u64).expect("valid")
    }

    fn reuse(&self) -> Option<OneRunFinding> {
        let row = |i: usize| -> Vec<f64> {
            (0..=i).map(|j| dot(&self.updates[i], &self.updates[j])).collect()
        };
        let residual =
            |last: usize| UpdateResidual::of_last(&(0..=last).map(row).collect::<Vec<_>>());
        let residuals: Vec<_> = (0..ROUNDS).map(residual).collect();
        Self::STATED.reuse_finding(&residuals, DIMENSION as u64).expect("valid")
    }

    fn weight(&self) -> Option<OneRunFinding> {
        Self::STATED.weight_finding(&self.products(), DIMENSION as u64, CLIENTS as u64)
    }

    /// The mean of ⟨c, a⟩/(C|R|), less 1, in standard errors.
    fn z_of_weight(&self) -> f64 {
        let products = self.products();
        let sum: f64 = products.iter().map(|(product, _)| product - CLIP_NORM).sum();
        let square: f64 = products.iter().map(|(_, norm)| norm * norm).sum();
        sum / (square / DIMENSION as f64).sqrt()
    }

    fn class(&self, class: CanaryClass) -> Option<OneRunFinding> {
        let declared = self.declared(class);
        Self::STATED.class_finding(class, &self.products(), &declared, DIMENSION as u64)
    }

    fn class_of_scores(&self, class: CanaryClass) -> Option<OneRunFinding> {
        let cosines = self.cosines(&self.directions);
        class_score_finding(&self.null, class, &cosines, &self.declared(class)).expect("cosines")
    }

    fn declared(&self, class: CanaryClass) -> Vec<DeclaredNumber> {
        let numbers = |class| match class {
            CanaryClass::Weight => &self.examples,
            CanaryClass::Loudness => &self.loudness,
        };
        let pairs = numbers(class).iter().zip(numbers(class.other()));
        pairs.map(|(&value, &within)| DeclaredNumber { value, within: Some(within) }).collect()
    }

    fn replies(&self) -> Vec<OneRunFinding> {
        let weights = ReplyWeights::new(&self.replies).expect("positive");
        Self::STATED.reply_findings(1, &weights, CLIENTS as u64)
    }

    fn participation(&self) -> Option<OneRunFinding> {
        let (_, weights) = self.scaled_sum();
        let claimed = ClaimedParticipation {
            noise_multiplier: NOISE_MULTIPLIER,
            participations: OWN_ROUNDS as u64,
            weights: &weights,
        };
        let tails = self.tails(&self.directions);
        claimed.finding(&ScoreChecks::new(&tails), CANARIES as u64)
    }

    fn control(&self) -> Option<OneRunFinding> {
        let cosine = self.cosines(std::slice::from_ref(&self.control))[0];
        control_finding(&self.null, cosine, 1, true).expect("a cosine")
    }

    fn unseen(&self) -> Option<OneRunFinding> {
        unseen_finding(&self.tails(&self.unseen))
    }

    fn sign(&self) -> Option<OneRunFinding> {
        let tails = self.tails(&self.directions);
        let findings = ScoreChecks::new(&tails).findings().expect("few canaries");
        findings.into_iter().find(|found| matches!(found, OneRunFinding::CosinesReversed { .. }))
    }
}

/// A check, its significance, and the faults that it must find.
type Detector = (&'static str, f64, fn(&Training) -> bool, &'static [Fault]);

const DETECTORS: [Detector; 13] = [
    (
        "noise below the stated one",
        LEVEL,
        |training| training.noise().is_some(),
        &[Fault::NoNoise, Fault::HalfNoise, Fault::NoiseOfMean, Fault::MeanForSum],
    ),
    (
        "noise reused",
        LEVEL,
        |training| training.noise().is_none() && training.reuse().is_some(),
        &[Fault::ReusedNoise],
    ),
    (
        "norm of canaries",
        LEVEL,
        |training| training.weight().is_some(),
        &[Fault::Unclipped, Fault::LoudUnclipped, Fault::MeanForSum],
    ),
    (
        "loud against quiet canaries",
        LEVEL,
        |training| training.class(CanaryClass::Loudness).is_some(),
        &[Fault::LoudUnclipped],
    ),
    (
        "scores of loud against quiet canaries",
        LEVEL,
        |training| training.class_of_scores(CanaryClass::Loudness).is_some(),
        &[Fault::LoudUnclipped],
    ),
    (
        "slope on the number of examples",
        LEVEL,
        |training| training.class(CanaryClass::Weight).is_some(),
        &[Fault::WeightsByExamples],
    ),
    (
        "slope of scores on the number of examples",
        LEVEL,
        |training| training.class_of_scores(CanaryClass::Weight).is_some(),
        &[Fault::WeightsByExamples],
    ),
    (
        "weights of replies",
        0.0,
        |training| {
            let is_unequal =
                |finding: &OneRunFinding| matches!(finding, OneRunFinding::UnequalReplies { .. });
            training.replies().iter().any(is_unequal)
        },
        &[Fault::WeightsByExamples],
    ),
    (
        "number of replies",
        0.0,
        |training| {
            let are_few =
                |finding: &OneRunFinding| matches!(finding, OneRunFinding::FewReplies { .. });
            training.replies().iter().any(are_few)
        },
        &[Fault::FewReplies],
    ),
    (
        "participation above the claimed one",
        LEVEL,
        |training| training.participation().is_some(),
        &[Fault::EveryRound],
    ),
    (
        "control client",
        LEVEL,
        |training| training.control().is_some(),
        &[Fault::WrongFlattening, Fault::WrongSign],
    ),
    ("unseen directions", LEVEL, |training| training.unseen().is_some(), &[Fault::WrongDimension]),
    ("signs", 3.2e-5, |training| training.sign().is_some(), &[Fault::WrongSign]),
];

#[test]
fn every_detector_fires_in_each_faulty_run() {
    for (name, _, is_found, faults) in DETECTORS {
        for &fault in faults {
            for seed in 0..FAULTY_RUNS {
                assert!(is_found(&train(seed, fault)), "{name}, {fault:?}, seed {seed}");
            }
        }
    }
}

#[test]
fn faults_of_one_class_are_not_attributed_to_the_other() {
    let classes = [
        (Fault::LoudUnclipped, CanaryClass::Weight),
        (Fault::WeightsByExamples, CanaryClass::Loudness),
    ];
    for (fault, other) in classes {
        for seed in 0..FAULTY_RUNS {
            let training = train(seed, fault);
            assert_eq!(training.class(other), None, "{fault:?}, seed {seed}");
            assert_eq!(training.class_of_scores(other), None, "{fault:?}, seed {seed}");
        }
    }
}

#[test]
fn sound_servers_are_reported_no_more_often_than_the_significance_allows() {
    let mut found = [Misses::default(); DETECTORS.len()];
    let mut mutant = Misses::default();
    for seed in 0..SOUND_RUNS {
        let training = train(seed, Fault::None);
        for (misses, (_, _, is_found, _)) in found.iter_mut().zip(DETECTORS) {
            misses.count(is_found(&training));
        }
        // mutant: the norm of canaries at a significance of 0.05
        mutant.count(training.z_of_weight().abs() > 1.96);
    }
    for (misses, (name, significance, ..)) in found.iter().zip(DETECTORS) {
        assert!(!misses.refute(significance), "{name}: {misses:?}");
    }
    assert!(mutant.refute(LEVEL));
}
