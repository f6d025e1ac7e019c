//! Do plans predict what audits find?

use dpscope_core::audit::one_run::{CanaryGame, IdealAttack};
use dpscope_core::audit::one_shot::{AnyMechanism, CanaryDesign, GaussianLeak, NullTails};
use dpscope_core::math;
use dpscope_core::special::normal_ln_cdf;
use dpscope_tests::Draws;

/// Correct guesses where half of them are the largest scores and half the smallest.
fn correct_of_halves(draws: &mut Draws, canaries: usize, guesses: usize, mu: f64) -> usize {
    let mut scored: Vec<(f64, bool)> = (0..canaries)
        .map(|_| {
            let is_included = draws.uniform() < 0.5;
            (draws.normal() + if is_included { 0.5 * mu } else { -0.5 * mu }, is_included)
        })
        .collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0));
    let (largest, smallest) = (guesses.div_ceil(2), guesses / 2);
    let included = scored[..largest].iter().filter(|(_, is_included)| *is_included).count();
    let excluded = scored[canaries - smallest..].iter().filter(|(_, is_included)| !is_included);
    included + excluded.count()
}

#[test]
fn expected_guesses_are_those_of_simulated_attacks() {
    let mut draws = Draws::new(1);
    for (canaries, guesses, mu) in [
        (20, 17, 3.0),
        (20, 20, 4.0),
        (100, 90, 4.0),
        (100, 100, 6.0),
        (1000, 60, 1.0),
        (300, 3, 0.5),
    ] {
        let attack = IdealAttack::new(CanaryGame::coins(canaries).unwrap(), mu).unwrap();
        let runs = 400;
        let found: Vec<f64> = (0..runs)
            .map(|_| correct_of_halves(&mut draws, canaries as usize, guesses as usize, mu) as f64)
            .collect();
        let mean = found.iter().sum::<f64>() / f64::from(runs);
        let variance = found.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / f64::from(runs);
        let margin = 0.5 + 5.0 * (variance / f64::from(runs)).sqrt();
        let expected = attack.expected_of_halves(guesses).unwrap().correct() as f64;
        assert!((expected - mean).abs() <= margin, "{canaries} {guesses} {mu}: {expected} {mean}");
        // guesses by the sign of the score are right more often where nearly all are guessed
        let by_sign = attack.expected(guesses).unwrap().correct() as f64;
        assert!(guesses < 100 || by_sign > mean + margin, "{by_sign} {mean}");
    }
}

#[test]
fn medians_are_those_of_simulated_canaries() {
    let mut draws = Draws::new(2);
    for (mean, mu, delta) in [(20.0, 1.0, 1e-5), (200.0, 1.0, 1e-6), (200.0, 3.0, 1e-6)] {
        let canaries = AnyMechanism::new(CanaryDesign::Poisson { mean }).unwrap();
        let rule = canaries.simultaneous_rule(delta, 0.05).unwrap();
        let median = GaussianLeak::new(mu).unwrap().epsilon_shown(&rule, mean, 0.5, 1).unwrap();
        let runs = 2000;
        let at_least = (0..runs).filter(|_| {
            let mut time = 0.0;
            let mut ln_p = Vec::new();
            loop {
                time -= math::ln(draws.uniform());
                if time > mean {
                    break;
                }
                ln_p.push(normal_ln_cdf(-(draws.normal() + mu)));
            }
            rule.epsilon_lower(&NullTails::new(ln_p).unwrap()).unwrap() >= median
        });
        // five standard deviations; the best single rank alone would lie 300 to 700 above 1000
        let count = at_least.count() as f64;
        assert!((count - 1000.0).abs() < 5.0 * 500.0_f64.sqrt(), "{mean} {mu}: {median} {count}");
    }
}
