//! Bounds of one run under the mechanisms that are hardest for them, and procedures that fail there.

use dpscope_core::audit::one_run::{
    CanaryGame, FixedSize, GaussianGuesses, GuessEvidence, GuessRecord, Guesses, IndependentGame,
    KnownSides, Ranking, independent_canaries_mu, independent_mu, ranking_sizes,
};
use dpscope_core::math;
use dpscope_tests::{Draws, Table};

use crate::SIGNIFICANCE;
use crate::budget::Misses;
use crate::enumeration::BinomialDistribution;

fn guesses(canaries: u64, guesses: u64, correct: u64) -> Guesses {
    let game = CanaryGame::coins(canaries).expect("valid");
    Guesses::new(game, guesses, correct).expect("valid")
}

fn accuracy(epsilon: f64) -> f64 {
    1.0 / (1.0 + math::exp(-epsilon))
}

/// The smallest count that is rejected; k + 1 if none is.
fn rejected_from(guesses: u64, is_rejected: impl Fn(u64) -> bool) -> u64 {
    (0..=guesses).find(|&correct| is_rejected(correct)).unwrap_or(guesses + 1)
}

/// Probability of v or more correct guesses, under the (ε, δ)-DP mechanism that makes it largest:
/// counts are binomial, with weight b from v on and weight a below, v P[W = v] (b − a) = mδ.
fn worst_case(canaries: u64, count: u64, v: u64, epsilon: f64, delta: f64) -> f64 {
    if v > count {
        return 0.0;
    }
    let distribution = BinomialDistribution::new(count, accuracy(epsilon));
    let (reached, at) = (distribution.at_least(v), distribution.terms()[v as usize]);
    let gap = (canaries as f64 * delta / (v as f64 * at)).min(1.0 / reached);
    let below = (1.0 - reached * gap).max(0.0);
    (reached * (below + gap)).min(1.0)
}

const CASES: [(u64, u64, f64, f64); 7] = [
    (1_000, 1_000, 0.0, 0.0),
    (1_000, 100, 0.0, 1e-5),
    (1_000, 100, 1.0, 1e-5),
    (1_000, 64, 3.0, 1e-5),
    (200, 50, 1.0, 1e-3),
    (40, 10, 0.5, 0.01),
    (1_000, 100, 1.0, 1e-3),
];

#[test]
fn exact_sizes_do_not_exceed_the_significance() {
    for (canaries, count, epsilon, delta) in CASES {
        let from = rejected_from(count, |correct| {
            let bound = guesses(canaries, count, correct).epsilon_lower(delta, SIGNIFICANCE);
            bound.unwrap() > epsilon
        });
        let size = worst_case(canaries, count, from, epsilon, delta);
        assert!(size <= SIGNIFICANCE, "{canaries} {count} {epsilon} {delta}: {size}");
        // one guess fewer would exceed it: the test is as large as counts permit
        let larger = worst_case(canaries, count, from - 1, epsilon, delta);
        assert!(larger > SIGNIFICANCE, "{canaries} {count} {epsilon} {delta}: {larger}");
    }
}

#[test]
fn tests_with_one_mistake_exceed_the_significance() {
    type Mistake = fn(Guesses, f64, f64) -> f64;
    let mistakes: [(&str, Mistake); 4] = [
        ("δ ignored", |counts, epsilon, _| counts.p_value(epsilon, 0.0).unwrap()),
        ("m := k", |counts, epsilon, delta| {
            let only = guesses(counts.guesses(), counts.guesses(), counts.correct());
            only.p_value(epsilon, delta).unwrap()
        }),
        ("δ/2 for guesses of both sides", |counts, epsilon, delta| {
            counts.with_sides(KnownSides::One).p_value(epsilon, delta).unwrap()
        }),
        ("P[W > v]", |counts, epsilon, delta| {
            let more = (counts.correct() + 1).min(counts.guesses());
            let next = guesses(counts.game().canaries(), counts.guesses(), more);
            if more == counts.correct() { 0.0 } else { next.p_value(epsilon, delta).unwrap() }
        }),
    ];
    for (name, p_value) in mistakes {
        let exceeds = CASES.iter().any(|&(canaries, count, epsilon, delta)| {
            let from = rejected_from(count, |correct| {
                p_value(guesses(canaries, count, correct), epsilon, delta) < SIGNIFICANCE
            });
            worst_case(canaries, count, from, epsilon, delta) > SIGNIFICANCE
        });
        assert!(exceeds, "{name} passed");
    }
}

/// Exactly half of the canaries are included, drawn without replacement, and nothing leaks: of 15
/// guesses on each side, H and again H are correct, H hypergeometric.
#[test]
fn exactly_half_exceeds_the_significance_of_fair_coins() {
    let from = rejected_from(30, |correct| {
        guesses(30, 30, correct).p_value(0.0, 0.0).unwrap() < SIGNIFICANCE
    });
    let choose =
        |n: u32, k: u32| (0..k).map(|i| f64::from(n - i) / f64::from(i + 1)).product::<f64>();
    let at = |h: u32| choose(15, h) * choose(15, 15 - h) / choose(30, 15);
    let size = |least: u64| (0..=15).filter(|&h| 2 * u64::from(h) >= least).map(at).sum::<f64>();
    assert!((size(0) - 1.0).abs() < 1e-12);
    assert!((size(from) - 0.0716).abs() < 1e-4, "the coin game passed: {}", size(from));
    // as 15 pairs, matched at random, each order is a fair coin
    let pairs = rejected_from(15, |correct| {
        guesses(15, 15, correct).p_value(0.0, 0.0).unwrap() < SIGNIFICANCE
    });
    assert!(BinomialDistribution::new(15, 0.5).at_least(pairs) <= SIGNIFICANCE);
}

/// With probability `share` all coins are published by randomised response with parameter
/// `epsilon`, otherwise nothing is; μ-GDP.
struct PublicCoin {
    mu: f64,
    share: f64,
    epsilon: f64,
}

impl PublicCoin {
    fn at_least(&self, correct: u64) -> f64 {
        let published = BinomialDistribution::new(1_000, accuracy(self.epsilon));
        let nothing = BinomialDistribution::new(1_000, 0.5);
        self.share * published.at_least(correct) + (1.0 - self.share) * nothing.at_least(correct)
    }
}

const PUBLIC_COINS: [PublicCoin; 3] = [
    PublicCoin { mu: 1.0, share: 0.748, epsilon: 1.05 },
    PublicCoin { mu: 0.5, share: 0.593, epsilon: 0.59 },
    PublicCoin { mu: 0.3, share: 0.457, epsilon: 0.399 },
];

#[test]
fn independence_is_an_assumption() {
    for coin in PUBLIC_COINS {
        let from = |bound: &dyn Fn(&Guesses) -> f64| {
            let counts: Vec<u64> = (500..=1_000).collect();
            let first = counts.partition_point(|&v| bound(&guesses(1_000, 1_000, v)) <= coin.mu);
            500 + first as u64
        };
        let valid = from(&|counts| GaussianGuesses::new(*counts).mu_lower(SIGNIFICANCE).unwrap());
        assert!(coin.at_least(valid) <= SIGNIFICANCE, "{}", coin.mu);
        let assumed = from(&|counts| independent_canaries_mu(counts, SIGNIFICANCE).unwrap());
        assert!(coin.at_least(assumed) > 0.3, "{}: {}", coin.mu, coin.at_least(assumed));
    }
}

/// Correct guesses among the first k of a ranking, for coins that are guessed right with `accuracy`.
fn ranking(draws: &mut Draws, canaries: u64, accuracy: f64) -> (Ranking, Vec<bool>) {
    let right: Vec<bool> = (0..canaries).map(|_| draws.uniform() < accuracy).collect();
    let among = |size: u64| right[..size as usize].iter().filter(|&&right| right).count() as u64;
    let sizes = ranking_sizes(canaries);
    let correct = sizes.iter().map(|&size| among(size)).collect();
    let game = CanaryGame::coins(canaries).expect("valid");
    (Ranking::new(game, sizes, correct).expect("valid"), right)
}

#[test]
fn walks_cover() {
    let mut draws = Draws::new(1_607);
    let (mut walk, mut largest) = (Misses::default(), Misses::default());
    for _ in 0..600 {
        let (ranking, right) = ranking(&mut draws, 1_000, 0.5);
        walk.count(ranking.epsilon_lower(1e-5, SIGNIFICANCE).unwrap() > 0.0);
        let mut correct = 0;
        let mut finds = false;
        for (index, &is_right) in right.iter().enumerate() {
            let size = index as u64 + 1;
            correct += u64::from(is_right);
            if size.is_multiple_of(10) {
                let p = guesses(1_000, size, correct).p_value(0.0, 1e-5).unwrap();
                finds |= p < SIGNIFICANCE;
            }
        }
        largest.count(finds);
    }
    assert!(!walk.refute(SIGNIFICANCE), "{walk:?}");
    assert!(largest.refute(SIGNIFICANCE), "the largest bound over k passed: {largest:?}");
}

/// Every possible path of counts at the sizes 8, 16 and 32, with its probability.
fn paths(accuracy: f64) -> Vec<([u64; 3], f64)> {
    let eight = BinomialDistribution::new(8, accuracy);
    let sixteen = BinomialDistribution::new(16, accuracy);
    let mut paths = Vec::new();
    for (first, p_first) in (0..).zip(eight.terms()) {
        for (second, p_second) in (0..).zip(eight.terms()) {
            for (third, p_third) in (0..).zip(sixteen.terms()) {
                let counts = [first, first + second, first + second + third];
                paths.push((counts, p_first * p_second * p_third));
            }
        }
    }
    paths
}

#[test]
fn bisection_instead_of_the_grid_exceeds_the_significance() {
    let game = CanaryGame::coins(32).expect("valid");
    let bounds: Vec<([u64; 3], f64, f64)> = paths(0.5)
        .iter()
        .map(|(correct, _)| {
            let walk = Ranking::new(game, vec![8, 16, 32], correct.to_vec()).expect("valid");
            let is_rejected = |epsilon: f64| walk.p_value(epsilon, 0.0).unwrap() < SIGNIFICANCE;
            let (mut low, mut high) = (0.0, if is_rejected(0.0) { 4.0 } else { 0.0 });
            while high - low > 1e-6 {
                let middle = 0.5 * (low + high);
                if is_rejected(middle) { low = middle } else { high = middle }
            }
            (*correct, walk.epsilon_lower(0.0, SIGNIFICANCE).unwrap(), low)
        })
        .collect();
    let (mut largest_of_grid, mut largest_of_bisection) = (0.0_f64, 0.0_f64);
    for step in 1..400 {
        let truth = f64::from(step) * 0.0025 + 1e-4;
        let (mut of_grid, mut of_bisection) = (0.0, 0.0);
        for ((correct, probability), (same, bound, bisected)) in
            paths(accuracy(truth)).iter().zip(&bounds)
        {
            assert_eq!(correct, same);
            of_grid += if *bound > truth { *probability } else { 0.0 };
            of_bisection += if *bisected > truth { *probability } else { 0.0 };
        }
        largest_of_grid = largest_of_grid.max(of_grid);
        largest_of_bisection = largest_of_bisection.max(of_bisection);
    }
    assert!(largest_of_grid <= SIGNIFICANCE, "{largest_of_grid}");
    assert!(largest_of_bisection > SIGNIFICANCE, "bisection passed: {largest_of_bisection}");
}

/// The coins of 64 of 1,000 canaries are published with probability mδ/64, and nothing otherwise: the
/// training is (0, δ)-DP.
#[test]
fn levels_that_round_to_zero_exceed_the_significance() {
    let (canaries, delta, published) = (1_000, 0.01, 64);
    let sizes = ranking_sizes(canaries);
    let correct = |size: &u64| published.min(*size) + size.saturating_sub(published) / 2;
    let correct = sizes.iter().map(correct).collect();
    let game = CanaryGame::coins(canaries).expect("valid");
    let walk = Ranking::new(game, sizes, correct).expect("valid");
    let size = |level: f64| {
        let p = game.monotone_p_value(level, 0.0, delta).unwrap();
        if p < SIGNIFICANCE { canaries as f64 * delta / published as f64 } else { 0.0 }
    };
    let level = walk.joint_p_value(0.0).unwrap();
    assert!(level > 0.0 && level < 1e-17, "{level:e}");
    assert!(size(level) <= SIGNIFICANCE);
    // a difference, or a Fourier transform, has an absolute error of 1e-17
    let rounded = 1.0 - (1.0 - level);
    assert!(size(rounded) > SIGNIFICANCE, "a rounded level passed");
}

/// In place of the larger of count test and recursion.
#[test]
fn the_recursion_alone_is_not_tight() {
    let mut is_below_steinke = false;
    for (canaries, count, correct) in
        [(20, 20, 18), (200, 100, 80), (1_000, 1_000, 600), (50, 9, 9)]
    {
        let counts = guesses(canaries, count, correct);
        for delta in [0.0, 1e-5, 1e-3] {
            let exact = counts.epsilon_lower(delta, SIGNIFICANCE).unwrap();
            let recursion = counts.epsilon_lower_by_recursion(delta, SIGNIFICANCE).unwrap();
            let steinke = counts.steinke_epsilon_lower(delta, SIGNIFICANCE).unwrap();
            assert!(exact >= recursion.max(steinke) - 1e-12, "{canaries} {count} {correct}");
            is_below_steinke |= recursion < steinke - 0.01;
        }
        let gaussian = GaussianGuesses::new(counts);
        let parts = [
            gaussian.mu_lower_by_recursion(SIGNIFICANCE).unwrap(),
            gaussian.mu_lower_by_count(SIGNIFICANCE).unwrap(),
        ];
        assert_eq!(gaussian.mu_lower(SIGNIFICANCE).unwrap(), parts[0].max(parts[1]));
    }
    assert!(is_below_steinke, "the recursion alone is as tight as Steinke's bound");
}

/// Run r of 10 publishes the coins of k_r = 230 r of 10,000 canaries with probability mδ/k_r, and
/// nothing otherwise: every run is (0, δ)-DP.
#[test]
fn e_values_need_the_canaries_of_all_planned_runs() {
    const RUNS: u64 = 10;
    let (canaries, delta) = (10_000, 1e-3);
    let game = |runs: u64| CanaryGame::coins(runs * canaries).expect("valid");
    let ln_e = |count: u64, correct: u64| {
        let record = GuessRecord::new(game(1), vec![count], vec![correct]).expect("valid");
        record.ln_e_value(0.0).unwrap()
    };
    let size_if_canaries_are_of = |runs_until: fn(u64) -> u64| {
        let mut silent = 1.0;
        let mut before = 0.0; // ln of the product over runs that published nothing
        for run in 1..=RUNS {
            let count = 230 * run;
            let level = math::exp(-(before + ln_e(count, count)));
            let p = game(runs_until(run)).monotone_p_value(level, 0.0, delta).unwrap();
            if p < SIGNIFICANCE {
                silent *= 1.0 - canaries as f64 * delta / count as f64;
            }
            before += ln_e(count, count / 2);
        }
        1.0 - silent
    };
    assert!(size_if_canaries_are_of(|_| RUNS) <= SIGNIFICANCE);
    let so_far = size_if_canaries_are_of(|run| run);
    assert!(so_far > SIGNIFICANCE, "the canaries of the runs so far passed: {so_far}");
}

#[test]
fn walks_lose_little_to_the_best_fixed_number_of_guesses() {
    let mut draws = Draws::new(77);
    let (mut walks, mut fixed) = (Vec::new(), Vec::new());
    for _ in 0..40 {
        // scores N(±½, 1), ranked by their distance from 0
        let mut scored: Vec<(f64, bool)> = (0..1_000)
            .map(|_| {
                let score = draws.normal() + 0.5;
                (score.abs(), score > 0.0)
            })
            .collect();
        scored.sort_by(|a, b| b.0.total_cmp(&a.0));
        let among =
            |size: u64| scored[..size as usize].iter().filter(|(_, right)| *right).count() as u64;
        let sizes = ranking_sizes(1_000);
        let correct = sizes.iter().map(|&size| among(size)).collect();
        let game = CanaryGame::coins(1_000).expect("valid");
        let walk = Ranking::new(game, sizes, correct).expect("valid");
        walks.push(walk.epsilon_lower(1e-5, SIGNIFICANCE).unwrap());
        fixed.push(guesses(1_000, 65, among(65)).epsilon_lower(1e-5, SIGNIFICANCE).unwrap());
    }
    let median = |values: &mut Vec<f64>| {
        values.sort_by(f64::total_cmp);
        values[values.len() / 2]
    };
    let (walk, best) = (median(&mut walks), median(&mut fixed));
    assert!(walk >= 0.9 * best, "{walk} {best}");
}

/// Canaries included with probability π: the count is Bin(k, πe^ε/(πe^ε + 1 − π)) at worst.
#[test]
fn biased_coins_cover_and_fair_odds_do_not() {
    for (canaries, count, inclusion, epsilon, delta) in [
        (1_000, 100, 0.2, 1.0, 0.0),
        (1_000, 100, 0.8, 0.0, 0.0),
        (1_000, 100, 0.8, 1.0, 1e-4),
        (200, 50, 0.9, 0.5, 1e-3),
    ] {
        let log_odds = math::ln(inclusion / (1.0 - inclusion));
        // the same binomial as that of fair coins at ε + ln(π/(1 − π))
        let size = |from| worst_case(canaries, count, from, epsilon + log_odds, inclusion * delta);
        let from = rejected_from(count, |correct| {
            let counted = guesses(canaries, count, correct);
            let counted = counted.with_inclusion_probability(inclusion).unwrap();
            counted.epsilon_lower(delta, SIGNIFICANCE).unwrap() > epsilon
        });
        let exact = size(from);
        assert!(exact <= SIGNIFICANCE, "{canaries} {count} {inclusion}: {exact}");
        assert!(size(from - 1) > SIGNIFICANCE, "one guess fewer would be rejected too");
        if inclusion > 0.5 {
            let fair = rejected_from(count, |correct| {
                let one = guesses(canaries, count, correct).with_sides(KnownSides::One);
                one.epsilon_lower(delta, SIGNIFICANCE).unwrap() > epsilon
            });
            assert!(size(fair) > 0.5, "fair odds passed");
        }
    }
}

/// Curves of trainings whose counts have a known worst case: randomised response with e^ε, and name and
/// shame, which is (0, δ)-DP.
#[test]
fn claimed_curves_cover() {
    let (canaries, count) = (1_000, 100);
    let refuted_from = |curve: &[(f64, f64)]| {
        rejected_from(count, |correct| {
            guesses(canaries, count, correct).p_value_of_curve(curve).unwrap() < SIGNIFICANCE
        })
    };
    let knots = || (0..40).map(|i| f64::from(i) * 0.1);
    let response = |own: f64| -> Vec<(f64, f64)> {
        let delta = |e: f64| (math::exp(own) - math::exp(e)).max(0.0) / (1.0 + math::exp(own));
        knots().map(|epsilon| (epsilon, delta(epsilon))).collect()
    };
    let from = refuted_from(&response(1.0));
    let size = |from| BinomialDistribution::new(count, accuracy(1.0)).at_least(from);
    assert!(size(from) <= SIGNIFICANCE && size(from - 1) > SIGNIFICANCE);
    assert!(size(refuted_from(&response(0.7))) > SIGNIFICANCE, "a smaller claim passed");

    let delta = 1e-3;
    let shame: Vec<(f64, f64)> = knots().map(|epsilon| (epsilon, delta)).collect();
    let size = |from| worst_case(canaries, count, from, 0.0, delta);
    let from = refuted_from(&shame);
    assert!(size(from) <= SIGNIFICANCE && size(from - 1) > SIGNIFICANCE);
    let ignored: Vec<(f64, f64)> = knots().map(|epsilon| (epsilon, 0.0)).collect();
    assert!(size(refuted_from(&ignored)) > SIGNIFICANCE, "a curve without δ passed");
}

/// Largest P\[at least v of k named canaries are drawn\] over all mechanisms, where r of m are drawn
/// uniformly: the optimum of a linear program for each v.
struct FixedDraw {
    canaries: u64,
    drawn: u64,
    guesses: u64,
    epsilon: f64,
    delta: f64,
    largest: Vec<f64>,
}

fn fixed_draws() -> Vec<FixedDraw> {
    let table = Table::parse(include_str!("../oracles/one_run/draws.csv"));
    let mut draws: Vec<FixedDraw> = Vec::new();
    for row in table.rows() {
        if row.count("correct") == 1 {
            draws.push(FixedDraw {
                canaries: row.count("canaries"),
                drawn: row.count("drawn"),
                guesses: row.count("guesses"),
                epsilon: row.float("epsilon"),
                delta: row.float("delta"),
                largest: vec![1.0], // no correct guess, or more
            });
        }
        draws.last_mut().expect("rows start at 1").largest.push(row.float("probability"));
    }
    draws
}

impl FixedDraw {
    fn coins(&self, correct: u64, inclusion: f64) -> GuessEvidence {
        let counts = guesses(self.canaries, self.guesses, correct);
        GuessEvidence::fixed(counts.with_inclusion_probability(inclusion).expect("valid"))
    }

    fn size(&self) -> FixedSize {
        FixedSize::new(self.canaries, self.drawn).expect("valid")
    }

    /// The largest probability that the test rejects the truth.
    fn exact_size(&self, evidence: impl Fn(u64) -> GuessEvidence) -> f64 {
        let from = rejected_from(self.guesses, |correct| {
            let bound = evidence(correct).epsilon_lower(self.delta, SIGNIFICANCE);
            bound.expect("valid") > self.epsilon
        });
        self.largest.get(from as usize).copied().unwrap_or(0.0)
    }
}

#[test]
fn fixed_sizes_are_covered_and_coins_do_not_cover_them() {
    let draws = fixed_draws();
    for draw in &draws {
        let allowing =
            |correct| draw.coins(correct, draw.size().share()).of_fixed_size(draw.size());
        let exact = draw.exact_size(allowing);
        assert!(exact <= SIGNIFICANCE, "{} of {}: {exact}", draw.drawn, draw.canaries);
        for (correct, largest) in (0..).zip(&draw.largest) {
            let p = allowing(correct).p_value(draw.epsilon, draw.delta).unwrap();
            assert!(p >= largest - 1e-8, "{} of {}: {p} {largest}", draw.drawn, draw.canaries);
        }
    }
    let mutant = |draw: &FixedDraw| draw.exact_size(|v| draw.coins(v, draw.size().share()));
    assert!(draws.iter().any(|draw| mutant(draw) > 0.069), "the test of coins passed");
    // one of 100 is drawn, nothing leaks, and 30 are named: one is right with probability 0.3
    let one = FixedDraw {
        canaries: 100,
        drawn: 1,
        guesses: 30,
        epsilon: 0.0,
        delta: 0.0,
        largest: vec![1.0, 0.3],
    };
    let rejects = |inclusion| {
        let stated = one.coins(1, inclusion).of_fixed_size(one.size());
        stated.p_value(0.0, 0.0).unwrap() < SIGNIFICANCE
    };
    assert!(!rejects(one.size().share()));
    assert!(rejects(0.0005), "the stated probability in the numerator alone passed");
}

/// An odd number of fair coins with guesses of both sides, tested at probability ½.
#[test]
fn halves_of_an_odd_number_are_covered() {
    // 15 of 31 are drawn and nothing leaks; 15 guesses "included" and 16 "not included", of which H and
    // H + 1 are right
    let choose =
        |n: u32, k: u32| (0..k).map(|i| f64::from(n - i) / f64::from(i + 1)).product::<f64>();
    let at = |h: u32| choose(15, h) * choose(16, 15 - h) / choose(31, 15);
    let size =
        |least: u64| (0..=15).filter(|&h| u64::from(2 * h + 1) >= least).map(at).sum::<f64>();
    let fixed = FixedSize::new(31, 15).unwrap();
    let from = |evidence: &dyn Fn(GuessEvidence) -> GuessEvidence| {
        rejected_from(31, |correct| {
            let counts = evidence(GuessEvidence::fixed(guesses(31, 31, correct)));
            counts.p_value(0.0, 0.0).unwrap() < SIGNIFICANCE
        })
    };
    let allowing = size(from(&|evidence| evidence.of_fixed_size(fixed)));
    assert!(allowing <= SIGNIFICANCE, "{allowing}");
    let coins = size(from(&|evidence| evidence));
    assert!(coins > SIGNIFICANCE, "the coin game passed: {coins}");
}

/// Two canaries and an output that says nothing: guessing each by the coin of the other is right on both with
/// chance ½, where blocks in which only unrevealed coins count are right with ¼.
#[test]
fn cross_fitting_both_ways_does_not_cover() {
    for (epsilon, both_right) in [(0.0, 0.5), (1.0, accuracy(1.0))] {
        let limit = guesses(2, 2, 2).adaptive_p_value(epsilon, 0.0).unwrap();
        assert!((limit - accuracy(epsilon) * accuracy(epsilon)).abs() < 1e-12);
        assert!(both_right > limit, "{epsilon}: {both_right} within {limit}");
    }
}

/// With chance π all coins are released by randomised response with 1.6, else nothing: 1-GDP for each coin, and
/// refuted at μ = 1 in 26 % of runs by pairs, since canaries depend on each other.
#[test]
fn pairs_need_independence() {
    let (pairs, chance) = (200, 0.334_783_279_730_540_44);
    let mu =
        |correct| independent_mu(IndependentGame::Pairs, pairs, correct, SIGNIFICANCE).unwrap();
    let from = rejected_from(pairs, |correct| mu(correct) > 1.0);
    assert_eq!(from, 163);
    // the order is right if both bits are, and by a coin if one is
    let leaked = BinomialDistribution::new(pairs, accuracy(1.6)).at_least(from);
    let silent = BinomialDistribution::new(pairs, 0.5).at_least(from);
    let size = chance * leaked + (1.0 - chance) * silent;
    assert!((size - 0.258_701_466).abs() < 1e-6, "{size}");
}
