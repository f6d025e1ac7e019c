//! Bounds by secrets and by known odds at the laws that are hardest for them, and mistakes.

use dpscope_core::audit::drawn::{CandidateScores, DrawnValue, OddsGuesses};
use dpscope_core::audit::one_run::{KnownOdds, OddsClass, SecretRanks, rank_lengths};
use dpscope_core::math;
use dpscope_formats::CoinSeed;
use dpscope_tests::Draws;

use crate::SIGNIFICANCE;

/// Audits of each mechanism.
const AUDITS: usize = 2_000;
/// 5 % of them and four standard errors.
const MOST: usize = 139;

/// A rank with P\[R ≤ j\] = j e^ε/(j e^ε + S − j) for each j.
fn rank(draws: &mut Draws, values: u64, epsilon: f64) -> u64 {
    let u = draws.uniform();
    // the least j with q_j ≥ u
    let j = values as f64 * u / (u + math::exp(epsilon) * (1.0 - u));
    (j.ceil() as u64).clamp(1, values)
}

/// Independent ranks with the largest probabilities that (ε, 0)-DP allows at every length are refuted at ε in
/// at most 5 % of audits; testing each length by itself refutes more.
#[test]
fn ranks_with_the_largest_probabilities_are_covered_and_the_best_length_is_not() {
    let (records, values, epsilon) = (100_usize, 4_096, 3.0);
    let mut draws = Draws::new(451);
    let (mut joint, mut best) = (0, 0);
    for _ in 0..AUDITS {
        let ranks: Vec<u64> = (0..records).map(|_| rank(&mut draws, values, epsilon)).collect();
        let ranks = SecretRanks::of_ranks(values, &ranks).unwrap();
        joint += usize::from(ranks.p_value(epsilon, 0.0).unwrap() < SIGNIFICANCE);
        best += usize::from(ranks.smallest_p_value(epsilon).unwrap() < SIGNIFICANCE);
    }
    assert!(joint <= MOST, "{joint} of {AUDITS}");
    assert!(joint > 40, "{joint}: the test has lost its level");
    assert!(best > 2 * MOST, "{best}: the mutant must fail");
}

/// Three values and two decoys without any leak: drawn without replacement, a third of the secrets have the
/// largest score; drawn with replacement, equal decoys leave fewer rivals, and an attack that knows nothing is
/// refuted as a leak.
#[test]
fn decoys_with_replacement_are_not_covered() {
    let (records, values) = (400_u64, 3_usize);
    let mut draws = Draws::new(452);
    let mut refuted = [0; 2];
    for _ in 0..AUDITS / 4 {
        for (replaces, count) in [false, true].into_iter().zip(&mut refuted) {
            let mut scores = CandidateScores::new(1);
            for _ in 0..records {
                let of_values: Vec<f64> = (0..values).map(|_| draws.uniform()).collect();
                let secret = draws.below(values);
                let mut others: Vec<usize> = (0..values).filter(|&value| value != secret).collect();
                if replaces {
                    others = (0..2).map(|_| others[draws.below(2)]).collect();
                }
                scores.begin(of_values[secret]);
                scores.add(&others.iter().map(|&value| of_values[value]).collect::<Vec<_>>());
                scores.end();
            }
            let guesses = scores.lists(true, None).unwrap();
            *count += usize::from(guesses.bounds(0.0, SIGNIFICANCE).unwrap().replace > 0.0);
        }
    }
    assert!(refuted[0] <= 44, "{refuted:?}"); // 5 % of 500 and four standard errors
    assert!(refuted[1] > 400, "{refuted:?}");
}

/// Decoys of a committed seed: no attack ranks secrets first more often than chance.
#[test]
fn committed_secrets_and_decoys_are_exchangeable() {
    let (records, values) = (2_000, 7);
    let seed = CoinSeed::new([45; 32]);
    let secrets = seed.secrets(records, values);
    // the attack names the smallest of the candidates
    let is_first = |record: u64| {
        let decoys = seed.decoys(record, values, 3);
        assert!(!decoys.contains(&secrets[record as usize]));
        decoys.iter().all(|&decoy| decoy > secrets[record as usize])
    };
    let correct = (0..records).filter(|&record| is_first(record)).count();
    assert!((400..600).contains(&correct), "{correct} of 2,000 at ¼"); // five standard deviations
}

/// Memberships by weighted Poisson sampling, and an output bit for each with the odds that ε allows: the bound
/// with the stated odds covers, and that of fair coins does not.
#[test]
fn weighted_sampling_is_covered_and_fair_odds_are_not() {
    let (epsilon, fair) = (1.0_f64, 0.5);
    let priors: Vec<f64> = (0..120).map(|row| [0.6, 0.8][row % 2]).collect();
    let mut draws = Draws::new(453);
    let mut refuted = [0; 2];
    for _ in 0..AUDITS {
        let drawn: Vec<f64> =
            priors.iter().map(|&prior| f64::from(u8::from(draws.uniform() < prior))).collect();
        // a bit with odds of e^ε; the attack names records whose bit is set as members
        let said: Vec<f64> = drawn
            .iter()
            .map(|&value| {
                let set = 0.3 * if value == 1.0 { math::exp(epsilon) } else { 1.0 };
                if draws.uniform() < set { 1.0 } else { -1.0 }
            })
            .collect();
        let of = |priors: &[f64]| {
            OddsGuesses::of_records(DrawnValue::Membership, priors, &drawn, &said, 1.0)
        };
        for (count, priors) in refuted.iter_mut().zip([priors.clone(), vec![fair; 120]]) {
            let OddsGuesses { classes, correct, .. } = of(&priors).unwrap();
            let p = KnownOdds::new(classes, correct).unwrap().p_value(epsilon, 0.0, 1.0).unwrap();
            *count += usize::from(p < SIGNIFICANCE);
        }
    }
    assert!(refuted[0] <= MOST, "{refuted:?}");
    assert!(refuted[1] > 10 * MOST, "{refuted:?}");
}

/// Without any leak, labels that follow their records with odds of three to one are explained by Γ = 3 and not
/// by known odds.
#[test]
fn a_factor_of_the_odds_covers_confounding() {
    let mut draws = Draws::new(454);
    let mut refuted = [0; 2];
    for _ in 0..AUDITS / 4 {
        let correct = (0..100).filter(|_| draws.uniform() < 0.75).count() as u64;
        let class = OddsClass { inclusion: 0.5, canaries: 100, guesses_in: 100, guesses_out: 0 };
        for (count, odds_factor) in refuted.iter_mut().zip([3.0, 1.0]) {
            let value = DrawnValue::Label;
            let guesses =
                OddsGuesses { value, classes: vec![class], correct, one_sided: true, odds_factor };
            *count += usize::from(guesses.bounds(0.0, SIGNIFICANCE).unwrap().replace > 0.0);
        }
    }
    assert!(refuted[0] <= 44, "{refuted:?}");
    assert!(refuted[1] > 400, "{refuted:?}");
}

/// A thousand secrets at twenty lengths: the joint law is that of the independent counts.
#[test]
fn the_joint_law_of_ranks_is_at_most_the_union() {
    let values = 1 << 21;
    let lengths = rank_lengths(values);
    let counts: Vec<u64> = (0..lengths.len() as u64).map(|step| 4 + step).collect();
    let ranks = SecretRanks::new(1_000, values, lengths.clone(), counts).unwrap();
    for epsilon in [0.0, 2.0, 6.0] {
        let (smallest, joint) =
            (ranks.smallest_p_value(epsilon).unwrap(), ranks.joint_p_value(epsilon).unwrap());
        assert!(smallest * (1.0 - 1e-9) <= joint, "{epsilon}: {smallest} {joint}");
        assert!(joint <= lengths.len() as f64 * smallest * (1.0 + 1e-9) || joint == 1.0);
    }
}
