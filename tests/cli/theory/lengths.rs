//! Lengths of runs: steps or records, epochs or steps in all.

use dpscope_tests::cli::number;

use super::compare::row;
use super::json;
use crate::{Folder, dpscope};

/// 906 steps of 4,096 records out of 45,000: 82 epochs of 11 steps, and 4 more.
const RUN: &str = "--noise-multiplier 4 --dataset-size 45000 --batch-size 4096 --total-steps 906";

fn epsilon(words: &str) -> f64 {
    number(&json(words), "/epsilon")
}

#[test]
fn poisson_accounting_counts_every_step() {
    let rate = 4_096.0 / 45_000.0;
    let same = format!("--noise-multiplier 4 --steps 906 --sampling-rate {rate}");
    assert_eq!(epsilon(&format!("bound poisson {RUN}")), epsilon(&format!("bound poisson {same}")));
    let rounded = epsilon("bound poisson --noise-multiplier 4 --steps 11 --epochs 108");
    assert!(epsilon(&format!("bound poisson {RUN}")) < 0.95 * rounded);
}

#[test]
fn epochs_of_shuffles_are_rounded_outward() {
    let whole = |epochs: u32| format!("--noise-multiplier 4 --steps 11 --epochs {epochs}");
    for (subject, side, epochs) in [
        ("shuffle", "lower", 82),
        ("shuffle", "upper", 83),
        ("deterministic", "upper", 83),
        ("persistent-shuffle", "lower", 82),
    ] {
        let [of, like] = [RUN.to_owned(), whole(epochs)]
            .map(|run| epsilon(&format!("bound {subject} --side {side} {run}")));
        assert_eq!(of, like, "{subject} {side}");
    }
    let document = json(&format!("compare {RUN} --seed 1"));
    assert_eq!(number(&document, "/partial_epoch_steps"), 4.0);
    let down = json(&format!("compare {} --seed 1", whole(82)));
    for what in ["shuffle_max_slice", "pair_estimate"] {
        assert_eq!(row(&document, what)["epsilon"], row(&down, what)["epsilon"], "{what}");
        assert!(row(&down, what)["epsilon"].is_number(), "{what}");
    }
    let up = epsilon(&format!("bound deterministic {}", whole(83)));
    assert_eq!(number(row(&document, "deterministic"), "/epsilon"), up);
    let shown = dpscope(&format!("compare {RUN} --seed 1")).exits(0).stdout;
    assert!(shown.contains("E = 82 + 4/11"), "{shown}");
    assert!(shown.contains("Poisson accounting covers all 906 steps"), "{shown}");
}

#[test]
fn sweeps_and_calibrations_take_the_same_lengths() {
    let folder = Folder::new();
    folder.write("t.csv", "sigma,N,B,total_steps\n4,45000,4096,906\n");
    let document = folder.run("sweep t.csv --json").exits(0).json();
    let poisson = number(&document["rows"][0]["values"][0], "/epsilon");
    assert_eq!(poisson, epsilon(&format!("bound poisson {RUN}")));
    let length = "--dataset-size 45000 --batch-size 4096 --total-steps 906";
    for (sampler, whole) in
        [("poisson", "--steps 906 --sampling-rate 0.0910222222222222"), ("shuffle", "--epochs 83")]
    {
        let noise = |length: &str| {
            let words = format!("calibrate noise --sampler {sampler} --epsilon 3 {length}");
            number(&json(&words), "/noise_multiplier")
        };
        let [of, like] = [length, whole].map(noise);
        assert!((of / like - 1.0).abs() < 1e-6, "{sampler}: {of} {like}");
    }
}

#[test]
fn lengths_that_contradict_or_are_incomplete_are_rejected() {
    let noise = "--noise-multiplier 1";
    for (words, part) in [
        ("bound poisson --dataset-size 100", "--batch-size"),
        ("bound poisson --batch-size 10", "--dataset-size"),
        ("bound poisson --steps 10 --dataset-size 100 --batch-size 10", "cannot be used with"),
        ("bound poisson --steps 10 --epochs 2 --total-steps 20", "cannot be used with"),
        ("bound poisson --dataset-size 10 --batch-size 11", "--batch-size is 11"),
        ("bound poisson", "--steps is missing"),
        ("bound shuffle --steps 100 --epochs 0.5", "--epochs is 0.5; it must be at least 1"),
        ("audit bgm --steps 10 --epochs 2.5 --observations 1e3", "--epochs 2 or --epochs 3"),
        ("audit bgm --steps 10 --total-steps 5 --observations 1e3", "pass --epochs 1"),
        ("audit scores --target a --zero-out b --steps 3", "a"),
    ] {
        let noise = if words.starts_with("audit scores") { "" } else { noise };
        dpscope(&format!("{words} {noise}")).refuses(2, &[part]);
    }
    // Poisson batches have no epochs
    dpscope("bound poisson --steps 100 --epochs 0.5 --noise-multiplier 1").exits(0);
}

#[test]
fn a_rate_and_all_steps_are_enough() {
    let whole = json("bound poisson --noise-multiplier 1 --sampling-rate 0.05 --total-steps 200");
    let epochs =
        json("bound poisson --noise-multiplier 1 --sampling-rate 0.05 --steps 50 --epochs 4");
    assert_eq!(number(&whole, "/epsilon"), number(&epochs, "/epsilon"));
    let noise = |length: &str| {
        let found = json(&format!("calibrate noise --epsilon 4 --sampling-rate 0.05 {length}"));
        number(&found, "/noise_multiplier")
    };
    assert_eq!(noise("--total-steps 200"), noise("--steps 50 --epochs 4"));
    dpscope("bound poisson --noise-multiplier 1 --total-steps 200")
        .refuses(2, &["--steps is missing"]);
    dpscope("bound shuffle --noise-multiplier 1 --sampling-rate 0.05 --total-steps 200")
        .refuses(2, &["--sampling-rate applies to poisson and fixed-size only"]);
}
