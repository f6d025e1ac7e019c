//! Bounds of random hold-outs and of secrets, at the laws that are hardest for them, and mistakes.

use dpscope_core::adjacency::Adjacency;
use dpscope_core::audit::one_run::{ListGuesses, MixedLists};
use dpscope_core::audit::split::{NamedRows, SplitCounts, SplitGuesses, SplitScores};
use dpscope_core::math;
use dpscope_tests::Draws;

use crate::SIGNIFICANCE;

/// h(j) ∝ C(r, j) C(N − r, k − j) e^{εj}, by its ratios from the least count on.
fn law(rows: u64, side: u64, guesses: u64, epsilon: f64) -> Vec<(u64, f64)> {
    let least = (guesses + side).saturating_sub(rows);
    let mut terms = vec![(least, 1.0)];
    for j in least..guesses.min(side) {
        let ratio = (side - j) as f64 * (guesses - j) as f64
            / ((j + 1) as f64 * (rows + j + 1 - side - guesses) as f64);
        terms.push((j + 1, terms[terms.len() - 1].1 * ratio * math::exp(epsilon)));
    }
    let total: f64 = terms.iter().map(|term| term.1).sum();
    terms.iter().map(|&(count, term)| (count, term / total)).collect()
}

/// Named rows whose counts have the law of the odds ratio e^ε are as hard as (ε, 0)-DP allows for replacing
/// a row: the test is as large as counts permit, and no larger.
#[test]
fn exact_sizes_of_named_rows_do_not_exceed_the_significance() {
    for (rows, side, guesses, epsilon) in [
        (2_000, 1_000, 100, 0.0),
        (2_000, 400, 64, 1.0),
        (500, 25, 16, 2.0),
        (60, 12, 12, 1.0),
        (60, 48, 20, 0.5),
    ] {
        let rejected = |correct: u64| {
            let named = NamedRows::new(rows, side, guesses, correct).unwrap();
            named.epsilon_lower(Adjacency::Replace, 0.0, SIGNIFICANCE).unwrap() > epsilon
        };
        let law = law(rows, side, guesses, epsilon);
        let reached = |from: u64| -> f64 {
            law.iter().filter(|term| term.0 >= from).map(|term| term.1).sum()
        };
        let from = law.iter().map(|term| term.0).find(|&count| rejected(count));
        let from = from.unwrap_or(guesses + 1);
        let size = reached(from);
        assert!(size <= SIGNIFICANCE, "{rows} {side} {guesses} {epsilon}: {size}");
        // one guess fewer would exceed it
        assert!(reached(from - 1) > SIGNIFICANCE, "{rows} {side} {guesses} {epsilon}");
    }
}

/// Sizes that linear programs over all mechanisms attain for adding or removing a row
/// (`without_coins.json`, `coverage_exact`): the coins' own test is below them.
#[test]
fn limits_for_adding_a_row_cover_what_mechanisms_attain() {
    for (rows, side, count, epsilon, coins, attained) in [
        (2, 1, 1, 1.0, 0.731_058_578, 0.816_060_279),
        (60, 30, 10, 1.0, 0.043_603_542, 0.069_801_560),
        (200, 40, 4, 1.0, 0.026_800_633, 0.043_021_898),
        (200, 40, 10, 2.0, 0.013_213_331, 0.035_602_554),
        (200, 100, 10, 1.0, 0.043_603_542, 0.082_041_129),
    ] {
        let named = NamedRows::new(rows, side, count, count).unwrap();
        let limit = named.p_value(Adjacency::AddRemove, epsilon, 0.0).unwrap();
        assert!(limit >= attained, "{rows} {side} {count}: {limit} below {attained}");
        assert!(coins < attained);
    }
}

/// Two secrets of four values, ε = .3: a mechanism hits one of them more often than a binomial with j e^ε/S.
#[test]
fn a_binomial_with_the_hub_is_no_limit() {
    let attained = 0.587_814_822;
    let hub = math::exp(0.3) / 4.0;
    assert!(1.0 - (1.0 - hub) * (1.0 - hub) < attained);
    let lists = ListGuesses::new(2, 4, 1).unwrap().with_counts(2, 1).unwrap();
    assert!(lists.p_value(Adjacency::AddRemove, 0.3, 0.0).unwrap() >= attained);
}

/// Lists of two of four values, ε = .5, δ = .02: a linear program attains more than mδ in the place of
/// mδ(S − 1)/(S − j) allows.
#[test]
fn the_budget_of_longer_lists_is_larger() {
    let attained = 0.4058;
    let lists = ListGuesses::new(2, 4, 2).unwrap();
    let limit = |delta: f64| {
        let counts = lists.with_counts(2, 2).unwrap();
        counts.p_value(Adjacency::Replace, 0.5, delta).unwrap()
    };
    assert!(limit(0.02) >= attained);
    // with the budget of lists of one value
    assert!(limit(0.02 * 2.0 / 3.0) < attained);
}

/// Randomised response over S values at ε = 8, 200 records: bounds by single guesses are above 8 in at most 5 %.
#[test]
fn secrets_released_by_randomised_response_are_covered() {
    let (records, values, epsilon) = (200_u64, 10_000.0, 8.0_f64);
    let hit = math::exp(epsilon) / (math::exp(epsilon) + values - 1.0);
    let mut draws = Draws::new(45);
    let (mut above, mut bounds) = (0, Vec::new());
    for _ in 0..400 {
        let correct = (0..records).filter(|_| draws.uniform() < hit).count() as u64;
        let lists = ListGuesses::new(records, 10_000, 1).unwrap();
        let counts = lists.with_counts(records, correct).unwrap();
        let bound = counts.epsilon_lower(Adjacency::Replace, 0.0, SIGNIFICANCE).unwrap();
        above += usize::from(bound > epsilon);
        bounds.push(bound);
        let mixed = MixedLists::new(records, 10_000, vec![1; records as usize], correct).unwrap();
        assert!(mixed.epsilon_lower(0.0, SIGNIFICANCE).unwrap() <= bound + 1e-9);
    }
    bounds.sort_unstable_by(f64::total_cmp);
    assert!(above <= 37, "{above} of 400"); // 5 % and four standard errors
    assert!(bounds[200] >= 7.5, "{}", bounds[200]);
}

/// Scores of a split without any leak, and a score that saw the sides.
fn scores(draws: &mut Draws, shift: f64) -> [Vec<f64>; 2] {
    let members = (0..300).map(|_| draws.normal() + shift).collect();
    [members, (0..100).map(|_| draws.normal()).collect()]
}

#[test]
fn splits_without_a_leak_are_covered_and_scores_that_saw_sides_are_not() {
    let mut draws = Draws::new(46);
    let mut above = |shift: f64| {
        let mut refuted = [0; 2];
        for seed in 0..400 {
            let [members, others] = scores(&mut draws, shift);
            let scores = SplitScores::new(&members, &others).unwrap();
            let cut = SplitGuesses::Cut { strata: vec![scores.named([55, 32])] };
            let (guesses, correct) = scores.sets(32, seed).unwrap();
            let sets = SplitGuesses::Sets { members: 300, non_members: 100, guesses, correct };
            for (count, guesses) in refuted.iter_mut().zip([cut, sets]) {
                *count += u32::from(guesses.bounds(0.0, SIGNIFICANCE).unwrap().replace > 0.0);
            }
        }
        refuted
    };
    assert!(above(0.0).iter().all(|&refuted| refuted <= 37), "5 % and four standard errors");
    assert!(above(0.5).iter().all(|&refuted| refuted > 100));
}

/// A stratified split whose strata the attacker knows: two classes, of which one was trained on nearly whole.
#[test]
fn a_stratified_split_without_strata_is_not_covered() {
    let strata = [(180_u64, 20_u64), (20, 180)];
    // the score is the class: without strata it looks like a leak, within them it says nothing
    let whole = SplitCounts {
        members: 200,
        non_members: 200,
        guesses_in: 45,
        correct_in: 40,
        guesses_out: 45,
        correct_out: 40,
    };
    let blind = SplitGuesses::Cut { strata: vec![whole] };
    assert!(blind.bounds(0.0, SIGNIFICANCE).unwrap().replace > 1.0);
    let within = strata.map(|(members, non_members)| {
        let rows = members + non_members;
        let share = |side: u64| (20.0 * side as f64 / rows as f64).round() as u64;
        SplitCounts {
            members,
            non_members,
            guesses_in: 20,
            correct_in: share(members),
            guesses_out: 20,
            correct_out: share(non_members),
        }
    });
    let known = SplitGuesses::Cut { strata: within.to_vec() };
    assert_eq!(known.bounds(0.0, SIGNIFICANCE).unwrap().replace, 0.0);
}
