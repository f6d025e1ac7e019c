//! `dpscope audit outputs`: outputs recorded by a training loop, in every format.

use dpscope_formats::{Array, write_npz};
use dpscope_tests::Draws;
use dpscope_tests::cli::{number, text};
use serde_json::Value;

use crate::Folder;
use crate::trainer::{Trainer, csv, npy, npy_f8, safetensors};

const RUNS: usize = 3000;

/// Two npy files of a trainer's runs.
fn recorded(trainer: &Trainer, runs: usize, seed: u64) -> Folder {
    let folder = Folder::new();
    write(&folder, trainer, &trainer.worlds(runs, seed));
    folder
}

fn write(folder: &Folder, trainer: &Trainer, worlds: &[Vec<f64>; 2]) {
    let Trainer { steps, epochs, .. } = *trainer;
    for (name, world) in ["in.npy", "out.npy"].iter().zip(worlds) {
        folder.write(name, npy_f8(&[world.len() / (steps * epochs), epochs, steps], world));
    }
}

fn audit(folder: &Folder, trainer: &Trainer, more: &str) -> Value {
    let words = trainer.words();
    let files = "--target in.npy --zero-out out.npy";
    folder.run(&format!("audit outputs {files} {words} --seed 5 --json {more}")).exits(0).json()
}

#[test]
fn bounds_hold_for_every_sampler() {
    let shuffle = Trainer::SHUFFLE;
    // The ε at δ = 1e-5 of one release with the largest gap of means is above that of every
    // sampler that hides it: 24.1 at gap 2 and 8.9 at gap 1, for σ = 0.5.
    for (trainer, least, most) in [
        (shuffle, 2.5, 24.1),
        (Trainer { epochs: 3, ..shuffle }, 2.5, 24.1),
        (Trainer { threat_model: "partially-informed", ..shuffle }, 2.5, 24.1),
        (Trainer { threat_model: "target-canary", noise_multiplier: 0.3, ..shuffle }, 1.0, 24.1),
        (Trainer { sampler: "persistent-shuffle", epochs: 3, ..shuffle }, 3.5, 60.0),
        (Trainer { sampler: "deterministic", ..shuffle }, 3.0, 24.1),
        (Trainer { sampler: "partial-shuffle", buffer: 24, ..shuffle }, 3.0, 24.1),
        (Trainer { sampler: "sliding-buffer", buffer: 24, ..shuffle }, 2.5, 24.1),
        (Trainer { sampler: "batch-then-shuffle", ..shuffle }, 2.5, 24.1),
        (Trainer { sampler: "balls-in-bins", threat_model: "target-canary", ..shuffle }, 0.3, 8.9),
        (Trainer { sampler: "poisson", threat_model: "target-canary", ..shuffle }, 0.3, 8.9),
    ] {
        let folder = recorded(&trainer, RUNS, 1);
        let report = audit(&folder, &trainer, "");
        let epsilon = number(&report, "/result/epsilon");
        assert!((least..most).contains(&epsilon), "{trainer:?}: {epsilon}");
        assert_eq!(report["findings"], serde_json::json!([]), "{trainer:?}");
        assert_eq!(text(&report, "/subject"), "recorded_outputs");
        assert_eq!(text(&report, "/result/kind"), "bound");
    }
}

/// A wrong assumption about the sampler must lower the bound.
#[test]
fn a_wrong_sampler_lowers_the_bound() {
    let folder = recorded(&Trainer::SHUFFLE, RUNS, 1);
    let right = number(&audit(&folder, &Trainer::SHUFFLE, ""), "/result/epsilon");
    let fixed_place = Trainer { sampler: "deterministic", ..Trainer::SHUFFLE };
    let wrong = number(&audit(&folder, &fixed_place, ""), "/result/epsilon");
    assert!(wrong < right - 0.5, "{wrong} {right}");
    // Without the target in either world there is nothing to find.
    let [_, zero_out] = Trainer::SHUFFLE.worlds(RUNS, 1);
    let [_, again] = Trainer::SHUFFLE.worlds(RUNS, 2);
    write(&folder, &Trainer::SHUFFLE, &[zero_out, again]);
    assert_eq!(number(&audit(&folder, &Trainer::SHUFFLE, ""), "/result/epsilon"), 0.0);
}

#[test]
fn all_formats_yield_the_same_result() {
    let trainer = Trainer { epochs: 2, ..Trainer::SHUFFLE };
    let (runs, width) = (400, 20);
    let worlds = trainer.worlds(runs, 3);
    let folder = Folder::new();
    let shape = [runs, 2, 10];
    for (name, world) in ["in", "out"].iter().zip(&worlds) {
        let f4: Vec<u8> = world.iter().flat_map(|&v| (v as f32).to_le_bytes()).collect();
        let big: Vec<u8> = world.iter().flat_map(|v| v.to_be_bytes()).collect();
        let columns = (0..10).flat_map(|t| (0..2).map(move |e| e * 10 + t));
        let turned = columns.flat_map(|at| world.iter().skip(at).step_by(width).copied());
        let turned: Vec<u8> = turned.flat_map(f64::to_le_bytes).collect();
        folder.write(&format!("{name}_f8.npy"), npy_f8(&shape, world));
        folder.write(&format!("{name}_f4.npy"), npy("<f4", false, &shape, &f4));
        folder.write(&format!("{name}_big.npy"), npy(">f8", false, &shape, &big));
        folder.write(&format!("{name}_fortran.npy"), npy("<f8", true, &shape, &turned));
        folder.write(&format!("{name}_flat.npy"), npy_f8(&[runs, width], world));
        folder.write(&format!("{name}.csv"), csv(world, width));
    }
    let array =
        |shape: &[usize], values: &[f64]| Array::new(shape.to_vec(), values.to_vec()).unwrap();
    let [target, zero_out] = [0, 1].map(|world| array(&shape, &worlds[world]));
    let plain = [("target", &target), ("zero_out", &zero_out)];
    folder.write("runs.npz", write_npz(&plain).unwrap());
    let [noise, clip, batch] = [0.5, 1.0, 8.0].map(|value| array(&[], &[value]));
    let about = [("noise_multiplier", &noise), ("clip_norm", &clip), ("batch_size", &batch)];
    folder.write("about.npz", write_npz(&[&plain[..], &about].concat()).unwrap());
    folder.write("in.npz", write_npz(&[&plain[..1], &about].concat()).unwrap());
    folder.write("out.npz", write_npz(&[&plain[1..], &about[..1]].concat()).unwrap());
    folder.write("runs.safetensors", safetensors(&shape, &worlds));

    let options = trainer.words();
    let audit = |files: &str| {
        let words = format!("audit outputs {files} --seed 5 --json");
        let mut report = folder.run(&words).exits(0).json();
        report.as_object_mut().unwrap().retain(|key, _| key != "elapsed_ms" && key != "input");
        report
    };
    let two = |suffix: &str| format!("--target in{suffix} --zero-out out{suffix}");
    let reference = audit(&format!("{} {options}", two("_f8.npy")));
    assert!(number(&reference, "/result/epsilon") > 1.0);
    for files in [
        format!("{} {options}", two("_f4.npy")),
        format!("{} {options}", two("_big.npy")),
        format!("{} {options}", two("_fortran.npy")),
        format!("{} {options} --epochs 2", two("_f8.npy")),
        format!("{} {options} --epochs 2", two("_flat.npy")),
        format!("{} {options} --epochs 2", two(".csv")),
        format!("runs.npz {options}"),
        "about.npz".to_owned(),
        format!("about.npz {options}"),
        two(".npz"),
        format!("{} {options}", two(".npz")),
        format!("runs.safetensors {options}"),
    ] {
        assert_eq!(audit(&files), reference, "{files}");
    }
    // The same numbers read as one long epoch are another attack.
    assert_ne!(audit(&format!("{} {options}", two("_flat.npy"))), reference);
}

/// What is proven of a description says nothing about outputs that contradict it.
#[test]
fn theory_decides_unless_the_outputs_contradict_the_description() {
    let trainer = Trainer { epochs: 2, ..Trainer::SHUFFLE };
    let folder = recorded(&trainer, 400, 3);
    let words = |trainer: &Trainer| {
        let files = "--target in.npy --zero-out out.npy";
        format!("audit outputs {files} {} --seed 5 --claim 5 --json", trainer.words())
    };
    let report = folder.run(&words(&trainer)).exits(3).json();
    assert_eq!(text(&report, "/claim/verdict/reason"), "proven_lower_bound");
    assert!(number(&report, "/theory/lower/epsilon") > 5.0);
    let less_noise = Trainer { noise_multiplier: 0.6 * trainer.noise_multiplier, ..trainer };
    let report = folder.run(&words(&less_noise)).json();
    assert!(number(&report, "/theory/lower/epsilon") > 5.0);
    assert_eq!(text(&report, "/findings/0/code"), "noise_above_stated", "{report:#}");
    assert_ne!(text(&report, "/claim/verdict/outcome"), "refuted");
}

#[test]
fn means_are_rescaled_to_sums() {
    let trainer = Trainer::SHUFFLE;
    let folder = recorded(&trainer, 400, 4);
    let sums = audit(&folder, &trainer, "");
    // Powers of two, so that nothing is rounded.
    let scaled = trainer.worlds(400, 4).map(|world| world.iter().map(|o| o / 8.0 * 0.25).collect());
    write(&folder, &trainer, &scaled);
    let means = audit(&folder, &trainer, "--per-batch-mean 8 --clip-norm 0.25");
    assert_eq!(means["result"], sums["result"]);
    assert_ne!(audit(&folder, &trainer, "")["result"], sums["result"]);
}

#[test]
fn outputs_that_vary_less_than_the_noise_are_reported() {
    let trainer = Trainer { threat_model: "partially-informed", ..Trainer::SHUFFLE };
    let noise = "times the stated scale";
    for (sampler, factor, is_reported) in
        [("shuffle", 0.125, true), ("deterministic", 0.125, true), ("shuffle", 1.0, false)]
    {
        let trainer = Trainer { sampler, ..trainer };
        let folder = Folder::new();
        let scaled = trainer.worlds(300, 4).map(|world| world.iter().map(|o| factor * o).collect());
        write(&folder, &trainer, &scaled);
        let findings = audit(&folder, &trainer, "")["findings"].to_string();
        assert_eq!(findings.contains(noise), is_reported, "{sampler} {factor}: {findings}");
        let rescaled = audit(&folder, &trainer, &format!("--clip-norm {factor}"));
        assert!(!rescaled["findings"].to_string().contains(noise), "{sampler} {factor}");
    }
}

#[test]
fn unknown_buffers_of_partial_shuffles_are_searched() {
    let known = Trainer { sampler: "partial-shuffle", buffer: 24, ..Trainer::SHUFFLE };
    let folder = recorded(&known, RUNS, 6);
    let searched = audit(&folder, &Trainer { buffer: 0, ..known }, "");
    assert!(
        text(&searched, "/findings/0/sentence")
            .contains("the buffer size is unknown: of 10 prefixes")
    );
    assert_eq!(searched.pointer("/input/buffer_search"), Some(&Value::Bool(true)));
    let [known, searched] = [audit(&folder, &known, ""), searched];
    let [known, searched] = [known, searched].map(|r| number(&r, "/result/epsilon"));
    assert!(searched > 2.0 && searched < known + 0.3, "{searched} {known}");
}

/// Names of the checks with findings on a trainer's runs.
fn found(folder: &Folder, trainer: &Trainer) -> Vec<String> {
    let report = audit(folder, trainer, "");
    let checks = report.pointer("/independence/checks").and_then(Value::as_array).unwrap();
    let wrong = checks.iter().filter(|check| !check["finding"].is_null());
    let names: Vec<String> = wrong.map(|check| text(check, "/name").to_owned()).collect();
    let findings = report["findings"].as_array().unwrap().len();
    // One note more where the result is therefore no bound.
    let demoted = usize::from(text(&report, "/result/kind") == "estimate");
    // One finding for each cause, which several checks may see.
    assert!(findings <= names.len() && (findings == 0) == names.is_empty(), "{names:?}");
    let files = "--target in.npy --zero-out out.npy";
    let shown = folder.run(&format!("audit outputs {files} {} --seed 5", trainer.words()));
    let notes = shown.exits(0).stdout.matches("\n  note ").count();
    assert_eq!(notes, findings + demoted);
    names
}

#[test]
fn broken_trainers_are_detected() {
    let right = Trainer { epochs: 4, ..Trainer::SHUFFLE };
    let folder = recorded(&right, 400, 7);
    assert_eq!(found(&folder, &right), Vec::<String>::new());

    let same_order = Trainer { sampler: "persistent-shuffle", ..right };
    write(&folder, &right, &same_order.worlds(400, 7));
    let names = found(&folder, &right);
    assert!(names.iter().any(|name| name == "repeated-positions-over-epochs"), "{names:?}");
    assert_eq!(found(&folder, &same_order), Vec::<String>::new());

    let no_order = Trainer { sampler: "deterministic", ..right };
    write(&folder, &right, &no_order.worlds(400, 7));
    let names = found(&folder, &right);
    assert!(names.iter().any(|name| name == "repeated-positions-over-runs"), "{names:?}");

    let [mut target, zero_out] = right.worlds(400, 7);
    target.copy_within(0..40, 40);
    write(&folder, &right, &[target, zero_out]);
    let names = found(&folder, &right);
    assert!(names.iter().any(|name| name == "duplicated-runs"), "{names:?}");

    let one_seed = [true, false]
        .map(|target| (0..400).flat_map(|run| right.run(target, &mut Draws::new(run))).collect());
    write(&folder, &right, &one_seed);
    let names = found(&folder, &right);
    assert!(names.iter().any(|name| name == "shared-noise"), "{names:?}");
    // nor is a shuffle refuted by noise that both worlds share
    let report = audit(&folder, &right, "");
    let refuted = report["samplers"]["refuted"].to_string();
    assert!(!refuted.contains(r#""shuffle""#) && refuted.contains("fixed-step"), "{refuted}");
}

#[test]
fn failed_runs_count_against_the_attack() {
    let trainer = Trainer::SHUFFLE;
    let folder = recorded(&trainer, 400, 8);
    let whole = number(&audit(&folder, &trainer, ""), "/result/epsilon");
    let [mut target, mut zero_out] = trainer.worlds(400, 8);
    for run in 0..20 {
        target[run * 200 + 3] = f64::NAN;
    }
    zero_out[5] = f64::INFINITY;
    write(&folder, &trainer, &[target, zero_out]);
    let words = format!("audit outputs --target in.npy --zero-out out.npy {}", trainer.words());
    let parts = ["in.npy: ", "20 values", "[0, 0, 3]", "--count-non-finite"];
    folder.run(&words).refuses(2, &parts);
    let report = audit(&folder, &trainer, "--count-non-finite");
    assert_eq!(number(&report, "/non_finite/target"), 20.0);
    assert_eq!(number(&report, "/non_finite/zero_out"), 1.0);
    assert!(number(&report, "/result/epsilon") < whole);
    let shown = folder.run(&format!("{words} --count-non-finite")).exits(0).stdout;
    assert!(shown.contains("20 with and 1 without the target record"), "{shown}");
}

/// Recorded outputs, and files that are no outputs of them.
fn recorded_with_broken_files() -> Folder {
    let folder = recorded(&Trainer::SHUFFLE, 20, 9);
    folder.write("short.npy", npy_f8(&[20, 1, 9], &[0.0; 180]));
    folder.write("flat.npy", npy_f8(&[200], &[0.0; 200]));
    folder.write("deep.npy", npy_f8(&[20, 1, 1, 10], &[0.0; 200]));
    let target = Array::new(vec![2, 2], vec![0.0; 4]).unwrap();
    folder.write("one.npz", write_npz(&[("target", &target), ("other", &target)]).unwrap());
    for (name, noise) in [("loud.npz", 2.0), ("quiet.npz", 0.5)] {
        let noise = Array::new(vec![], vec![noise]).unwrap();
        let arrays = [("target", &target), ("zero_out", &target), ("noise_multiplier", &noise)];
        folder.write(name, write_npz(&arrays).unwrap());
    }
    folder
}

#[test]
fn missing_and_contradicting_input_is_named() {
    let folder = recorded_with_broken_files();
    let both = "--target in.npy --zero-out out.npy";
    for (words, parts) in [
        (both.to_owned(), &["--noise-multiplier"][..]),
        (
            "--target loud.npz --zero-out quiet.npz".to_owned(),
            &["noise_multiplier is 2.0 in the target's file and 0.5 in the other"],
        ),
        (
            format!("{both} --noise-multiplier 0.5"),
            &["--batch-size is missing", "--per-batch-mean B"],
        ),
        (format!("{both} --noise-multiplier 0.1 --batch-size 8"), &["--noise-multiplier = 0.1"]),
        (format!("{both} --noise-multiplier 1 --batch-size 0"), &["--batch-size", "at least one"]),
        (format!("{both} --noise-multiplier 1 --per-batch-mean 0"), &["--per-batch-mean"]),
        (format!("{both} --noise-multiplier 1 --batch-size 8 --clip-norm 0"), &["--clip-norm = 0"]),
        (
            format!("{both} --noise-multiplier 1 --batch-size 8 --clip-norm -1"),
            &["--clip-norm = -1"],
        ),
        (
            format!("{both} --noise-multiplier 1 --batch-size 8 --epochs 3"),
            &["in.npy: ", "--epochs is 3"],
        ),
        (
            format!("{both} --noise-multiplier 1 --batch-size 8 --target-step 2"),
            &["--target-step = 2", "shuffle"],
        ),
        (
            format!(
                "{both} --noise-multiplier 1 --batch-size 8 --sampler deterministic --target-step 10"
            ),
            &["--target-step = 10", "0..10"],
        ),
        (
            format!("{both} --noise-multiplier 1 --sampler poisson --threat-model worst-case"),
            &["poisson", "target-canary"],
        ),
        (
            format!("{both} --noise-multiplier 1 --sampler sliding-buffer --batch-size 8"),
            &["--buffer-examples"],
        ),
        ("--target in.npy".to_owned(), &["--zero-out"]),
        ("--target in.npy --zero-out absent.npy".to_owned(), &["absent.npy: ", "cannot be read"]),
        (
            "--target in.npy --zero-out short.npy --noise-multiplier 1".to_owned(),
            &["10", "9", "shapes of the worlds differ"],
        ),
        (
            "--target flat.npy --zero-out in.npy --noise-multiplier 1".to_owned(),
            &["flat.npy: ", "(runs, epochs, steps)"],
        ),
        (
            "--target deep.npy --zero-out in.npy --noise-multiplier 1".to_owned(),
            &["deep.npy: ", "(runs, epochs, steps)"],
        ),
        (
            "one.npz --noise-multiplier 1".to_owned(),
            &["one.npz: ", "`zero_out`", "`target`, `other`"],
        ),
        ("in.npy --noise-multiplier 1".to_owned(), &["in.npy: ", "--target FILE --zero-out FILE"]),
        ("in.npy --target in.npy --zero-out out.npy".to_owned(), &["--target"]),
        (String::new(), &["<RUNS>"]),
    ] {
        folder.run(&format!("audit outputs {words}")).refuses(2, parts);
    }
}
