//! `dpscope audit outputs` of trainings whose sampler differs from the one that was passed.

use dpscope_tests::cli::{number, text};
use serde_json::Value;

use crate::trainer::{Trainer, npy_f8};
use crate::{Folder, codes};

const CANARY: Trainer =
    Trainer { threat_model: "target-canary", noise_multiplier: 0.3, ..Trainer::SHUFFLE };

/// Audits outputs of one trainer as if they were those of another.
fn audit(trainer: &Trainer, runs: usize, passed: &Trainer, claim: &str) -> (Folder, String, Value) {
    let folder = Folder::new();
    let Trainer { steps, epochs, .. } = *trainer;
    for (name, world) in ["in.npy", "out.npy"].iter().zip(&trainer.worlds(runs, 1)) {
        folder.write(name, npy_f8(&[runs, epochs, steps], world));
    }
    let words =
        format!("audit outputs --target in.npy --zero-out out.npy {} {claim}", passed.words());
    let report = folder.run(&format!("{words} --json"));
    let report = report.json();
    (folder, words, report)
}

#[test]
fn a_shuffle_passed_as_poisson_and_the_reverse_are_refuted() {
    for (drawn, passed, shown, sign, advice) in [
        ("shuffle", "poisson", "shuffle", "-", "the target was used once per epoch"),
        ("poisson", "shuffle", "poisson", "+", "the number of uses of the target differs"),
    ] {
        let [drawn, passed] = [drawn, passed].map(|sampler| Trainer { sampler, ..CANARY });
        let (folder, words, report) = audit(&drawn, 1_000, &passed, "--claim 40");
        assert_eq!(codes(&report), ["sampler_refuted"], "{:#}", report["findings"]);
        assert_eq!(text(&report, "/findings/0/data/passed"), passed.sampler);
        assert_eq!(text(&report, "/findings/0/data/shown/kind"), shown);
        assert_eq!(text(&report, "/samplers/shown/kind"), shown);
        let z = number(&report, "/findings/0/data/by/epoch_sums_z");
        assert!((7.0..40.0).contains(&z.abs()) && (z < 0.0) == (sign == "-"), "{z}");
        let sentence = text(&report, "/findings/0/sentence");
        for part in [advice, &format!("z {sign}"), &format!("audit them as {shown}")] {
            assert!(sentence.contains(part), "`{part}` is missing in: {sentence}");
        }
        // a claim that is not refuted stays open
        assert_eq!(text(&report, "/verdict/outcome"), "inconclusive");
        let page = folder.run(&words).exits(6).stdout;
        assert!(page.contains("contradict") && page.contains("the outputs show"), "{page}");
        // control: the sampler that drew them has no finding
        let words = words.replace(&passed.words(), &drawn.words());
        let right = folder.run(&format!("{words} --json")).exits(6).json();
        assert_eq!(text(&right, "/verdict/reason"), "ceiling_within_claim");
        assert_eq!(codes(&right), Vec::<&str>::new());
        assert_eq!(text(&right, "/samplers/shown/kind"), shown);
    }
}

#[test]
fn runs_that_cannot_decide_say_so() {
    for sampler in ["shuffle", "poisson"] {
        let trainer = Trainer { sampler, noise_multiplier: 1.0, steps: 100, ..CANARY };
        let (_, _, report) = audit(&trainer, 200, &trainer, "");
        assert_eq!(codes(&report), Vec::<&str>::new());
        let says = text(&report, "/samplers/says");
        assert!(says.contains("these runs cannot distinguish shuffle from Poisson"), "{says}");
        assert_eq!(report["samplers"]["shown"], Value::Null);
    }
}

#[test]
fn each_sampler_is_compared_with_the_one_that_was_passed() {
    let informed = Trainer { threat_model: "partially-informed", epochs: 2, ..CANARY };
    for (drawn, passed, shown) in [
        ("persistent-shuffle", "shuffle", "persistent-shuffle"),
        ("shuffle", "persistent-shuffle", "shuffle"),
        ("shuffle", "deterministic", "shuffle"),
        ("partial-shuffle", "shuffle", "first-batches"),
    ] {
        let buffer = if drawn == "partial-shuffle" { 24 } else { 0 };
        let drawn = Trainer { sampler: drawn, buffer, ..informed };
        let passed = Trainer { sampler: passed, ..informed };
        let (_, _, report) = audit(&drawn, 120, &passed, "");
        assert_eq!(codes(&report), ["sampler_refuted"], "{drawn:?}: {:#}", report["findings"]);
        assert_eq!(text(&report, "/findings/0/data/shown/kind"), shown);
    }
}
