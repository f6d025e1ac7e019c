//! Mean bounds of the default rule for scores, as shares of that of the best fixed threshold: prints
//! a Markdown table.
//!
//! `cargo run --release -p dpscope-core --example threshold_rules [LARGEST_N]`

use dpscope_core::audit::bound::{ThresholdRule, at_fixed_cut, split};
use dpscope_core::audit::trade_off::TradeOff;
use dpscope_core::audit::{AuditOptions, Scores};
use dpscope_core::math::ln;
use dpscope_core::random::{Purpose, Words};
use dpscope_core::special::normal_quantile;

type Failure = Box<dyn std::error::Error>;

/// Scores of D and of D′ by inversion of a distribution.
#[derive(Clone, Copy)]
enum Pair {
    Gaussian(f64),
    Laplace(f64),
    /// D has the share of the second number shifted by the first.
    Mixture(f64, f64),
}

const PAIRS: [Pair; 8] = [
    Pair::Gaussian(0.5),
    Pair::Gaussian(1.0),
    Pair::Gaussian(2.0),
    Pair::Gaussian(3.0),
    Pair::Gaussian(4.0),
    Pair::Laplace(1.0),
    Pair::Laplace(3.0),
    Pair::Mixture(3.0, 0.2),
];

const SIZES: [u32; 7] = [50, 200, 1_000, 10_000, 100_000, 1_000_000, 10_000_000];

impl Pair {
    fn name(self) -> String {
        match self {
            Pair::Gaussian(mu) => format!("Gaussian, μ = {mu}"),
            Pair::Laplace(shift) => format!("Laplace, shift {shift}"),
            Pair::Mixture(shift, share) => format!("{share} of D shifted by {shift}"),
        }
    }

    fn worlds(self, words: &mut Words, n: u32) -> Result<[Vec<f64>; 2], Failure> {
        let mut uniform = || {
            let high = u64::from(words.next_word()) << 20;
            ((high | u64::from(words.next_word() >> 12)) as f64 + 0.5) / (1_u64 << 52) as f64
        };
        let mut draw = |is_target: bool| -> Result<f64, Failure> {
            Ok(match self {
                Pair::Gaussian(mu) => {
                    normal_quantile(uniform())? + if is_target { mu } else { 0.0 }
                }
                Pair::Laplace(shift) => {
                    let u = uniform() - 0.5;
                    -u.signum() * ln(1.0 - 2.0 * u.abs()) + if is_target { shift } else { 0.0 }
                }
                Pair::Mixture(shift, share) => {
                    let is_shifted = uniform() < share && is_target;
                    normal_quantile(uniform())? + if is_shifted { shift } else { 0.0 }
                }
            })
        };
        let mut world =
            |is_target| -> Result<Vec<f64>, Failure> { (0..n).map(|_| draw(is_target)).collect() };
        Ok([world(true)?, world(false)?])
    }
}

/// Mean bounds: of the default rule, of two halves, and of the best of many fixed thresholds.
fn means(pair: Pair, n: u32) -> Result<[f64; 3], Failure> {
    let repetitions = (3_000_000 / n).clamp(4, 400);
    let ranks: Vec<usize> = {
        let mut rank = 0.0_f64;
        let rising = std::iter::repeat_with(|| {
            rank = (rank + 1.0).max(rank * 1.1);
            rank as usize - 1
        });
        rising.take_while(|&rank| rank < n as usize / 2).collect()
    };
    let mut fixed: Vec<f64> = Vec::new();
    let mut sums = [vec![], vec![]];
    let mut found = [0.0; 3];
    for repetition in 0..repetitions {
        let mut words = Words::new(17, Purpose::Test, u64::from(repetition));
        let [target, zero_out] = pair.worlds(&mut words, n)?;
        let all = TradeOff::from_scores(target.as_slice(), zero_out.as_slice())?;
        if fixed.is_empty() {
            // the quantiles of one more draw are thresholds known in advance
            let mut words = Words::new(18, Purpose::Test, 0);
            for mut world in pair.worlds(&mut words, n)? {
                world.sort_unstable_by(f64::total_cmp);
                let ends = ranks.iter().flat_map(|&rank| [rank, n as usize - 1 - rank]);
                fixed.extend(ends.filter_map(|rank| world.get(rank).copied()));
            }
            sums = [vec![0.0; fixed.len()], vec![0.0; fixed.len()]];
        }
        for (sum, &threshold) in sums[repetition as usize % 2].iter_mut().zip(&fixed) {
            *sum += at_fixed_cut(all.at_threshold(threshold), all.trials(), 1e-5, 0.05)?.value();
        }
        let options = AuditOptions {
            threshold_rule: ThresholdRule::Split,
            seed: u64::from(repetition),
            ..AuditOptions::default()
        };
        found[0] += Scores::new(&target, &zero_out).audit(&options)?.epsilon();
        let half = n as usize / 2;
        let [choose, evaluate] = [0..half, half..n as usize]
            .map(|part| TradeOff::from_scores(&target[part.clone()], &zero_out[part]));
        found[1] += split(&choose?, &evaluate?, 1e-5, 0.05)?.value();
    }
    // chosen on the even repetitions, averaged over the odd ones, and the reverse
    let best =
        |sums: &[f64]| (0..sums.len()).max_by(|a, b| sums[*a].total_cmp(&sums[*b])).unwrap_or(0);
    found[2] = sums[0][best(&sums[1])] + sums[1][best(&sums[0])];
    Ok(found.map(|sum| sum / f64::from(repetitions)))
}

fn main() -> Result<(), Failure> {
    let largest = std::env::args().nth(1).map_or(Ok(100_000), |text| text.parse())?;
    let sizes: Vec<u32> = SIZES.into_iter().filter(|&n| n <= largest).collect();
    let columns: Vec<String> = sizes.iter().map(|n| format!("n = {n}")).collect();
    println!("| scores | {} |", columns.join(" | "));
    println!("|---|{}", "---|".repeat(sizes.len()));
    for pair in PAIRS {
        let mut cells = Vec::new();
        for &n in &sizes {
            let [default, halves, best] = means(pair, n)?;
            let share = |value: f64| if best > 0.05 { value / best } else { 1.0 };
            cells.push(format!("{:.2} ({:.2})", share(default), share(halves)));
        }
        println!("| {} | {} |", pair.name(), cells.join(" | "));
    }
    Ok(())
}
