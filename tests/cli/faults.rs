//! `dpscope audit outputs` and `scores` on data with one injected fault: none of them may pass as a
//! correct training.

use dpscope_tests::Draws;
use dpscope_tests::cli::{number, text};
use serde_json::Value;

use crate::Folder;
use crate::codes;
use crate::trainer::{Trainer, csv, npy_f8};

const RUNS: usize = 400;

const TRAINER: Trainer =
    Trainer { threat_model: "partially-informed", noise_multiplier: 1.0, ..Trainer::SHUFFLE };

const FILES: &str = "--target in.npy --zero-out out.npy";

fn write(worlds: &[Vec<f64>; 2]) -> Folder {
    let folder = Folder::new();
    for (name, world) in ["in.npy", "out.npy"].iter().zip(worlds) {
        folder.write(name, npy_f8(&[world.len() / 10, 1, 10], world));
    }
    folder
}

/// The report on outputs of [`TRAINER`], whose claim is one that its code satisfies.
fn audit(worlds: &[Vec<f64>; 2], more: &str, exit: i32) -> Value {
    let claim = if more.contains("--claim") { "" } else { "--claim 5" };
    let words = format!("audit outputs {FILES} {} {claim} --json {more}", TRAINER.words());
    write(worlds).run(&words).exits(exit).json()
}

#[test]
fn correct_code_has_no_finding_and_is_not_refuted() {
    for seed in 1..6 {
        let report = audit(&TRAINER.worlds(4_000, seed), "--fail-on-finding", 0);
        assert_eq!(codes(&report), Vec::<&str>::new());
        assert_eq!(text(&report, "/verdict/reason"), "bound_within_claim");
    }
}

#[test]
fn outputs_without_noise_refute_every_claim() {
    for threat_model in ["partially-informed", "worst-case", "target-canary"] {
        let silent = Trainer { threat_model, noise_multiplier: 0.0, ..TRAINER };
        let folder = write(&silent.worlds(RUNS, 1));
        let words = Trainer { threat_model, ..TRAINER }.words();
        let shown = folder.run(&format!("audit outputs {FILES} {words} --claim 100"));
        let shown = shown.exits(3).stdout;
        let shown = shown.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(shown.contains("REFUTED") && shown.contains("no noise was added"), "{shown}");
        let limited = folder.run(&format!("audit outputs {FILES} {words} --fail-above 100"));
        assert!(limited.exits(3).stdout.contains("EXCEEDED, since the outputs contain no noise"));
        let report = folder.run(&format!("audit outputs {FILES} {words} --json")).exits(0).json();
        assert_eq!(codes(&report), ["no_noise", "no_noise"], "one diagnosis for one cause");
    }
}

#[test]
fn a_world_that_was_not_recorded_is_inconclusive() {
    let [target, zero_out] = TRAINER.worlds(RUNS, 1);
    let report = audit(&[target, vec![0.0; zero_out.len()]], "", 6);
    assert_eq!(codes(&report)[0], "noise_in_one_world");
    assert_eq!(text(&report, "/result/kind"), "estimate");
}

#[test]
fn runs_from_one_seed_are_inconclusive() {
    let worlds = [true, false]
        .map(|target| (0..RUNS).flat_map(|_| TRAINER.run(target, &mut Draws::new(3))).collect());
    let report = audit(&worlds, "", 6);
    assert_eq!(text(&report, "/verdict/outcome"), "inconclusive");
    let sentence = text(&report, "/findings/0/sentence");
    assert!(sentence.contains("no noise was added, or all runs used one seed"), "{sentence}");
}

#[test]
fn constant_outputs_are_inconclusive() {
    let report = audit(&[vec![0.3; 4000], vec![0.1; 4000]], "", 6);
    assert!(report["findings"].to_string().contains("all runs used one seed"));
}

#[test]
fn noise_reused_in_every_step_is_not_taken_for_a_small_shuffle_buffer() {
    let mut draws = Draws::new(8);
    let worlds = [true, false].map(|target| {
        let silent = Trainer { noise_multiplier: 0.0, ..TRAINER };
        let run = |draws: &mut Draws| {
            let noise = draws.normal();
            silent.run(target, draws).into_iter().map(move |output| output + noise)
        };
        (0..RUNS).flat_map(|_| run(&mut draws).collect::<Vec<_>>()).collect()
    });
    let report = audit(&worlds, "", 6);
    assert!(codes(&report).contains(&"noise_reused"), "{:#}", report["findings"]);
    assert_eq!(report["samplers"], Value::Null);
}

#[test]
fn a_loader_that_never_shuffles_is_audited_as_deterministic() {
    let fixed = Trainer { sampler: "deterministic", ..TRAINER };
    for threat_model in ["partially-informed", "worst-case"] {
        let fixed = Trainer { threat_model, ..fixed };
        let folder = write(&fixed.worlds(2000, 4));
        let known = folder.run(&format!("audit outputs {FILES} {} --json", fixed.words()));
        let known = number(&known.exits(0).json(), "/result/epsilon");
        let shuffle = Trainer { sampler: "shuffle", ..fixed }.words();
        let words = format!("audit outputs {FILES} {shuffle} --json --claim");
        let report = folder.run(&format!("{words} {}", 0.8 * known)).exits(3).json();
        assert_eq!(codes(&report), ["order_fixed"]);
        assert_eq!(report["fixed_step"], 0);
        let found = number(&report, "/result/epsilon");
        assert!((0.85 * known..known).contains(&found), "{found} {known}");
        // what is left of the claim has been tested by the attack that knows the order
        let report = folder.run(&format!("{words} 5")).exits(0).json();
        assert_eq!(text(&report, "/verdict/reason"), "bound_within_claim");
        assert!(text(&report, "/findings/0/sentence").contains("the loader does not shuffle"));
    }
}

#[test]
fn the_canary_is_measured() {
    for threat_model in ["partially-informed", "worst-case", "target-canary"] {
        let trainer = Trainer { threat_model, ..TRAINER };
        let words = format!("audit outputs {FILES} {}", trainer.words());
        let folder = write(&trainer.worlds(RUNS, 10));
        let report = folder.run(&format!("{words} --json")).exits(0).json();
        let [lower, upper] =
            ["lower", "upper"].map(|end| number(&report, &format!("/canary/{end}")));
        assert!(lower < 1.0 && upper > 1.0 && upper - lower < 1.0, "{lower} {upper}");
        let [slope, error] = ["slope", "standard_error"]
            .map(|part| number(&report, &format!("/score_slope/{part}")));
        assert!((slope - 1.0).abs() < 4.0 * error && error < 0.3, "{slope} {error}");
        let shown = folder.run(&words).exits(0).stdout;
        let shown = shown.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(shown.contains("mean difference of the worlds (1 if right)"), "{shown}");
    }
}

#[test]
fn outputs_that_contradict_the_attack_are_named_and_leave_the_claim_open() {
    let shifted = |size: f64, worlds: [Vec<f64>; 2]| -> [Vec<f64>; 2] {
        // the canary is in the largest output of a run where there is no noise
        let silent = Trainer { noise_multiplier: 0.0, ..TRAINER };
        let [mut target, zero_out] = worlds;
        let mut draws = Draws::new(12);
        for run in target.chunks_exact_mut(10) {
            let noiseless = silent.run(true, &mut draws);
            for (output, own) in run.iter_mut().zip(noiseless) {
                let noise = *output;
                *output = own + noise + if own == 1.0 { size - 1.0 } else { 0.0 };
            }
        }
        [target, zero_out]
    };
    let noise = |seed| {
        let mut draws = Draws::new(seed);
        (0..10 * 2000).map(|_| draws.normal()).collect::<Vec<f64>>()
    };
    let of_size = |size| shifted(size, [noise(13), TRAINER.worlds(2000, 14)[1].clone()]);
    let correct = TRAINER.worlds(2000, 15);
    let negated = correct.clone().map(|world| world.iter().map(|output| -output).collect());
    let [target, zero_out] = correct;
    let other = Trainer { threat_model: "target-canary", ..TRAINER }.worlds(2000, 16);
    for (worlds, code, part, size) in [
        (of_size(0.0), "no_canary", "these outputs show no canary", Some(0.0)),
        (of_size(0.5), "canary_size_differs", "the canary is about 0.", Some(0.5)),
        (of_size(3.0), "canary_size_differs", "the canary is about ", Some(3.0)),
        ([zero_out, target], "worlds_swapped", "the worlds are swapped", Some(-1.0)),
        (negated, "outputs_negated", "the outputs are negated", Some(-1.0)),
        (other, "other_batches_differ", "those of the threat model target-canary", None),
    ] {
        let report = audit(&worlds, "--claim 9", 6);
        assert_eq!(codes(&report), [code]);
        assert_eq!(text(&report, "/verdict/reason"), "attack_mismatch", "{code}");
        let sentence = text(&report, "/findings/0/sentence");
        assert!(sentence.contains(part), "{sentence}");
        let limits = ["lower", "upper"]
            .map(|end| size.map(|_| number(&report, &format!("/findings/0/data/size/{end}"))));
        if let (Some(size), [Some(lower), Some(upper)]) = (size, limits) {
            assert!(lower <= size && size <= upper && upper - lower < 1.5, "{size}: {sentence}");
        }
    }
    assert!(codes(&audit(&of_size(1.0), "--claim 4.5", 0)).is_empty());
}

#[test]
fn a_drift_of_both_worlds_costs_no_bound() {
    let mut worlds = TRAINER.worlds(4_000, 5);
    for output in worlds.iter_mut().flat_map(|world| world.iter_mut().skip(7).step_by(10)) {
        *output += 2.0;
    }
    let report = audit(&worlds, "", 0);
    assert_eq!(text(&report, "/result/kind"), "bound");
    assert_eq!(text(&report, "/verdict/reason"), "bound_within_claim");
    // other records may add more at one step than at another
    assert!(codes(&report).is_empty(), "{report}");
}

#[test]
fn one_file_for_both_worlds_is_rejected() {
    let [target, _] = TRAINER.worlds(RUNS, 6);
    let folder = write(&[target.clone(), target]);
    let words = format!("audit outputs {FILES} {}", TRAINER.words());
    folder.run(&words).refuses(2, &["identical in all 400"]);
}

#[test]
fn one_world_may_come_from_standard_input() {
    let trainer = Trainer { noise_multiplier: 0.5, ..TRAINER };
    let worlds = trainer.worlds(RUNS, 9);
    let folder = write(&worlds);
    let words = format!("{} --json", trainer.words());
    let files = folder.run(&format!("audit outputs {FILES} {words}")).exits(0).json();
    let input = npy_f8(&[RUNS, 1, 10], &worlds[0]);
    let piped = format!("audit outputs --target - --zero-out out.npy {words}");
    let piped = folder.run_with_input(&piped, &input).exits(0).json();
    assert_eq!(piped["result"], files["result"]);
    let text = csv(&worlds[0], 10);
    let piped = format!("audit outputs --target - --zero-out out.npy {words}");
    let piped = folder.run_with_input(&piped, text.as_bytes()).exits(0).json();
    assert_eq!(piped["result"], files["result"]);
    let twice = format!("audit outputs --target - --zero-out - {words}");
    folder.run_with_input(&twice, &input).refuses(2, &["standard input", "read already"]);
}

#[test]
fn the_same_files_always_have_the_same_result() {
    let folder = write(&TRAINER.worlds(RUNS, 7));
    let words = format!("audit outputs {FILES} {} --threshold-rule split --json", TRAINER.words());
    let [first, second] = [folder.run(&words), folder.run(&words)].map(|run| run.exits(0).json());
    assert_eq!((&first["seed"], &first["result"]), (&second["seed"], &second["result"]));
    assert_eq!(text(&first, "/seed_source"), "content");
    let seed = text(&first, "/seed");
    let again = folder.run(&format!("{words} --seed {seed}")).exits(0).json();
    assert_eq!(again["result"], first["result"]);
    let other = folder.run(&format!("{words} --seed 1")).exits(0).json();
    assert_ne!(other["result"], first["result"]);
}
