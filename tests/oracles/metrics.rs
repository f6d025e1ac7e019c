//! Metrics of attacks against scipy and jax-privacy: `metrics/generate.py`.

use std::path::Path;

use dpscope_core::audit::Auc;
use dpscope_core::audit::bound::at_fixed_cut;
use dpscope_core::audit::metrics::TprAtFpr;
use dpscope_core::audit::trade_off::TradeOff;
use dpscope_formats::{Dataset, Limits};
use dpscope_tests::Table;

const SIGNIFICANCE: f64 = 0.05;

fn scores(name: &str) -> Vec<f64> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("oracles/data/scores");
    let bytes = std::fs::read(folder.join(name)).expect("golden scores");
    let dataset = Dataset::open(&bytes, name, &Limits::default()).expect("golden scores");
    dataset.into_only().expect("one array").into_parts().1
}

/// The largest error of values and limits of scores, the worlds swapped or not.
fn worst(is_swapped: bool) -> f64 {
    let table = Table::parse(include_str!("metrics/metrics.csv"));
    let mut largest = 0.0_f64;
    for row in table.rows() {
        let world = |world: &str| scores(&format!("{}_{world}.npy", row.text("scores")));
        let (target, zero_out) = (world("in"), world("out"));
        let seen = if is_swapped {
            TradeOff::from_scores(zero_out, target)
        } else {
            TradeOff::from_scores(target, zero_out)
        };
        let seen = seen.expect("both worlds");
        let mut compare = |found: f64, column: &str| {
            largest = largest.max((found - row.float(column)).abs());
        };
        match row.text("quantity") {
            "auc" => compare(Auc::of(&seen, SIGNIFICANCE).expect("valid").value, "value"),
            "tpr" => {
                let found = TprAtFpr::of(&seen, row.float("at"), SIGNIFICANCE).expect("valid");
                compare(found.value, "value");
                compare(found.lower, "lower");
                compare(found.upper, "upper");
            }
            _ => {
                let cut = seen.at_threshold(row.float("lower"));
                let bound = at_fixed_cut(cut, seen.trials(), row.float("at"), SIGNIFICANCE);
                compare(bound.expect("valid").value(), "value");
            }
        }
    }
    largest
}

#[test]
fn metrics_agree_with_scipy_and_jax_privacy() {
    assert!(worst(false) < 1e-9, "{:e}", worst(false));
}

#[test]
fn swapped_worlds_are_rejected() {
    assert!(worst(true) > 0.1);
}
