//! `dpscope bound`.

use dpscope_tests::cli::{number, text};

use super::json;
use crate::dpscope;

#[test]
fn the_pair_is_summarised_by_its_estimate_and_its_limit() {
    let words = "bound pair --noise-multiplier 1 --steps 100 --seed 1";
    let shown = dpscope(words).exits(0).stdout;
    let lines: Vec<&str> = shown.lines().collect();
    assert!(lines[0].starts_with("ε ≈ 4.06") && lines[0].contains("estimate"), "{shown}");
    assert!(lines[1].starts_with("ε ≥ 4.06") && lines[1].contains("95 % confidence"), "{shown}");
    assert_eq!(text(&json(words), "/kind"), "estimate");
    assert_eq!(text(&json(&format!("{words} --side upper")), "/kind"), "upper");
}

#[test]
fn a_loose_bound_is_not_called_proven() {
    let of = |noise: &str| {
        let words = format!("bound balls-in-bins --noise-multiplier {noise} --steps 100");
        dpscope(&words).exits(0).stdout
    };
    let [loose, tight] = ["0.1", "1"].map(of);
    assert!(tight.contains("proven"), "{tight}");
    assert!(!loose.contains("proven") && loose.contains("comparable to it"), "{loose}");
}

#[test]
fn pair_limits_have_the_requested_side() {
    let document = json("bound pair --side lower --noise-multiplier 1 --steps 100 --seed 3");
    let epsilon = number(&document, "/epsilon");
    assert!(epsilon > 4.0635 && epsilon < 4.0690, "{epsilon}");
    assert_eq!(number(&document, "/significance"), 0.05);
    let more = "bound pair --side lower --noise-multiplier 1 --steps 100 --seed 3";
    let more = json(&format!("{more} --observations 4e5 --significance 0.01"));
    assert_eq!(number(&more, "/draws/observations"), 4e5);
    assert_eq!(number(&more, "/significance"), 0.01);
    let many = json("bound pair --noise-multiplier 1 --steps 100 --epochs 5 --seed 3");
    let [lower, estimate, upper] =
        ["lower", "estimate", "upper"].map(|row| number(&many["rows"][row], "/epsilon"));
    assert!(lower >= 7.0876 && lower <= estimate + 0.1 && estimate <= upper, "{many:#}");
    assert_eq!(text(&many, "/rows/estimate/method"), "plug-in");
    // epochs too long to simulate: the proven bound is shown
    let long = json("bound pair --side lower --noise-multiplier 1 --steps 1e6 --seed 3");
    assert_eq!(number(&long, "/draws/observations"), 0.0);
    assert!(text(&long, "/rows/estimate/reason").contains("number of observations"));
}

#[test]
fn sides_have_their_proven_scope() {
    let setting = "--noise-multiplier 0.5 --steps 100";
    for (words, scope, method) in [
        ("shuffle --side upper", "mechanism", "analytic"),
        // (max_t x_t − 1.5)/σ² is at least the loss of deterministic batches, whose bound is shown
        ("shuffle --side upper --method max-slice", "mechanism", "analytic"),
        ("persistent-shuffle --side upper", "mechanism", "analytic"),
        ("deterministic --side lower", "pair", "analytic"),
        ("shuffle --method sum", "pair", "sum"),
        ("shuffle --method best", "pair", "max-slice"),
    ] {
        let document = json(&format!("bound {words} {setting}"));
        assert_eq!(text(&document, "/scope"), scope, "{words}");
        assert_eq!(text(&document, "/method"), method, "{words}");
    }
    let wide = json("bound shuffle --noise-multiplier 5 --steps 100");
    assert_eq!(text(&wide, "/method"), "sum");
}

#[test]
fn the_grid_of_too_many_epochs_is_replaced_by_one_epoch() {
    let setting = "--noise-multiplier 1 --steps 1 --epochs 1e6";
    let by = |method: &str| json(&format!("bound shuffle {setting} --method {method}"));
    let one = json("bound shuffle --noise-multiplier 1 --steps 1 --epochs 1 --method max-slice");
    assert_eq!(by("max-slice")["epsilon"], one["epsilon"]);
    assert_eq!(by("best"), by("sum"));
    let delta = number(&json(&format!("bound shuffle {setting} --epsilon 3")), "/delta");
    assert!(delta > 0.9 && delta <= 1.0, "{delta}");
}
