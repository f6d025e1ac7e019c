//! `dpscope canaries optimise`.

use dpscope_formats::{Limits, read_npz};
use serde_json::Value;

use crate::Folder;

const SMALL: &str = "canaries optimise --count 20 --records 80 --steps 8 --batch-size 20 \
                     --validation-splits 2 --seed 4";

fn optimised(folder: &Folder, metasteps: u32, options: &str) -> Value {
    let _ = std::fs::remove_file(folder.at("canaries.npz"));
    let words = format!("{SMALL} --metasteps {metasteps} --out canaries.npz {options} --json");
    folder.run(&words).exits(0).json()
}

/// An array of canaries.npz.
fn array(folder: &Folder, name: &str) -> Vec<f64> {
    let arrays = read_npz(&folder.read("canaries.npz"), &Limits::default()).unwrap();
    let (_, array) = arrays.into_iter().find(|(known, _)| known == name).unwrap();
    array.into_data()
}

#[test]
fn optimised_canaries_are_those_that_an_audit_reads() {
    let folder = Folder::new();
    let report = optimised(&folder, 12, "--plot sheet.svg --step-size 0.1");
    assert_eq!(report["objectives"].as_array().unwrap().len(), 12);
    assert_eq!(report["validations"].as_array().unwrap().len(), 2);
    let [inputs, relaxed] = ["inputs", "relaxed"].map(|name| array(&folder, name));
    assert_eq!((inputs.len(), relaxed.len()), (20 * 446, 20 * 446));
    assert!(inputs.iter().all(|value| *value == 0.0 || *value == 1.0));
    assert!(relaxed.iter().all(|value| (0.0..=1.0).contains(value)) && inputs != relaxed);
    let mut records = array(&folder, "indices");
    records.sort_by(f64::total_cmp);
    records.dedup();
    assert_eq!((records.len(), array(&folder, "labels").len()), (20, 20));
    assert_eq!(folder.names(), ["canaries.npz", "sheet.svg"], "the state is removed at the end");
    let checked = folder.run("canaries verify canaries.npz --json").exits(0).json();
    assert_eq!(checked["canaries_digest"], report["canaries_digest"]);
    folder.run("plan one-run --canaries canaries.npz --out plan").exits(0);
    folder.run("canaries verify canaries.npz --plan plan").exits(0);
    let drawing = String::from_utf8(folder.read("sheet.svg")).unwrap();
    assert!(drawing.contains("optimised: a row per canary"), "{drawing}");
}

#[test]
fn memory_and_threads_change_no_bit_and_the_seed_does() {
    let folder = Folder::new();
    let digest = |options: &str| optimised(&folder, 3, options)["canaries_digest"].clone();
    let whole = digest("--relaxed");
    assert_eq!(digest("--relaxed --memory two-level --threads 1"), whole);
    assert_ne!(digest("--relaxed --update momentum"), whole);
    assert_ne!(digest(""), whole, "rounded");
}

#[test]
fn only_the_output_of_the_same_checkpoint_is_written_again() {
    let folder = Folder::new();
    optimised(&folder, 2, "--checkpoint state");
    let words = format!("{SMALL} --metasteps 2 --out canaries.npz");
    let resumed = format!("{words} --checkpoint state");
    folder.run(&resumed).exits(0);
    // the plan lies elsewhere
    folder.run("plan one-run --canaries canaries.npz --out plans/of/the/run").exits(0);
    let before = folder.read("canaries.npz");
    let remedy = ["canaries.npz", "never overwritten", "choose another file, or remove this one"];
    folder.run(&words).refuses(2, &remedy);
    folder.run(&format!("{resumed} --relaxed")).refuses(2, &remedy);
    folder
        .run("canaries make directions --dimension 50 --count 10 --out canaries.npz")
        .refuses(2, &remedy);
    assert!(folder.read("canaries.npz") == before);
    folder.run("canaries verify canaries.npz --plan plans/of/the/run").exits(0);
}

#[cfg(unix)]
#[test]
fn resuming_after_ctrl_c_yields_the_same_canaries() {
    use std::process::{Command, Stdio};
    let folder = Folder::new();
    let words = |metasteps: u32| {
        format!("{SMALL} --metasteps {metasteps} --out canaries.npz --checkpoint state --relaxed")
    };
    let is_interrupted = |metasteps: u32| {
        let _ = std::fs::remove_file(folder.at("state"));
        let mut command = dpscope_tests::cli::dpscope(folder.path());
        command.args(words(metasteps).split_whitespace());
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        while !folder.at("state").exists() && child.try_wait().unwrap().is_none() {
            std::thread::yield_now();
        }
        let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
        let output = child.wait_with_output().unwrap();
        let text = String::from_utf8(output.stderr).unwrap();
        let stopped = sent.unwrap().success() && output.status.code() == Some(130);
        assert!(!stopped || text.contains("resume with\n  dpscope canaries optimise"), "{text}");
        stopped
    };
    let metasteps = (0..8).map(|doubling| 100 << doubling).find(|&size| is_interrupted(size));
    let metasteps = metasteps.expect("an optimisation that takes some seconds");
    let resumed = folder.run(&format!("{} --json", words(metasteps))).exits(0).json();
    // the state of other settings is refused
    let other = folder.run(&format!("{} --step-size 0.5", words(metasteps))).exits(5);
    assert!(other.stderr.contains("another value"), "{}", other.stderr);
    folder.run(&words(metasteps + 1)).exits(5);
    let other = folder.run(&format!("{} --data p100-like", words(metasteps))).exits(5);
    assert!(other.stderr.contains("another value of --model or --data"), "{}", other.stderr);
    let whole = optimised(&folder, metasteps, "--relaxed");
    for field in ["canaries_digest", "objectives", "validations", "metasmoothness"] {
        assert_eq!(resumed[field], whole[field], "{field}");
    }
}

#[test]
fn what_cannot_be_optimised_is_refused_with_a_remedy() {
    let folder = Folder::new();
    let relu = "input = { channels = 446 }\nlayers = [{ kind = \"linear\", outputs = 8 }, \
                { kind = \"relu\" }, { kind = \"linear\", outputs = 30 }]";
    folder.write("relu.toml", relu);
    folder.write(
        "small.toml",
        "input = { channels = 9 }\nlayers = [{ kind = \"linear\", outputs = 30 }]",
    );
    folder.write("state", "no state");
    let out = "--metasteps 2 --out c.npz";
    for (options, part) in [
        ("--model relu.toml --data location-like", "gelu, softplus or tanh, or pass --allow-rough"),
        ("--model small.toml --data location-like", "shape"),
        ("--model small.toml", "--data is missing"),
        ("--model none.toml", "not mlp, lenet, cnn"),
        ("--steps 0", "--steps is 0"),
        ("--batch-size 81", "one batch of 81"),
        ("--step-size 0", "--step-size is 0"),
        ("--learning-rate NaN", "--learning-rate is NaN"),
        ("--momentum 1", "--momentum is 1"),
        ("--splits 0", "--splits is 0"),
        ("--checkpoint c.npz", "same file"),
    ] {
        let replaced = options.split(' ').next().unwrap_or_default();
        let base: Vec<&str> = SMALL.split_whitespace().collect();
        let place = base.iter().position(|word| *word == replaced);
        let others = base
            .iter()
            .enumerate()
            .filter(|(at, _)| place.is_none_or(|place| *at != place && *at != place + 1));
        let base = others.map(|(_, word)| *word).collect::<Vec<_>>().join(" ");
        let refused = folder.run(&format!("{base} {out} {options}")).exits(2);
        assert!(refused.stderr.contains(part), "{options}: {}", refused.stderr);
    }
    folder.run(&format!("{SMALL} {out} --checkpoint state")).exits(5);
    folder.run(&format!("{SMALL} --metasteps 2 --out c.npy")).exits(2);
    let four = SMALL.replace("--count 20", "--count 4");
    assert!(folder.run(&format!("{four} {out}")).exits(2).stderr.contains("at least 5"));
    let rough = format!("{SMALL} {out} --model relu.toml --data location-like --allow-rough");
    let shown = folder.run(&rough).exits(0).stdout;
    assert!(shown.contains("warning") && shown.contains("derivative jumps"), "{shown}");
}
