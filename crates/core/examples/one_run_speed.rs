//! Audits of one run per CPU-second: prints one line of JSON.
//!
//! `cargo run --release -p dpscope-core --example one_run_speed -- count`, or another of the jobs below

mod cpu_clock;

use std::error::Error;
use std::hint::black_box;

use dpscope_core::audit::one_run::{
    CanaryGame, CanaryScores, GaussianGuesses, GuessRule, Guesses, KnownSides, OneRunQuestion,
    Ranking, ranking_sizes,
};

use cpu_clock::CpuClock;

fn main() -> Result<(), Box<dyn Error>> {
    let what = std::env::args().nth(1).unwrap_or_default();
    let rate = match what.as_str() {
        "count" => rate(20_000, |i| {
            let guesses = Guesses::new(CanaryGame::coins(1_000_000)?, 1_000, 900 + i % 50)?;
            Ok(guesses.epsilon_lower(1e-9, 0.05)?)
        }),
        "gaussian" => rate(1_000, |i| {
            let guesses = Guesses::new(CanaryGame::coins(1_000)?, 1_000, 600 + i % 50)?;
            Ok(GaussianGuesses::new(guesses).mu_lower_by_recursion(0.05)?)
        }),
        "walk" => rate(1_000, |i| walk(1_000, i)),
        "long-walk" => rate(5, |i| walk(100_000, i)),
        "scores" => rate(5, scores),
        "explicit-cut" => rate(20_000, explicit_cut),
        other => Err(format!(
            "`{other}` is not count, gaussian, walk, long-walk, scores or explicit-cut"
        )
        .into()),
    }?;
    println!("{{\"audits_per_cpu_second\": {rate}}}");
    Ok(())
}

fn rate(
    repeats: u64,
    audit: impl Fn(u64) -> Result<f64, Box<dyn Error>>,
) -> Result<f64, Box<dyn Error>> {
    let clock = CpuClock::start();
    for repeat in 0..repeats {
        black_box(audit(black_box(repeat))?);
    }
    Ok(repeats as f64 / clock.seconds())
}

/// Counts along a ranking as of independent Gaussian scores, μ about 1: 80 % at the start, falling to
/// 69 %.
fn walk(canaries: u64, repeat: u64) -> Result<f64, Box<dyn Error>> {
    let sizes = ranking_sizes(canaries);
    let share = |size: u64| 0.69 + 0.25 * (1.0 - (size as f64 / canaries as f64).sqrt().sqrt());
    let correct = sizes.iter().map(|&size| (size as f64 * share(size)) as u64 - repeat % 2);
    let correct = correct.collect();
    Ok(Ranking::new(CanaryGame::coins(canaries)?, sizes, correct)?.epsilon_lower(1e-5, 0.05)?)
}

/// Guesses "included" on the scores above 1.5, of a thousand.
fn explicit_cut(repeat: u64) -> Result<f64, Box<dyn Error>> {
    let is_included = |i: u64| i.is_multiple_of(2);
    let score = |i: u64| (i * 7919 % 1_000) as f64 / 400.0 + f64::from(u8::from(is_included(i)));
    let beyond: Vec<u64> = (0..1_000).filter(|&i| black_box(score(i)) > 1.5).collect();
    let correct = beyond.iter().filter(|&&i| is_included(i)).count() as u64 - repeat % 2;
    let guesses = Guesses::new(CanaryGame::coins(1_000)?, beyond.len() as u64, correct)?;
    Ok(guesses.with_sides(KnownSides::One).epsilon_lower(1e-5, 0.05)?)
}

/// A million scores, 100,000 guesses.
fn scores(repeat: u64) -> Result<f64, Box<dyn Error>> {
    const CANARIES: u64 = 1_000_000;
    let hashed = |i: u64| (i + repeat).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
    let coins: Vec<bool> = (0..CANARIES).map(|i| hashed(i) & 1 == 1).collect();
    let noise = |i: u64| (hashed(i ^ 0x5555) >> 11) as f64 / (1_u64 << 53) as f64;
    let scores: Vec<f64> =
        (0..CANARIES).map(|i| noise(i) + 0.2 * f64::from(u8::from(hashed(i) & 1 == 1))).collect();
    let question = OneRunQuestion {
        deltas: &[1e-9],
        significance: 0.05,
        rule: GuessRule::Most(100_000),
        is_committed: true,
    };
    let result = CanaryScores::coins(&scores, &coins)?.audit(&question, &[], |index| index)?;
    Ok(result.bounds()[0].epsilon)
}
