//! The forest beside scikit-learn's.

use dpscope_core::audit::Auc;
use dpscope_core::audit::trade_off::TradeOff;
use dpscope_synth::attack::{Forest, ForestOptions};

/// Mean area over forests of four seeds, on the second half of the frozen features.
fn area(trees: u32, is_rounded: bool) -> f64 {
    let (mut examples, mut classes) = (Vec::new(), Vec::new());
    for line in include_str!("forest_data/features.csv").lines() {
        let mut numbers = line.split(',').map(|cell| cell.parse::<f64>().unwrap());
        classes.push(numbers.next().unwrap() == 1.0);
        examples.push(numbers.collect::<Vec<_>>());
    }
    let of = |seed| {
        let forest =
            Forest::grow(&examples[..300], &classes[..300], &ForestOptions { trees, seed });
        let scores = |is_one: bool| -> Vec<f64> {
            let chosen = (300..600).filter(|at| classes[*at] == is_one);
            let score = |at: usize| {
                let score = forest.score(&examples[at]);
                // votes in place of shares
                if is_rounded { (score * 3.0).round() } else { score }
            };
            chosen.map(score).collect()
        };
        Auc::of(&TradeOff::from_scores(scores(true), scores(false)).unwrap(), 0.05).unwrap().value
    };
    (0..4).map(of).sum::<f64>() / 4.0
}

#[test]
fn areas_are_those_of_scikit_learn() {
    let expected = include_str!("forest_data/expected.json");
    let expected = expected.split("\"auc\": ").nth(1).unwrap().split(',').next().unwrap();
    let expected: f64 = expected.parse().unwrap();
    let found = area(300, false);
    assert!((found - expected).abs() < 0.01, "{found} {expected}");
    // one tree, and scores that are rounded, are worse
    assert!((area(1, false) - expected).abs() > 0.01);
    assert!((area(300, true) - expected).abs() > 0.01, "{}", area(300, true));
}
