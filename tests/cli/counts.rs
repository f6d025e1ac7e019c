//! `dpscope audit counts`.

use dpscope_core::math::ln;
use dpscope_tests::cli::{number, text};
use dpscope_tests::{cases, relative_change};

use crate::dpscope;

const ESTIMATORS: &str = include_str!("../oracles/data/estimators.json");

fn words(false_positives: u64, zero_out: u64, false_negatives: u64, target: u64) -> String {
    format!(
        "audit counts --false-positives {false_positives} --zero-out-trials {zero_out} \
         --false-negatives {false_negatives} --target-trials {target}"
    )
}

/// Largest relative change of the printed limits from the oracle's, with the worlds as the program
/// has them, or swapped.
fn worst(swapped: bool) -> f64 {
    let mut largest = 0.0_f64;
    for case in cases(ESTIMATORS, "a_clopper_pearson_counts").iter().step_by(3) {
        let [tp, misses, alarms, tn] = ["TP", "FN", "FP", "TN"].map(|name| case.count(name));
        let [fp, zero_out, missed, target] = if swapped {
            [misses, tp + misses, alarms, tn + alarms]
        } else {
            [alarms, tn + alarms, misses, tp + misses]
        };
        let (delta, alpha) = (case.input("delta"), case.input("alpha"));
        let words = words(fp, zero_out, missed, target);
        let report = dpscope(&format!("{words} --delta {delta} --significance {alpha} --json"))
            .exits(0)
            .json();
        let expected = case.expected("rates_upper_bounds tail alpha/2").expect("rates");
        let [fpr, fnr] = ["fpr_ub", "fnr_ub"].map(|name| expected[name].as_f64().expect("rate"));
        for (path, value) in [("/result/fpr_upper", fpr), ("/result/fnr_upper", fnr)] {
            largest = largest.max(relative_change(number(&report, path), value));
        }
        let remove = (1.0 - fnr - delta).max(0.0) / fpr;
        let add = (1.0 - fpr - delta).max(0.0) / fnr;
        let epsilon = ln(remove.max(add).max(1.0));
        largest = largest.max((number(&report, "/result/epsilon") - epsilon).abs());
    }
    largest
}

#[test]
fn counts_yield_the_published_limits() {
    let largest = worst(false);
    assert!(largest > 0.0 && largest < 1e-9, "{largest:e}");
    assert!(worst(true) > 0.1);
}

#[test]
fn reports_of_counts_name_their_subject() {
    let report =
        dpscope(&format!("{} --claim 5 --json", words(12, 1000, 480, 1000))).exits(0).json();
    for (path, expected) in [
        ("/schema", "dpscope.report/2"),
        ("/subject", "counts"),
        ("/result/kind", "bound"),
        ("/result/threshold_rule", "fixed"),
        ("/credible/kind", "credible"),
        ("/claim/verdict/outcome", "not-refuted"),
    ] {
        assert_eq!(text(&report, path), expected, "{path}");
    }
    for path in ["/seed", "/plan", "/result/threshold", "/histogram_digest"] {
        assert!(report.pointer(path).is_some_and(serde_json::Value::is_null), "{path}");
    }
    dpscope(&format!("{} --claim 1", words(12, 1000, 480, 1000))).exits(3);
    let shown = dpscope(&format!("{} --claim 6", words(12, 1000, 480, 1000))).exits(6).stdout;
    assert!(
        shown.contains("inconclusive") && shown.contains("could not refute the claim"),
        "{shown}"
    );
    let shown = dpscope(&format!("{} --claim 1", words(990, 1000, 980, 1000))).exits(6).stdout;
    assert!(shown.contains("reverse scores or decisions"), "{shown}");
}

#[test]
fn random_guessing_yields_zero_epsilon() {
    let shown = dpscope(&words(500, 1000, 500, 1000)).exits(0).stdout;
    assert!(shown.starts_with("ε ≥ 0.0000 at"), "{shown}");
    assert!(shown.contains("did not find any leakage. That proves nothing."), "{shown}");
    dpscope(&format!("{} --fail-above 0", words(500, 1000, 500, 1000))).exits(0);
}

#[test]
fn impossible_counts_are_rejected() {
    for (words, part) in [
        (words(11, 10, 0, 10), "--false-positives is 11, but --zero-out-trials is 10"),
        (words(0, 10, 11, 10), "--false-negatives is 11, but --target-trials is 10"),
        (words(0, 0, 0, 10), "at least one trial"),
        (
            words(0, 10, 0, u64::MAX),
            "`18446744073709551615` is too large: the largest value is 2^53",
        ),
    ] {
        dpscope(&words).refuses(2, &[part]);
    }
    let with = |name: &str, value: &str| {
        words(0, 10, 0, 10).replace(&format!("--{name} 0"), &format!("--{name} {value}"))
    };
    for value in ["-1", "1.5", "nan", "1e30", "many"] {
        dpscope(&with("false-positives", value)).refuses(2, &["--false-positives", value]);
    }
    dpscope("audit counts --false-positives 1").refuses(2, &["--target-trials"]);
}
