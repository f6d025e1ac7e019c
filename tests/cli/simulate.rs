//! `dpscope audit bgm`: fields of a report, seeds, claims.

use dpscope_core::math::exp;
use dpscope_tests::cli::{number, text};
use serde_json::Value;

use crate::{SMALL, dpscope};

fn report(words: &str) -> Value {
    dpscope(&format!("{words} --json")).exits(0).json()
}

#[test]
fn reports_say_what_was_done() {
    let report = report(&format!("{SMALL} --claim 5"));
    for (path, expected) in [
        ("/schema", "dpscope.report/2"),
        ("/verdict/outcome", "not-refuted"),
        ("/verdict/reason", "bound_within_claim"),
        ("/bounds/0/quantity", "epsilon"),
        ("/bounds/0/assumes", "nothing"),
        ("/bounds/0/unit", "record"),
        ("/bounds/1/quantity", "gdp_mu"),
        ("/version", env!("CARGO_PKG_VERSION")),
        ("/subject", "simulated_mechanism"),
        ("/adjacency", "zero-out"),
        ("/result/kind", "bound"),
        ("/result/threshold_rule", "simultaneous"),
        ("/result/scope", "pair"),
        ("/uncorrected_maximum/kind", "estimate"),
        ("/seed", "7"),
        ("/plan/seed", "7"),
        ("/seed_source", "given"),
        ("/float_mode", "exact"),
        ("/claim/verdict/outcome", "not-refuted"),
    ] {
        assert_eq!(text(&report, path), expected, "{path}");
    }
}

#[test]
fn numbers_of_a_report_are_consistent() {
    let report = report(&format!("{SMALL} --significance 0.1"));
    let at = |path| number(&report, path);
    assert_eq!((at("/observations/target"), at("/observations/zero_out")), (15_000.0, 15_000.0));
    let (fpr, fnr) = (at("/result/fpr_upper"), at("/result/fnr_upper"));
    let epsilon = at("/result/epsilon");
    let kept = match text(&report, "/result/direction") {
        "remove" => (1.0 - at("/result/delta") - fnr) / fpr,
        _ => (1.0 - at("/result/delta") - fpr) / fnr,
    };
    assert!((exp(epsilon) / kept - 1.0).abs() < 1e-9, "{epsilon} {kept}");
    assert!(fpr > at("/result/false_positives") / 15_000.0);
    assert!(fnr > at("/result/false_negatives") / 15_000.0);
    let tail = at("/result/significance") / (2.0 * at("/result/cuts"));
    assert!((at("/result/tail_per_rate") / tail - 1.0).abs() < 1e-12);
    assert!(epsilon < at("/result/ceiling") && epsilon <= at("/uncorrected_maximum/epsilon"));
    let events = at("/result/false_positives").min(at("/result/false_negatives"));
    assert_eq!(at("/result/events_at_threshold"), events);
    assert!(at("/result/gain_at_10x") > 0.0);
}

#[test]
fn all_rules_and_samplers_run() {
    for (rule, kind) in
        [("simultaneous", "bound"), ("split", "bound"), ("max-uncorrected", "estimate")]
    {
        let report = report(&format!("{SMALL} --threshold-rule {rule}"));
        assert_eq!(text(&report, "/result/kind"), kind);
        assert_eq!(text(&report, "/result/threshold_rule"), rule);
        let evaluated = if rule == "split" { 7_500.0 } else { 15_000.0 };
        assert_eq!(number(&report, "/observations/evaluated/target"), evaluated);
    }
    for sampler in [
        "poisson",
        "shuffle --epochs 3",
        "persistent-shuffle --epochs 3",
        "balls-in-bins",
        "deterministic --threat-model target-canary",
        "partial-shuffle --buffer-examples 12 --batch-size 4",
        "sliding-buffer --buffer-examples 12 --batch-size 4",
        "batch-then-shuffle --batch-size 4",
    ] {
        let report = report(&format!("{SMALL} --sampler {sampler}"));
        let shown = report.pointer("/plan/mechanism/sampler").unwrap().to_string();
        assert!(shown.contains(sampler.split(' ').next().unwrap()), "{shown}");
    }
}

#[test]
fn equal_seeds_yield_equal_reports() {
    let repeatable = |words: &str| {
        let mut report = report(words);
        for time in ["elapsed_ms", "normals_per_second"] {
            report.as_object_mut().unwrap().remove(time).unwrap();
        }
        report
    };
    assert_eq!(repeatable(SMALL), repeatable(SMALL));
    let one_thread = report(&format!("{SMALL} --threads 1"));
    let digest = text(&one_thread, "/histogram_digest");
    assert_eq!(digest, text(&report(SMALL), "/histogram_digest"));

    let without_seed = SMALL.trim_end_matches(" --seed 7");
    let [mut drawn, other] = [report(without_seed), report(without_seed)];
    assert_ne!(drawn["seed"], other["seed"]);
    assert_ne!(drawn["histogram_digest"], other["histogram_digest"]);
    assert_eq!(text(&drawn, "/seed_source"), "entropy");
    let mut again = repeatable(&format!("{without_seed} --seed {}", text(&drawn, "/seed")));
    for report in [&mut drawn, &mut again] {
        let report = report.as_object_mut().unwrap();
        report.retain(|key, _| {
            !["elapsed_ms", "normals_per_second", "seed_source"].contains(&key.as_str())
        });
    }
    assert_eq!(drawn, again);
}

#[test]
fn drawn_seeds_are_printed() {
    let shown = dpscope(SMALL.trim_end_matches(" --seed 7")).exits(0).stdout;
    assert!(shown.contains("(drawn; --seed repeats this run)"), "{shown}");
}

#[test]
fn claims_are_refuted_only_by_larger_bounds() {
    let refuted = dpscope(&format!("{SMALL} --claim 0.1")).exits(3);
    assert!(refuted.stdout.contains("claim ε = 0.1 at δ = 1e-5: REFUTED"), "{}", refuted.stdout);
    let json = dpscope(&format!("{SMALL} --claim 0.1 --json")).exits(3).json();
    assert_eq!(text(&json, "/claim/verdict/outcome"), "refuted");
    assert!(text(&json, "/claim/says").contains("does not measure your trained model"));

    let kept = dpscope(&format!("{SMALL} --claim 5")).exits(0);
    assert!(kept.stdout.contains("claim ε = 5 at δ = 1e-5: not refuted"), "{}", kept.stdout);
    assert!(kept.stdout.contains("proves nothing"), "{}", kept.stdout);
    // A claim equal to the bound is not refuted.
    let balls = format!("{SMALL} --sampler balls-in-bins");
    let bound = number(&report(&balls), "/result/epsilon");
    dpscope(&format!("{balls} --claim {bound:?}")).exits(0);
    dpscope(&format!("{balls} --claim {:?}", bound.next_down())).exits(3);

    let estimate = format!("{SMALL} --threshold-rule max-uncorrected");
    let estimate = dpscope(&format!("{estimate} --claim 20 --fail-above 0 --json")).exits(6).json();
    for path in ["/verdict", "/claim/verdict", "/fail_above/verdict"] {
        assert_eq!(text(&estimate, &format!("{path}/outcome")), "inconclusive");
        assert_eq!(text(&estimate, &format!("{path}/reason")), "estimate_only");
    }
    assert!(number(&estimate, "/result/epsilon") > 0.0);
    assert_eq!(estimate["bounds"], serde_json::json!([]));
}

/// Whatever was simulated: here an estimate of few observations.
#[test]
fn a_claim_below_a_proven_bound_of_the_mechanism_is_refuted() {
    let few = "audit bgm --noise-multiplier 1 --steps 10 --observations 100 --seed 7 \
               --threshold-rule max-uncorrected";
    let refuted = dpscope(&format!("{few} --claim 0.5 --json")).exits(3).json();
    assert_eq!(text(&refuted, "/verdict/reason"), "proven_lower_bound");
    assert!(text(&refuted, "/claim/says").contains("Theory proves ε ≥ "));
    dpscope(&format!("{few} --claim 20")).exits(6);
}

#[test]
fn bounds_above_the_limit_exit_with_code_3() {
    let failed = dpscope(&format!("{SMALL} --fail-above 0.1")).exits(3);
    assert!(failed.stdout.contains("limit ε = 0.1: EXCEEDED"), "{}", failed.stdout);
    let passed = dpscope(&format!("{SMALL} --fail-above 5")).exits(0);
    assert!(passed.stdout.contains("not exceeded"), "{}", passed.stdout);
    let estimate = dpscope(&format!("{SMALL} --fail-above 0 --threshold-rule max-uncorrected"));
    assert!(estimate.exits(6).stdout.contains("limit ε = 0: inconclusive"));
}

#[test]
fn stdout_contains_only_the_report() {
    for words in [SMALL.to_owned(), format!("{SMALL} --json"), format!("{SMALL} --quiet")] {
        let ended = dpscope(&words).exits(0);
        assert_eq!(ended.stderr, "", "{words}");
        assert!(!ended.stdout.contains('\u{1b}'), "{words}");
    }
}
