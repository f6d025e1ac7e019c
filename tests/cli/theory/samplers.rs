//! Truncated Poisson batches, batches of fixed size and random allocation, through the program.

use serde_json::Value;

use super::json;
use crate::dpscope;

/// ε of a command.
#[track_caller]
fn epsilon(words: &str) -> f64 {
    json(words)["epsilon"].as_f64().expect("a number")
}

const FIXED: &str = "bound fixed-size --noise-multiplier 1 --steps 100";

#[test]
fn fixed_sizes_leak_more_than_poisson_batches() {
    let [at_most, at_least] =
        ["upper", "lower"].map(|side| epsilon(&format!("{FIXED} --side {side}")));
    // 5.0763 and 5.0598 by a Fourier transform on another grid
    assert!((5.0763..5.09).contains(&at_most), "{at_most}");
    assert!((5.05..=5.0598).contains(&at_least), "{at_least}");
    let removed = epsilon(&format!("{FIXED} --adjacency add-remove"));
    let halved = epsilon("bound poisson --noise-multiplier 0.5 --steps 100");
    assert!((removed - halved).abs() < 1e-9, "{removed} {halved}");
    let replaced = json(&format!("{FIXED} --adjacency replace"));
    assert_eq!(replaced["adjacency"], "replace");
    assert!(replaced["epsilon"].as_f64() >= Some(removed), "{replaced}");
    let steps = "--sampler fixed-size --noise-multiplier 1 --sampling-rate 0.01";
    let steps = json(&format!("calibrate steps --epsilon 5.1 {steps}"));
    assert!(steps["steps"].as_u64().is_some_and(|count| (99..=104).contains(&count)), "{steps}");
    let text = dpscope(FIXED).exits(0).stdout;
    assert!(text.contains("neighbours") && text.contains("replaced by zero"), "{text}");
}

const RECORDS: &str = "--dataset-size 10000 --batch-size 100";

#[test]
fn truncated_batches_leak_more_than_poisson_batches() {
    let words =
        format!("bound truncated-poisson --noise-multiplier 1 {RECORDS} --max-batch-size 120");
    let document = json(&words);
    assert_eq!(
        (&document["subject"], &document["max_batch_size"]),
        (&Value::from("truncated-poisson"), &Value::from(120))
    );
    let at_most = epsilon(&words);
    let poisson = epsilon(&format!("bound poisson --noise-multiplier 1 {RECORDS}"));
    assert!((2.83..2.85).contains(&at_most) && poisson < 0.72, "{at_most} {poisson}");
    let at_least = epsilon(&format!("{words} --side lower"));
    assert!(0.99 * poisson < at_least && at_least < poisson, "{at_least} {poisson}");
    for (adjacency, more) in [("add-remove", 3.58), ("replace", 3.62)] {
        let found = epsilon(&format!("{words} --adjacency {adjacency}"));
        assert!((more..more + 0.02).contains(&found), "{adjacency}: {found}");
    }
    let rare = epsilon(&words.replace("120", "200"));
    assert!((rare - poisson).abs() < 1e-3, "{rare} {poisson}");
    let text = dpscope(&words).exits(0).stdout;
    assert!(text.contains("of at most 120") && text.contains("replaced by zero"), "{text}");
    // what theory leaves open is no numeric error
    let number = |name: &str| document[name].as_f64().expect("a number");
    assert!(number("numeric_error") < 0.01, "{document}");
    assert!((number("theory_gap") - (at_most - at_least)).abs() < 1e-3, "{document}");
    assert!(text.contains("is proven as well: the exact value lies in between"), "{text}");
    let shuffled = json("bound shuffle --noise-multiplier 1 --steps 100");
    assert_eq!(shuffled.get("theory_gap"), None);
}

#[test]
fn truncated_batches_are_audited_beside_theory() {
    let training = format!("--noise-multiplier 1 {RECORDS} --max-batch-size 120");
    let audit = "audit bgm --sampler truncated-poisson --observations 1e6 --seed 1";
    let report = json(&format!("{audit} {training}"));
    let at_least = epsilon(&format!("bound truncated-poisson {training} --side lower"));
    let at_most = epsilon(&format!("bound truncated-poisson {training}"));
    let theory = &report["theory"];
    assert_eq!(theory["lower"]["epsilon"].as_f64(), Some(at_least), "{theory}");
    assert_eq!(theory["upper"]["epsilon"].as_f64(), Some(at_most), "{theory}");
    // gradients of zero, which the audit has, are the data set of the lower value
    let shown = report["result"]["epsilon"].as_f64().expect("a number");
    assert!((0.3 * at_least..=at_least).contains(&shown), "{shown} {at_least}");
    for (words, parts) in [
        ("--steps 10 --max-batch-size 5", &["--dataset-size"][..]),
        ("--dataset-size 100 --batch-size 10", &["--max-batch-size is missing"]),
        (
            "--dataset-size 100 --batch-size 10 --max-batch-size 9",
            &["--max-batch-size 9", "below the mean"],
        ),
        ("--dataset-size 100 --batch-size 10 --max-batch-size 101", &["lower it"]),
    ] {
        dpscope(&format!("{audit} --noise-multiplier 1 {words}")).refuses(2, parts);
    }
    let unused = format!("{audit} {training}").replace("truncated-poisson", "fixed-size");
    dpscope(&unused).refuses(2, &["--max-batch-size = 120", "truncated-poisson"]);
}

#[test]
fn truncated_batches_are_compared_calibrated_and_checked() {
    let compared = json(&format!(
        "compare --noise-multiplier 1 {RECORDS} --max-batch-size 120 --epochs 2 \
         --allocated-epochs 2 --seed 1"
    ));
    let row = |what: &str| {
        let rows = compared["rows"].as_array().expect("rows");
        let found = rows.iter().find(|row| row["what"] == what).expect("a row");
        found["epsilon"].as_f64().expect("a number")
    };
    assert!(row("truncated_poisson") > 2.0 * row("poisson"), "{compared}");
    let (bins, allocated) = (row("balls_in_bins"), row("random_allocation"));
    assert!((allocated / bins - 1.0).abs() < 0.01, "{allocated} {bins}");
    let truncated = format!("{RECORDS} --max-batch-size 120");
    let found =
        json(&format!("calibrate noise --epsilon 2 --sampler truncated-poisson {truncated}"));
    let noise = found["noise_multiplier"].as_f64().expect("a number");
    let at_most =
        epsilon(&format!("bound truncated-poisson --noise-multiplier {noise} {truncated}"));
    assert!((1.96..2.01).contains(&at_most), "{at_most}");
    let words = "check --dataset-size 10000 --epochs 1 --noise-multiplier 1 --delta 1e-5 \
                 --claim-adjacency zero-out --batch-size 100";
    let loader = "CyclicPoissonSampling(truncated_batch_size=120)";
    let held = json(&format!("{words} --loader truncated-poisson --max-batch-size 120 --claim 3"));
    assert_eq!(held["claim"]["verdict"], "holds-as-described");
    assert_eq!(held["setup"]["loader"]["truncated-poisson"]["max_batch_size"], 120);
    let named = dpscope(&format!("{words} --claim 0.5 --json --loader {loader}")).exits(3).json();
    assert_eq!(named["setup"]["loader"], held["setup"]["loader"]);
}

#[test]
fn random_allocation_is_bracketed() {
    let words = "bound random-allocation --noise-multiplier 1 --steps 100 --uses-per-epoch 10";
    let document = json(words);
    assert_eq!(document["subject"], "random-allocation");
    assert_eq!(document["settings"]["sampling_rate"], 0.1);
    let at_least = epsilon(&format!("{words} --side lower"));
    let at_most = document["epsilon"].as_f64().expect("a number");
    assert!(at_least < at_most && at_most < 1.1 * at_least, "{at_least} {at_most}");
    let one_use = epsilon("bound random-allocation --noise-multiplier 1 --steps 100");
    let bins = epsilon("bound balls-in-bins --noise-multiplier 1 --steps 100");
    assert_eq!(one_use, bins);
    let text = dpscope(words).exits(0).stdout;
    assert!(text.contains("each record in 10 of T = 100"), "{text}");
}

#[test]
fn records_that_are_used_k_times_make_k_times_the_steps() {
    let records = "--dataset-size 1000 --batch-size 60 --uses-per-epoch 3";
    for command in [
        "bound random-allocation --noise-multiplier 1",
        "calibrate noise --epsilon 2 --sampler random-allocation",
    ] {
        let of_records = json(&format!("{command} {records}"));
        assert_eq!(of_records, json(&format!("{command} --steps 50 --uses-per-epoch 3")));
    }
    let audit = "audit bgm --noise-multiplier 1 --sampler random-allocation --observations 1e4";
    let mechanism = &json(&format!("{audit} --seed 1 {records}"))["plan"]["mechanism"];
    assert_eq!(mechanism["steps_per_epoch"], 50);
}

#[test]
fn a_loader_of_random_allocation_is_checked() {
    let words = "check --dataset-size 1000 --batch-size 20 --epochs 1 --noise-multiplier 1 \
                 --loader random-allocation --uses-per-epoch 5 --delta 1e-5";
    let held = json(&format!("{words} --accountant random-allocation --claim 3"));
    assert_eq!(held["steps_per_epoch"], 250);
    assert_eq!(held["claim"]["verdict"], "holds-as-described");
    let refuted = dpscope(&format!("{words} --claim 1 --json")).exits(3).json();
    assert_eq!(refuted["setup"]["loader"]["random-allocation"]["uses_per_epoch"], 5);
}

#[test]
fn impossible_batches_are_refused_with_the_remedy() {
    let allocated = "bound random-allocation --noise-multiplier 1";
    let truncated = format!("bound truncated-poisson --noise-multiplier 1 {RECORDS}");
    for (words, parts) in [
        (
            "bound fixed-size --noise-multiplier 1 --dataset-size 10 --batch-size 11",
            &["--batch-size", "from 1 to the number of records"][..],
        ),
        (
            &format!("{truncated} --max-batch-size 99"),
            &["--max-batch-size 99", "below the mean", "fixed-size"],
        ),
        (&format!("{truncated} --max-batch-size 10001"), &["--max-batch-size", "lower it"]),
        (&truncated, &["--max-batch-size"]),
        (
            "bound truncated-poisson --noise-multiplier 1 --steps 9 --max-batch-size 9",
            &["--dataset-size"],
        ),
        (
            "check --dataset-size 100 --batch-size 20 --epochs 1 --noise-multiplier 1 --loader \
             truncated-poisson --max-batch-size 19 --claim 1 --delta 1e-5",
            &["--max-batch-size is 19", "fixed-size"],
        ),
        (
            "check --dataset-size 100 --batch-size 20 --epochs 1 --noise-multiplier 1 --loader \
             truncated-poisson --claim 1 --delta 1e-5",
            &["--max-batch-size is missing"],
        ),
        (
            "calibrate noise --epsilon 1 --dataset-size 100 --batch-size 20 --max-batch-size 30",
            &["--max-batch-size", "truncated-poisson only"],
        ),
        (&format!("{allocated} --steps 10 --uses-per-epoch 11"), &["--uses-per-epoch", "from 1"]),
        (&format!("{allocated} --steps 10 --uses-per-epoch 0"), &["--uses-per-epoch"]),
        (&format!("{allocated} --steps 10 --sampling-rate 0.2"), &["--sampling-rate"]),
        ("bound poisson --noise-multiplier 1 --steps 9 --uses-per-epoch 2", &["random-allocation"]),
        (
            "calibrate noise --epsilon 1 --steps 9 --uses-per-epoch 2",
            &["--uses-per-epoch", "random-allocation"],
        ),
        (
            "calibrate noise --epsilon 1 --steps 9 --sampler random-allocation --uses-per-epoch 10",
            &["--uses-per-epoch", "from 1"],
        ),
        (
            "check --dataset-size 10 --batch-size 5 --epochs 1 --noise-multiplier 1 --loader shuffle \
             --uses-per-epoch 2 --claim 1 --delta 1e-5",
            &["--uses-per-epoch = 2", "random-allocation"],
        ),
    ] {
        dpscope(words).refuses(2, parts);
    }
}
