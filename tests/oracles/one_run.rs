//! Bounds of one run beside linear programs over all mechanisms and over all distributions of counts.

use dpscope_core::audit::one_run::{CanaryGame, Guesses, IdealAttack};
use dpscope_tests::Table;

/// Error of the linear programs.
const ERROR: f64 = 1e-8;

fn cases(text: &str) -> Vec<(Guesses, f64, f64, f64)> {
    let table = Table::parse(text);
    let rows = table.rows().map(|row| {
        let game = CanaryGame::coins(row.count("canaries")).expect("valid");
        let guesses = Guesses::new(game, row.count("guesses"), row.count("correct"));
        let (epsilon, delta) = (row.float("epsilon"), row.float("delta"));
        (guesses.expect("valid"), epsilon, delta, row.float("probability"))
    });
    rows.collect()
}

#[test]
fn p_values_are_the_optima_of_linear_programs() {
    for text in [include_str!("one_run/mechanisms.csv"), include_str!("one_run/counts.csv")] {
        for (guesses, epsilon, delta, probability) in cases(text) {
            let p = guesses.p_value(epsilon, delta).unwrap();
            assert!(
                (p - probability).abs() < ERROR,
                "{guesses:?} {epsilon} {delta}: {p} {probability}"
            );
        }
    }
}

#[test]
fn other_coefficients_of_delta_are_rejected() {
    let counts = cases(include_str!("one_run/counts.csv"));
    let with_delta = counts.iter().filter(|(_, _, delta, _)| *delta > 0.0);
    let p = |guesses: &Guesses, epsilon, delta| guesses.p_value(epsilon, delta).unwrap();
    let (mut ignored, mut guessed_only) = (0, 0);
    for (guesses, epsilon, delta, probability) in with_delta {
        let of_guessed = guesses.guesses() as f64 / guesses.game().canaries() as f64;
        ignored += u32::from(p(guesses, *epsilon, 0.0) < probability - ERROR);
        guessed_only += u32::from(p(guesses, *epsilon, delta * of_guessed) < probability - ERROR);
    }
    assert!(ignored > 15 && guessed_only > 15, "{ignored} {guessed_only}");
}

#[test]
fn plans_find_the_published_sizes() {
    // medians of drawn scores at δ = 1e-5, for the best of a few numbers of guesses
    for (canaries, mu, bound) in [(1_000, 1.0, 1.70), (1_000, 2.0, 3.51), (10_000, 1.0, 2.37)] {
        let attack = IdealAttack::new(CanaryGame::coins(canaries).unwrap(), mu).unwrap();
        let (_, found) = attack.best_guesses(1e-5, 0.05).unwrap();
        assert!(found > bound - 0.01 && found < bound + 0.03, "{canaries} {mu}: {found}");
    }
    let needed = IdealAttack::canaries_for(1.0, 2.37, None, 1e-5, 0.05).unwrap().unwrap();
    assert!((8_000..11_000).contains(&needed), "{needed}");
    assert_eq!(IdealAttack::canaries_for(0.0, 1.0, None, 1e-5, 0.05).unwrap(), None);
}
