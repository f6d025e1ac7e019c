//! `dpscope calibrate`.

use dpscope_tests::cli::{number, text};

use super::json;
use crate::dpscope;

#[test]
fn a_target_that_every_value_satisfies_has_the_largest() {
    for (words, value) in [
        ("epochs --steps 100 --noise-multiplier 1e6 --sampler shuffle", "10,000,000,000 epochs"),
        ("steps --steps 100 --noise-multiplier 1e4", "100,000,000 steps"),
    ] {
        let words = format!("calibrate {words} --epsilon 400");
        let shown = dpscope(&words).exits(0).stdout;
        let all = "Every value up to this one satisfies ε ≤ 400";
        assert!(shown.starts_with(value) && shown.contains(all), "{shown}");
        assert_eq!(json(&words)["is_end_of_range"], true);
    }
    let shown = dpscope("calibrate epochs --steps 100 --noise-multiplier 1 --epsilon 4").exits(0);
    assert!(!shown.stdout.contains("Every value"), "{}", shown.stdout);
}

#[test]
fn shuffles_use_the_noise_of_deterministic_batches() {
    let noise = |sampler: &str| {
        let document = json(&format!("calibrate noise --epsilon 2 --steps 50 --sampler {sampler}"));
        number(&document, "/noise_multiplier")
    };
    let proven = noise("deterministic");
    for sampler in ["shuffle", "persistent-shuffle", "partial-shuffle", "batch-then-shuffle"] {
        assert_eq!(noise(sampler), proven);
    }
    assert!(noise("poisson") < 0.8 * proven && noise("balls-in-bins") < 0.8 * proven);
    let bound = json(&format!("bound shuffle --side upper --noise-multiplier {proven} --steps 50"));
    let epsilon = number(&bound, "/epsilon");
    assert!(epsilon <= 2.0 && epsilon > 1.999, "{epsilon}");
}

#[test]
fn calibrated_noise_satisfies_a_claim_of_its_adjacency() {
    let records = "--dataset-size 1000 --batch-size 20";
    let describe = "--epochs 2 --delta 1e-5 --claim 2 --claim-adjacency replace";
    for (sampler, more) in [
        ("poisson", ""),
        ("fixed-size", ""),
        ("truncated-poisson", "--max-batch-size 60"),
        ("deterministic", ""),
        ("balls-in-bins", ""),
        ("shuffle", ""),
        ("random-allocation", "--uses-per-epoch 5"),
    ] {
        let words = format!("calibrate noise --epsilon 2 --epochs 2 --sampler {sampler} {records}");
        let replaced = json(&format!("{words} {more} --adjacency replace"));
        assert_eq!(replaced["settings"]["adjacency"], "replace");
        assert!(text(&replaced, "/accountant").contains(", replace"), "{replaced}");
        let noise = number(&replaced, "/noise_multiplier");
        let check = |noise: f64| {
            let setup = format!("{records} --loader {sampler} {more} --accountant {sampler}");
            format!("check {setup} {describe} --noise-multiplier {noise}")
        };
        let held = dpscope(&check(noise)).exits(0).stdout;
        assert!(held.contains("holds"), "{sampler}: {held}");
        let bound =
            format!("bound {sampler} {records} {more} --epochs 2 --noise-multiplier {noise}");
        let epsilon =
            number(&json(&format!("{bound} --side upper --adjacency replace")), "/epsilon");
        assert!(epsilon <= 2.0 && epsilon > 1.98, "{sampler}: {epsilon}");
        let zeroed = json(&format!("{words} {more}"));
        assert!(zeroed["settings"].get("adjacency").is_none());
        assert!(number(&zeroed, "/noise_multiplier") < 0.99 * noise, "{sampler}: {noise}");
    }
    let removed = "calibrate noise --epsilon 2 --steps 50 --adjacency add-remove";
    assert!(number(&json(removed), "/noise_multiplier") > 0.5);
    dpscope(&format!("{removed} --sampler shuffle"))
        .refuses(2, &["--adjacency add-remove", "use zero-out or replace"]);
}

#[test]
fn calibrated_values_exhaust_the_target() {
    for (sampler, epochs) in [
        ("deterministic", "epochs"),
        ("balls-in-bins", "epochs"),
        ("poisson", "epochs"),
        ("poisson", "steps"),
    ] {
        let given = "--epsilon 6 --noise-multiplier 1.5 --steps 20";
        let document = json(&format!("calibrate {epochs} {given} --sampler {sampler}"));
        let most = number(&document, &format!("/{epochs}"));
        let after = |count: f64| {
            let length = if epochs == "epochs" {
                format!("--steps 20 --epochs {count}")
            } else {
                format!("--steps {count} --sampling-rate 0.05")
            };
            number(&json(&format!("bound {sampler} --noise-multiplier 1.5 {length}")), "/epsilon")
        };
        let error = if sampler == "balls-in-bins" { 2e-2 } else { 1e-3 };
        assert!(after(most) <= 6.0 + error, "{sampler} {most}");
        assert!(after(most + 1.0) > 6.0 - error, "{sampler} {most}");
    }
}
