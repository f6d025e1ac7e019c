//! Scores per CPU-second from memory to ε by the split rule: prints one line of JSON.
//!
//! `cargo run --release -p dpscope-core --example scores_speed`

mod cpu_clock;

use dpscope_core::audit::bound::split;
use dpscope_core::audit::trade_off::TradeOff;
use dpscope_core::special::normal_quantile;

use cpu_clock::CpuClock;

const SCORES: u32 = 10_000_000;

/// The clock ticks every few milliseconds.
const REPETITIONS: u32 = 40;

/// A quarter of the scores: normal quantiles in a scrambled order, without ties.
fn quarter(mean: f64, phase: f64) -> Result<Vec<f64>, Box<dyn std::error::Error>> {
    let uniform = |i: u32| (f64::from(i) * 0.618_033_988_749_894_9 + phase).fract();
    let one = |i| Ok(mean + normal_quantile(uniform(i).clamp(1e-12, 1.0 - 1e-12))?);
    (1..=SCORES / 4).map(one).collect()
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let halves = [(0.1, 0.2), (0.3, 0.4)];
    let [choose, evaluate] = halves.map(|(d, d_prime)| (quarter(1.0, d), quarter(0.0, d_prime)));
    let (choose, evaluate) = ((choose.0?, choose.1?), (evaluate.0?, evaluate.1?));
    let (mut seconds, mut epsilon) = (0.0, 0.0);
    for _ in 0..REPETITIONS {
        let (choose, evaluate) = (choose.clone(), evaluate.clone());
        let clock = CpuClock::start();
        let choose = TradeOff::from_scores(choose.0, choose.1)?;
        let evaluate = TradeOff::from_scores(evaluate.0, evaluate.1)?;
        epsilon = split(&choose, &evaluate, 1e-5, 0.05)?.value();
        seconds += clock.seconds();
    }
    let rate = f64::from(REPETITIONS) * f64::from(SCORES) / seconds;
    println!("{{\"scores_per_cpu_second\": {rate:.0}, \"epsilon\": {epsilon}}}");
    Ok(())
}
