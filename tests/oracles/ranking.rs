//! Areas under the curves of scores against scikit-learn: `ranking/generate.py`.

use dpscope_core::ranking::RankingQuality;
use serde_json::Value;

fn numbers(case: &Value, name: &str) -> Vec<f64> {
    let numbers = case[name].as_array().expect("a list").iter();
    numbers.map(|number| number.as_f64().expect("a number")).collect()
}

/// The largest errors of AUROC and AUPRC, of scores that are changed first.
fn worst(change: impl Fn(usize, f64) -> f64) -> [f64; 2] {
    let cases: Value = serde_json::from_str(include_str!("ranking/ranking.json")).expect("json");
    let mut largest = [0.0_f64; 2];
    for case in cases.as_array().expect("cases") {
        let scores = numbers(case, "scores").into_iter().enumerate();
        let scores: Vec<f64> = scores.map(|(at, score)| change(at, score)).collect();
        let classes: Vec<bool> =
            numbers(case, "classes").iter().map(|class| *class > 0.5).collect();
        let found = RankingQuality::of(&scores, &classes).expect("two classes");
        let errors = [(found.auroc, "auroc"), (found.auprc, "auprc")];
        for (largest, (found, name)) in largest.iter_mut().zip(errors) {
            *largest = largest.max((found - case[name].as_f64().expect("a number")).abs());
        }
    }
    largest
}

#[test]
fn areas_are_those_of_scikit_learn() {
    let errors = worst(|_, score| score);
    assert!(errors.iter().all(|error| *error < 1e-12), "{errors:?}");
}

#[test]
fn ties_that_are_split_are_rejected() {
    // in the order of the examples, as a sort without groups leaves them
    let errors = worst(|at, score| score - 1e-9 * at as f64);
    assert!(errors.iter().all(|error| *error > 1e-3), "{errors:?}");
    let errors = worst(|_, score| -score);
    assert!(errors.iter().all(|error| *error > 0.1), "{errors:?}");
}
