//! Probe
use dpscope_tests::simulate::*;
#[test]
fn probe() {
    let text = include_str!("simulated.csv");
    let table = dpscope_tests::Table::parse(text);
    for row in table.rows() {
        let n = row.count("observations");
        if n > 1_000_000 {
            continue;
        }
        let seeds = if n < 1_000_000 { 20 } else { 6 };
        let steps = row.count("steps") as u32;
        let start = std::time::Instant::now();
        let v: Vec<(f64, f64)> = (1..=seeds)
            .map(|seed| {
                let a =
                    counted(&planned(shuffled(row.float("noise_multiplier"), steps, 1), n, seed));
                (uncorrected(&a), a.outcome().unwrap().value())
            })
            .collect();
        let u = Spread::of(&v.iter().map(|v| v.0).collect::<Vec<_>>());
        let b = Spread::of(&v.iter().map(|v| v.1).collect::<Vec<_>>());
        println!(
            "{} {} {}: stated {}±{} ours {:.3}±{:.3} bound {:.3}±{:.3} {:?}",
            row.text("noise_multiplier"),
            steps,
            n,
            row.text("mean"),
            row.text("standard_deviation"),
            u.mean,
            u.standard_deviation,
            b.mean,
            b.standard_deviation,
            start.elapsed()
        );
    }
}
