//! `dpscope bound`.

use dpscope_tests::cli::{number, text};
use serde_json::Value;

use super::{Golden, fields, golden, json};
use crate::dpscope;

/// Whether a value is on its side of the true value, within its stated error.
fn is_right(row: &Value, [low, high]: [f64; 2], more: f64) -> bool {
    let epsilon = number(row, "/epsilon");
    let error = number(row, "/numeric_error") + more;
    match text(row, "/kind") {
        "upper" => (low..=high + error).contains(&epsilon),
        "lower" => (low - error..=high).contains(&epsilon),
        _ => {
            let error = error + 4.0 * number(row, "/standard_error");
            (low - error..=high + error).contains(&epsilon)
        }
    }
}

#[track_caller]
fn assert_golden(subject: &str, case: &Golden, interval: [f64; 2], more: f64) {
    let row = json(&format!("bound {subject} {}", case.words()));
    assert!(is_right(&row, interval, more), "{} {interval:?}: {row:#}", case.id());
    // what the check would do to a wrong accountant
    let mut broken = row.clone();
    let wrong = if text(&row, "/kind") == "upper" { 0.95 } else { 1.05 };
    broken["epsilon"] = (wrong * number(&row, "/epsilon")).into();
    assert!(!is_right(&broken, interval, more), "{} {interval:?}: {broken:#}", case.id());
}

#[test]
fn poisson_values_match_golden_data() {
    for (place, case) in golden("a_poisson").iter().enumerate() {
        assert_golden("poisson", case, case.interval(Some("max")), 0.0);
        if place < 4 {
            assert_golden("poisson --side lower", case, case.interval(Some("max")), 0.0);
            for direction in ["remove", "add"] {
                let subject = format!("poisson --direction {direction}");
                assert_golden(&subject, case, case.interval(Some(direction)), 0.0);
            }
        }
    }
}

#[test]
fn other_values_match_golden_data() {
    for case in &golden("c_deterministic") {
        assert_golden("deterministic", case, case.interval(None), 0.0);
        assert_golden("deterministic --side lower", case, case.interval(None), 0.0);
        assert_golden("shuffle --side upper", case, case.interval(None), 0.0);
    }
    for group in ["b_shuffle_lower_single", "b_shuffle_lower_multi"] {
        for case in &golden(group) {
            // the intervals are as wide as the grid of the code that gave them
            assert_golden("shuffle --method max-slice", case, case.interval(None), 2e-4);
        }
    }
}

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
fn balls_in_bins_values_match_golden_data() {
    for case in &golden("d_balls_in_bins") {
        let interval = case.interval(None);
        for side in ["upper", "lower"] {
            let row = json(&format!("bound balls-in-bins --side {side} {}", case.words()));
            assert!(is_right(&row, interval, 0.0), "{} {interval:?}: {row:#}", case.id());
            assert!(number(&row, "/numeric_error") <= 1e-2, "{row:#}");
        }
    }
}

#[test]
fn exact_pair_values_match_golden_data() {
    for case in &golden("f_exact_pair_single") {
        let [low, high] = case.interval(None);
        let document = json(&format!("bound pair --side estimate --seed 1 {}", case.words()));
        assert!(is_right(&document, [low, high], 0.0), "{} {document:#}", case.id());
        let rows = &document["rows"];
        assert!(number(rows, "/lower/epsilon") <= high, "{} {rows:#}", case.id());
        assert!(number(rows, "/upper/epsilon") >= low, "{} {rows:#}", case.id());
    }
}

#[test]
fn documents_have_exactly_these_fields() {
    let setting = "--noise-multiplier 1 --steps 100";
    let value = ["delta", "direction", "epsilon", "kind", "method", "numeric_error", "scope"];
    let with = |more: &[&'static str]| {
        let mut names = [&value[..], more].concat();
        names.sort_unstable();
        names
    };
    let frame = ["schema", "settings", "subject", "version"];
    for subject in ["poisson", "deterministic", "balls-in-bins", "shuffle", "persistent-shuffle"] {
        let document = json(&format!("bound {subject} {setting}"));
        assert_eq!(fields(&document), with(&frame), "{subject}");
        assert_eq!(text(&document, "/schema"), "dpscope.bound/1");
        assert_eq!(text(&document, "/subject"), subject);
        let settings = ["epochs", "noise_multiplier", "sampling_rate", "steps"];
        let settings: Vec<&str> = settings
            .into_iter()
            .filter(|name| subject == "poisson" || *name != "sampling_rate")
            .collect();
        assert_eq!(fields(&document["settings"]), settings);
        let is_shuffle = subject == "shuffle";
        assert_eq!(text(&document, "/kind"), if is_shuffle { "lower" } else { "upper" });
        assert_eq!(text(&document, "/scope"), if is_shuffle { "pair" } else { "mechanism" });
    }
    let document = json(&format!("bound pair {setting} --side lower --seed 1"));
    let drawn = [&frame[..], &["draws", "rows", "significance"]].concat();
    assert_eq!(fields(&document), with(&drawn));
    assert_eq!(fields(&document["rows"]), ["estimate", "lower", "upper"]);
    assert_eq!(fields(&document["rows"]["lower"]), with(&["significance"]));
    assert_eq!(fields(&document["rows"]["estimate"]), with(&["standard_error"]));
    assert_eq!(fields(&document["rows"]["upper"]), with(&[]));
    assert_eq!(fields(&document["draws"]), ["device", "observations", "seed"]);
    assert_eq!(number(&document, "/epsilon"), number(&document, "/rows/lower/epsilon"));
    assert_eq!(json(&format!("bound pair {setting} --side lower --seed 1")), document);
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
fn large_values_are_not_capped() {
    let far = json("bound deterministic --noise-multiplier 1 --steps 440 --epochs 509");
    assert!((number(&far, "/epsilon") - 349.804_809).abs() < 1e-5);
    let far = json("bound poisson --noise-multiplier 0.3 --steps 20 --sampling-rate 0.5");
    assert!(number(&far, "/epsilon") > 60.0);
    assert_eq!(number(&far, "/settings/sampling_rate"), 0.5);
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
fn persistent_shuffles_equal_one_epoch_with_less_noise() {
    for side in ["lower", "upper"] {
        for method in ["max-slice", "best"] {
            let words = format!("--side {side} --method {method} --steps 100");
            let four =
                json(&format!("bound persistent-shuffle {words} --noise-multiplier 1 --epochs 4"));
            let one = json(&format!("bound shuffle {words} --noise-multiplier 0.5"));
            let [four, one] = [&four, &one].map(|document| number(document, "/epsilon"));
            assert!((four - one).abs() < 1e-9, "{side} {method}: {four} {one}");
        }
    }
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

#[test]
fn delta_inverts_epsilon() {
    let setting = "--noise-multiplier 1 --steps 100";
    for subject in [
        "poisson",
        "poisson --side lower",
        "poisson --direction add",
        "deterministic",
        "deterministic --side lower",
        "shuffle",
        "shuffle --method sum",
        "shuffle --side upper",
        "shuffle --side upper --method max-slice",
        "persistent-shuffle --epochs 3",
        "balls-in-bins",
        "pair --seed 1",
    ] {
        let epsilon = number(&json(&format!("bound {subject} {setting}")), "/epsilon");
        let document = json(&format!("bound {subject} {setting} --epsilon {epsilon}"));
        let delta = number(&document, "/delta");
        // a slow grid: δ moves by a tenth where ε does by 0.01
        let error = if subject == "balls-in-bins" { 0.1 } else { 2e-3 };
        assert!((delta / 1e-5 - 1.0).abs() < error, "{subject}: {delta}");
        assert_eq!(number(&document, "/epsilon"), epsilon);
    }
    let shown = dpscope(&format!("bound deterministic {setting} --epsilon 3")).exits(0).stdout;
    assert!(shown.starts_with("δ ≤ 1.538e-3 at ε = 3, proven\n"), "{shown}");
}
