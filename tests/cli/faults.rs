//! `dpscope audit outputs` and `scores` on data with one injected fault: none of them may pass as a
//! correct training.

use dpscope_tests::Draws;
use dpscope_tests::cli::{number, text};
use serde_json::Value;

use crate::Folder;
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
    let words = format!("audit outputs {FILES} {} --claim 5 --json {more}", TRAINER.words());
    write(worlds).run(&words).exits(exit).json()
}

fn codes(report: &Value) -> Vec<&str> {
    report["findings"].as_array().unwrap().iter().map(|found| text(found, "/code")).collect()
}

#[test]
fn correct_code_has_no_finding_and_is_not_refuted() {
    for seed in 1..6 {
        let report = audit(&TRAINER.worlds(RUNS, seed), "--fail-on-finding", 0);
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
    assert_eq!(report["shuffle_reach"], Value::Null);
}

#[test]
fn a_loader_that_never_shuffles_leaves_the_claim_open() {
    let fixed = Trainer { sampler: "deterministic", ..TRAINER };
    let worlds = fixed.worlds(RUNS, 4);
    let report = audit(&worlds, "", 6);
    assert_eq!(text(&report, "/verdict/reason"), "attack_mismatch");
    assert_eq!(codes(&report), ["order_fixed"]);
    assert_eq!(text(&report, "/result/kind"), "bound");
    let known = write(&worlds).run(&format!("audit outputs {FILES} {} --json", fixed.words()));
    let known = number(&known.exits(0).json(), "/result/epsilon");
    assert!(known > number(&report, "/result/epsilon"), "{known}");
}

#[test]
fn a_drift_of_both_worlds_costs_no_bound() {
    let mut worlds = TRAINER.worlds(RUNS, 5);
    for output in worlds.iter_mut().flat_map(|world| world.iter_mut().skip(7).step_by(10)) {
        *output += 2.0;
    }
    let report = audit(&worlds, "", 0);
    assert_eq!(text(&report, "/result/kind"), "bound");
    assert_eq!(text(&report, "/verdict/reason"), "bound_within_claim");
    assert!(!codes(&report).is_empty(), "the drift itself is reported");
}

#[test]
fn swapped_worlds_and_one_file_twice_are_named() {
    let [target, zero_out] = Trainer { noise_multiplier: 0.5, ..TRAINER }.worlds(2000, 6);
    let words = Trainer { noise_multiplier: 0.5, ..TRAINER }.words();
    let folder = write(&[zero_out, target.clone()]);
    let report = folder.run(&format!("audit outputs {FILES} {words} --json")).exits(0).json();
    assert_eq!(codes(&report), ["scores_reversed"]);
    assert!(text(&report, "/findings/0/sentence").contains("swap the two worlds"));
    let folder = write(&[target.clone(), target]);
    folder.run(&format!("audit outputs {FILES} {words}")).refuses(2, &["identical in all 2000"]);
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
