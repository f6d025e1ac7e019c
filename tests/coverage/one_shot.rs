//! Bounds from canaries with a known null distribution, at the mechanisms that are hardest for them,
//! and rules that fail there.

use dpscope_core::audit::one_shot::{
    AnyMechanism, CanaryDesign, CosineNull, CumulativeBand, Gdp, IndependentCanaries, NullScores,
    NullTails,
};
use dpscope_core::gdp::{gdp_epsilon, gdp_mu_for};
use dpscope_core::math;
use dpscope_core::special::normal_ln_cdf;
use dpscope_simulation::noisy_sum::PublishedRule;
use dpscope_tests::Draws;

use crate::SIGNIFICANCE;
use crate::budget::Misses;

/// A Poisson number, by arrivals.
fn poisson(draws: &mut Draws, mean: f64) -> usize {
    let (mut time, mut count) = (0.0, 0);
    loop {
        time -= math::ln(draws.uniform());
        if time > mean {
            return count;
        }
        count += 1;
    }
}

/// Canaries with p-values that are uniform on (0, e^−ε]: forward, (ε, 0)-DP allows no more.
fn least_favourable(draws: &mut Draws, count: usize, epsilon: f64) -> NullTails {
    let ln_p = (0..count).map(|_| math::ln(draws.uniform()) - epsilon).collect();
    NullTails::new(ln_p).expect("valid")
}

/// ln p of a canary in randomised response: p lies in the lowest 1/(1 + e^ε) with probability
/// e^ε/(1 + e^ε).
fn randomised_response(draws: &mut Draws, epsilon: f64) -> f64 {
    let low = 1.0 / (1.0 + math::exp(epsilon));
    let (is_low, place) = (draws.uniform() < 1.0 - low, draws.uniform());
    math::ln(if is_low { low * place } else { low + (1.0 - low) * place })
}

fn rule(design: CanaryDesign, delta: f64) -> impl Fn(&NullTails) -> f64 {
    let canaries = AnyMechanism::new(design).expect("valid");
    let rule = canaries.simultaneous_rule(delta, SIGNIFICANCE).expect("valid");
    move |tails| rule.epsilon_lower(tails).expect("valid")
}

/// Shares of runs in which each rule exceeds the truth.
fn misses<const RULES: usize>(
    truth: f64,
    run: impl FnMut(&mut Draws) -> [f64; RULES],
) -> [Misses; RULES] {
    misses_of(4_000, truth, run)
}

fn misses_of<const RULES: usize>(
    runs: u32,
    truth: f64,
    mut run: impl FnMut(&mut Draws) -> [f64; RULES],
) -> [Misses; RULES] {
    let mut draws = Draws::new(2_302);
    let mut misses = [Misses::default(); RULES];
    for _ in 0..runs {
        for (misses, bound) in misses.iter_mut().zip(run(&mut draws)) {
            misses.count(bound > truth);
        }
    }
    misses
}

#[test]
fn any_mechanism_is_exact_at_the_least_favourable_distribution() {
    let design = CanaryDesign::Poisson { mean: 200.0 };
    let bound = rule(design, 0.0);
    // mutant: the full significance for every single rank
    let arrivals = |level: f64| CumulativeBand::of_arrivals(200.0, level).expect("valid");
    let each = {
        let (mut low, mut high) = (SIGNIFICANCE, 0.9);
        for _ in 0..40 {
            let middle = 0.5 * (low + high);
            if arrivals(middle).local_level() < SIGNIFICANCE { low = middle } else { high = middle }
        }
        arrivals(low)
    };
    for truth in [0.0, 1.0, 4.0] {
        let [sound, uncorrected] = misses(truth, |draws| {
            let count = poisson(draws, 200.0);
            let tails = least_favourable(draws, count, truth);
            let limits = each.ranks().iter().zip(each.limits());
            let single = limits.filter_map(|(&rank, limit)| {
                let ln_p = tails.ln_p().get(rank as usize - 1)?;
                Some(math::ln(limit / 200.0) - ln_p)
            });
            [bound(&tails), single.fold(0.0, f64::max)]
        });
        assert!(!sound.refute(SIGNIFICANCE), "{truth}: {sound:?}");
        assert!(!sound.stay_below(SIGNIFICANCE), "{truth}: not exact: {sound:?}");
        assert!(uncorrected.refute(SIGNIFICANCE), "{truth}: {uncorrected:?}");
    }
}

#[test]
fn bands_have_their_significance() {
    let arrivals = CumulativeBand::of_arrivals(60.0, SIGNIFICANCE).expect("valid");
    let uniforms = CumulativeBand::of_uniforms(60, SIGNIFICANCE).expect("valid");
    let is_below = |band: &CumulativeBand, sorted: &[f64]| {
        let mut ranks = band.ranks().iter().zip(band.limits());
        ranks.any(|(&rank, limit)| sorted.get(rank as usize - 1).is_some_and(|x| x < limit))
    };
    let (mut of_arrivals, mut of_uniforms) = (Misses::default(), Misses::default());
    let mut raised = Misses::default();
    let mut draws = Draws::new(9);
    for _ in 0..8_000 {
        let mut time = 0.0;
        let times: Vec<f64> = (0..60)
            .map(|_| {
                time -= math::ln(draws.uniform());
                time
            })
            .collect();
        of_arrivals.count(is_below(&arrivals, &times));
        let early: Vec<f64> = times.iter().map(|time| 0.9 * time).collect();
        raised.count(is_below(&arrivals, &early));
        let mut points: Vec<f64> = (0..60).map(|_| draws.uniform()).collect();
        points.sort_by(f64::total_cmp);
        of_uniforms.count(is_below(&uniforms, &points));
    }
    for seen in [of_arrivals, of_uniforms] {
        assert!(!seen.refute(SIGNIFICANCE) && !seen.stay_below(SIGNIFICANCE), "{seen:?}");
    }
    assert!(raised.refute(SIGNIFICANCE), "limits that are 11 % too high passed: {raised:?}");
}

#[test]
fn every_design_covers() {
    const SLOTS: u64 = 200;
    let designs = [
        CanaryDesign::Poisson { mean: 100.0 },
        CanaryDesign::Bernoulli { slots: SLOTS, inclusion: 0.5 },
        CanaryDesign::Fixed { canaries: 100 },
    ];
    let [poisson_rule, coins_rule, fixed_rule] = designs.map(|design| rule(design, 1e-5));
    for truth in [0.0, 1.0] {
        let response = |draws: &mut Draws| randomised_response(draws, truth);
        let seen = misses(truth, |draws| {
            let mut tails = |count: usize| {
                NullTails::new((0..count).map(|_| response(draws)).collect()).expect("valid")
            };
            let fixed = tails(100);
            let count = poisson(draws, 100.0);
            let coins = (0..SLOTS).filter(|_| draws.uniform() < 0.5).count();
            let mut tails = |count: usize| {
                NullTails::new((0..count).map(|_| response(draws)).collect()).expect("valid")
            };
            let (of_poisson, of_coins) = (tails(count), tails(coins));
            [poisson_rule(&of_poisson), coins_rule(&of_coins), fixed_rule(&fixed)]
        });
        for (seen, design) in seen.iter().zip(designs) {
            assert!(!seen.refute(SIGNIFICANCE), "{design:?} {truth}: {seen:?}");
        }
    }
}

/// With probability k̄δ/s all of s canaries are published (p = 0), otherwise nothing is: the training
/// is (0, δ)-DP for one added client.
#[test]
fn delta_is_paid_for() {
    let (mean, delta) = (100.0, 4e-4);
    let design = CanaryDesign::Poisson { mean };
    let (bound, unpaid) = (rule(design, delta), rule(design, 0.0));
    let seen = misses(0.0, |draws| {
        let count = poisson(draws, mean);
        let mut tails = least_favourable(draws, count, 0.0);
        if draws.uniform() < mean * delta {
            let mut ln_p = tails.ln_p().to_vec();
            if let Some(first) = ln_p.first_mut() {
                *first = -1_000.0;
            }
            tails = NullTails::new(ln_p).expect("valid");
        }
        [bound(&tails), unpaid(&tails)]
    });
    assert!(!seen[0].refute(SIGNIFICANCE), "{seen:?}");
    assert!(seen[1].refute(SIGNIFICANCE), "δ = 0 passed: {seen:?}");
}

#[test]
fn one_cut_covers() {
    let canaries = AnyMechanism::new(CanaryDesign::Poisson { mean: 100.0 }).expect("valid");
    let cut = |tails: &NullTails, p_cut: f64| {
        canaries.epsilon_lower_at_cut(tails, p_cut, 0.0, SIGNIFICANCE).expect("valid")
    };
    let cuts = [0.3, 0.1, 0.05, 0.02, 0.01];
    let [fixed, best] = misses(0.0, |draws| {
        let count = poisson(draws, 100.0);
        let tails = least_favourable(draws, count, 0.0);
        let bounds = cuts.map(|p_cut| cut(&tails, p_cut));
        [bounds[0], bounds.into_iter().fold(0.0, f64::max)]
    });
    assert!(!fixed.refute(SIGNIFICANCE), "{fixed:?}");
    assert!(best.refute(SIGNIFICANCE), "the best of five cuts passed: {best:?}");
}

#[test]
fn bounds_cover_gaussian_canaries() {
    let mean = 1_000.0;
    let canaries = AnyMechanism::new(CanaryDesign::Poisson { mean }).expect("valid");
    for (runs, truth) in [(2_000, 0.0), (200, 1.0)] {
        let [sound, best_of_cuts] = misses_of(runs, truth, |draws| {
            let count = poisson(draws, mean);
            let ln_p = (0..count).map(|_| normal_ln_cdf(-truth - draws.normal())).collect();
            let tails = NullTails::new(ln_p).expect("valid");
            let cuts = [0.1, 0.01, 1e-3, 1e-4];
            let each = cuts
                .map(|p_cut| canaries.mu_lower_at_cut(&tails, p_cut, SIGNIFICANCE).expect("valid"));
            let bound = canaries.mu_lower(&tails, SIGNIFICANCE).expect("valid");
            [bound, each.into_iter().fold(0.0, f64::max)]
        });
        assert!(!sound.refute(SIGNIFICANCE), "{truth}: {sound:?}");
        let is_refuted = best_of_cuts.refute(SIGNIFICANCE);
        assert!(is_refuted || truth > 0.0, "the best of four cuts passed: {best_of_cuts:?}");
    }
}

#[test]
fn independent_canaries_cover_at_randomised_response() {
    const CANARIES: u64 = 200;
    let canaries = IndependentCanaries::new(CANARIES, SIGNIFICANCE).expect("valid");
    let published = PublishedRule::new(CANARIES, SIGNIFICANCE).expect("valid");
    for truth in [0.0, 1.0, 4.0] {
        let cut = 1.0 / (1.0 + math::exp(truth));
        let [band, one_cut, largest] = misses(truth, |draws| {
            let ln_p = (0..CANARIES).map(|_| randomised_response(draws, truth)).collect();
            let tails = NullTails::new(ln_p).expect("valid");
            let bound = canaries.epsilon_lower(&tails, 0.0).expect("valid");
            let at_cut = canaries.at_cut(&tails, cut, 0.0).expect("valid");
            [bound, at_cut.epsilon_lower(), published.epsilon(&tails, 0.0)]
        });
        for seen in [band, one_cut] {
            assert!(!seen.refute(SIGNIFICANCE), "{truth}: {seen:?}");
        }
        assert!(!band.stay_below(SIGNIFICANCE), "{truth}: {band:?}");
        assert!(largest.refute(0.5), "the published rule passed at {truth}: {largest:?}");
    }
}

#[test]
fn gaussian_bounds_cover_gaussian_canaries() {
    const CANARIES: u64 = 100;
    let canaries = IndependentCanaries::new(CANARIES, SIGNIFICANCE).expect("valid");
    let gdp = Gdp::new(&canaries);
    let truth = 1.0;
    let [mean, band, larger] = misses_of(20_000, truth, |draws| {
        let ln_p = (0..CANARIES).map(|_| normal_ln_cdf(-truth - draws.normal())).collect();
        let tails = NullTails::new(ln_p).expect("valid");
        let mean = gdp.mu_lower(&tails).expect("valid");
        let band = gdp.mu_lower_by_band(&tails).expect("valid");
        [mean, band, mean.max(band)]
    });
    for seen in [mean, band] {
        assert!(!seen.refute(SIGNIFICANCE) && !seen.stay_below(SIGNIFICANCE), "{seen:?}");
    }
    assert!(larger.refute(SIGNIFICANCE), "the larger of both passed: {larger:?}");
}

#[test]
fn gaussian_claims_are_not_epsilon_claims() {
    let canaries = IndependentCanaries::new(1_000, SIGNIFICANCE).expect("valid");
    let [by_curve, bound] = misses_of(200, 1.0, |draws| {
        let ln_p = (0..1_000).map(|_| randomised_response(draws, 1.0)).collect();
        let tails = NullTails::new(ln_p).expect("valid");
        let mu = Gdp::new(&canaries).mu_lower(&tails).expect("valid");
        let bound = canaries.epsilon_lower(&tails, 0.0).expect("valid");
        [gdp_epsilon(mu, 1e-6).expect("valid"), bound]
    });
    assert!(by_curve.seen > 180, "an ε by the Gaussian curve covers: {by_curve:?}");
    assert!(!bound.refute(SIGNIFICANCE), "{bound:?}");
}

/// Cosines of one Gaussian sum in full dimension, and a null distribution of a dimension that is
/// too small.
#[test]
fn canaries_that_were_not_in_have_uniform_p_values() {
    const DIMENSION: usize = 30;
    let null = |dimension: u64| CosineNull::new(dimension).expect("valid");
    let (exact, wrong) = (null(30), null(24));
    let mut draws = Draws::new(4);
    let [mut sound, mut broken] = [Misses::default(); 2];
    for _ in 0..20_000 {
        let direction: Vec<f64> = (0..DIMENSION).map(|_| draws.normal()).collect();
        let norm = direction.iter().map(|x| x * x).sum::<f64>().sqrt();
        // the output is any fixed vector
        let cosine = direction[0] / norm;
        let p = |null: &CosineNull| math::exp(null.ln_tail(cosine).expect("valid"));
        sound.count(p(&exact) < SIGNIFICANCE);
        broken.count(p(&wrong) < SIGNIFICANCE);
    }
    assert!(!sound.refute(SIGNIFICANCE) && !sound.stay_below(SIGNIFICANCE), "{sound:?}");
    assert!(broken.stay_below(SIGNIFICANCE), "{broken:?}");
}

/// Scores with two values, of which the upper has a probability of 1 %, at no leakage.
#[test]
fn ties_with_fresh_draws_cover_and_ranks_that_split_them_do_not() {
    let canaries = AnyMechanism::new(CanaryDesign::Poisson { mean: 20.0 }).expect("valid");
    let rule = canaries.simultaneous_rule(0.0, 0.9 * SIGNIFICANCE).expect("valid");
    let mut draws = Draws::new(92);
    let (mut bound, mut split) = (Misses::default(), Misses::default());
    for _ in 0..1500 {
        let score = |draws: &mut Draws| f64::from(u8::from(draws.uniform() < 0.01));
        let fresh = (0..2000).map(|_| score(&mut draws)).collect();
        let null = NullScores::of_fresh_draws(fresh, 0.1 * SIGNIFICANCE).expect("valid");
        let count = poisson(&mut draws, 20.0);
        let seen: Vec<f64> = (0..count).map(|_| score(&mut draws)).collect();
        bound.count(rule.epsilon_lower(&null.tails(&seen)).expect("valid") > 0.0);
        // a score that counts as above its equals
        let above: Vec<f64> = seen.iter().map(|score| score + 1e-9).collect();
        split.count(rule.epsilon_lower(&null.tails(&above)).expect("valid") > 0.0);
    }
    assert!(!bound.refute(SIGNIFICANCE), "{bound:?}");
    assert!(split.refute(SIGNIFICANCE), "{split:?}");
}

/// A training whose ε, and μ if it is Gaussian, are known.
struct Truth {
    epsilon: f64,
    delta: f64,
    gdp_mu: Option<f64>,
    /// Whether ε is that of one direction only: independent canaries are audited in both.
    is_forward: bool,
    /// ln p of a seen canary.
    ln_p: Box<dyn Fn(&mut Draws) -> f64>,
    /// Median of the bound for any training algorithm with 1,000 canaries, by another program.
    median: f64,
}

/// Medians of many runs.
struct Medians {
    epsilon: f64,
    /// That of the bound for any training algorithm by another program.
    expected: f64,
    /// True μ and the median of the bound on it from independent canaries.
    gdp: Option<[f64; 2]>,
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn truths() -> Vec<Truth> {
    let gaussian = |epsilon: f64, delta: f64, median: f64| {
        let mu = if epsilon > 0.0 { gdp_mu_for(epsilon, delta).expect("valid") } else { 0.0 };
        let ln_p = move |draws: &mut Draws| normal_ln_cdf(-mu - draws.normal());
        Truth { epsilon, delta, gdp_mu: Some(mu), is_forward: false, ln_p: Box::new(ln_p), median }
    };
    let pure = |epsilon: f64, is_forward: bool, median: f64| {
        let ln_p = move |draws: &mut Draws| {
            if is_forward {
                math::ln(draws.uniform()) - epsilon
            } else {
                randomised_response(draws, epsilon)
            }
        };
        Truth { epsilon, delta: 0.0, gdp_mu: None, is_forward, ln_p: Box::new(ln_p), median }
    };
    vec![
        gaussian(0.0, 1e-6, 0.0),
        gaussian(1.0, 1e-6, 0.252),
        gaussian(3.0, 1e-6, 1.317),
        gaussian(10.0, 1e-6, 5.953),
        gaussian(2.318, 0.01, 0.0),
        pure(1.0, false, 0.910),
        pure(4.0, false, 3.909),
        pure(4.0, true, 3.909),
    ]
}

/// Every bound at every truth, with 1,000 canaries.
fn check_all_truths(runs: u32) -> Vec<Medians> {
    const CANARIES: usize = 1_000;
    let mean = CANARIES as f64;
    let independent = IndependentCanaries::new(CANARIES as u64, SIGNIFICANCE).expect("valid");
    let canaries = AnyMechanism::new(CanaryDesign::Poisson { mean }).expect("valid");
    let mut medians = Vec::new();
    for truth in truths() {
        let (epsilon, delta) = (truth.epsilon, truth.delta);
        let by_poisson = rule(CanaryDesign::Poisson { mean }, delta);
        let by_number = rule(CanaryDesign::Fixed { canaries: CANARIES as u64 }, delta);
        let (mut all, mut of_mean) = (Vec::new(), Vec::new());
        let mut draws = Draws::new(2_302);
        let mut misses = [Misses::default(); 6];
        for _ in 0..runs {
            let mut tails = |count: usize| {
                let ln_p = (0..count).map(|_| (truth.ln_p)(&mut draws)).collect();
                NullTails::new(ln_p).expect("valid")
            };
            let fixed = tails(CANARIES);
            let count = poisson(&mut draws, mean);
            let mut tails = |count: usize| {
                let ln_p = (0..count).map(|_| (truth.ln_p)(&mut draws)).collect();
                NullTails::new(ln_p).expect("valid")
            };
            let random = tails(count);
            let bound = by_poisson(&random);
            all.push(bound);
            let of_epsilon = [
                bound,
                by_number(&fixed),
                independent.epsilon_lower(&fixed, delta).expect("valid"),
            ];
            let valid = if truth.is_forward { 2 } else { 3 };
            for (misses, bound) in misses.iter_mut().zip(of_epsilon).take(valid) {
                misses.count(bound > epsilon);
            }
            let Some(mu) = truth.gdp_mu else { continue };
            let gdp = Gdp::new(&independent);
            let of_mu = [
                canaries.mu_lower(&random, SIGNIFICANCE).expect("valid"),
                gdp.mu_lower(&fixed).expect("valid"),
                gdp.mu_lower_by_band(&fixed).expect("valid"),
            ];
            of_mean.push(of_mu[1]);
            for (misses, bound) in misses[3..].iter_mut().zip(of_mu) {
                misses.count(bound > mu);
            }
        }
        for (bound, misses) in misses.iter().enumerate() {
            assert!(!misses.refute(SIGNIFICANCE), "bound {bound} at ε = {epsilon}: {misses:?}");
        }
        let of_epsilon = median(all);
        let seen = misses.map(|misses| misses.seen);
        println!(
            "ε = {epsilon}, δ = {delta}: above it in {seen:?} of {runs}, median {of_epsilon:.3}"
        );
        let gdp = truth.gdp_mu.map(|mu| [mu, median(of_mean)]);
        medians.push(Medians { epsilon: of_epsilon, expected: truth.median, gdp });
    }
    medians
}

#[test]
fn every_bound_covers_at_every_truth() {
    check_all_truths(60);
}

#[test]
#[ignore = "2 minutes: 2,000 runs at each of eight truths"]
fn every_bound_covers_in_many_runs_and_is_tight() {
    let medians = check_all_truths(2_000);
    for &Medians { epsilon, expected, .. } in &medians {
        assert!((epsilon - expected).abs() <= 0.1 * expected + 1e-9, "{epsilon} {expected}");
    }
    // at ε of 3 and 10, by the Gaussian curve
    for [mu, lower] in medians[2..4].iter().filter_map(|medians| medians.gdp) {
        let epsilon = |mu: f64| gdp_epsilon(mu, 1e-6).expect("valid");
        assert!(epsilon(lower) >= 0.9 * epsilon(mu), "{lower} {mu}");
    }
}
