//! Audits of simulated mechanisms, trained models and recorded files.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use dpscope_tests::Draws;

use crate::documents;
use crate::record::Case;

const RULES: [&str; 3] = ["split", "simultaneous", "max-uncorrected"];
const THREAT_MODELS: [&str; 3] = ["worst-case", "partially-informed", "target-canary"];

/// Each sampler, and what its audits need beside.
const SAMPLERS: [(&str, &str); 8] = [
    ("poisson", ""),
    ("shuffle", ""),
    ("persistent-shuffle", ""),
    ("balls-in-bins", ""),
    ("deterministic", ""),
    ("partial-shuffle", " --buffer-examples 100"),
    ("sliding-buffer", " --buffer-examples 100"),
    ("batch-then-shuffle", ""),
];

fn pairs() -> impl Iterator<Item = ((&'static str, &'static str), &'static str)> {
    SAMPLERS
        .into_iter()
        .flat_map(|sampler| THREAT_MODELS.map(|threat_model| (sampler, threat_model)))
}

/// Simulated mechanisms: samplers, threat models, rules and float modes.
pub(crate) fn mechanisms() -> Vec<Case> {
    let audit = |id: String, settings: String| Case {
        id,
        arguments: format!("audit bgm --observations 20000 --seed 7 {settings}"),
        values: documents::report,
    };
    let mut cases = Vec::new();
    for ((sampler, buffer), threat_model) in pairs() {
        let run = "--noise-multiplier 0.7 --steps 10 --epochs 2 --batch-size 20";
        cases.push(audit(
            format!("{sampler}, {threat_model}"),
            format!("{run} --sampler {sampler}{buffer} --threat-model {threat_model}"),
        ));
    }
    let truncated = "--sampler truncated-poisson --dataset-size 200 --max-batch-size 22";
    cases.push(audit(
        "truncated-poisson".into(),
        format!("--noise-multiplier 0.7 --epochs 2 --batch-size 20 {truncated}"),
    ));
    for mode in ["fast", "exact"] {
        let run = "--noise-multiplier 1 --steps 100";
        cases.push(audit(format!("{mode} floats"), format!("{run} --float-mode {mode}")));
    }
    for rule in RULES {
        for (sigma, steps, epochs) in [("0.4", 3, 1), ("1", 1000, 1), ("2", 37, 5)] {
            let run = format!("--noise-multiplier {sigma} --steps {steps} --epochs {epochs}");
            let settings =
                format!("{run} --threshold-rule {rule} --delta 1e-6 --significance 0.01");
            cases.push(audit(
                format!("{rule}, sigma {sigma}, {steps} steps, {epochs} epochs"),
                settings,
            ));
        }
    }
    cases.push(audit(
        "claim of 0.7 on add or remove".into(),
        "--noise-multiplier 5 --steps 100 --claim 0.7".into(),
    ));
    cases
}

/// Models trained by DP-SGD on the CPU.
pub(crate) fn trained_models() -> Vec<Case> {
    let audit = |id: String, settings: String| Case {
        id,
        arguments: format!("audit dpsgd --seed 7 {settings}"),
        values: documents::training_report,
    };
    let mut cases = Vec::new();
    for ((sampler, buffer), threat_model) in pairs() {
        let trained = match threat_model {
            "worst-case" => "",
            _ => " --learning-rate 0.1",
        };
        let run = "--records 200 --batch-size 50 --noise-multiplier 0.5 --runs 40";
        cases.push(audit(
            format!("{sampler}, {threat_model}"),
            format!("{run}{trained} --sampler {sampler}{buffer} --threat-model {threat_model}"),
        ));
    }
    let run = "--records 200 --batch-size 50 --noise-multiplier 0.5 --runs 40 --learning-rate 0.1";
    cases.push(audit(
        "truncated-poisson".into(),
        format!("{run} --sampler truncated-poisson --max-batch-size 52"),
    ));
    let run = "--records 120 --batch-size 40 --learning-rate 0.2 --noise-multiplier 0.5 --runs 20";
    for (id, settings) in [
        ("two epochs", "--epochs 2"),
        ("a fixed canary along one parameter", "--canary dirac --fixed-canary"),
        ("debiased outputs", "--debias-records 20"),
        ("Dirac canary, clip norm 3, split", "--canary dirac --clip-norm 3 --threshold-rule split"),
    ] {
        cases.push(audit(id.into(), format!("{run} {settings}")));
    }
    let run = "--records 20 --batch-size 10 --learning-rate 0.2 --noise-multiplier 0.5 --runs 4";
    cases.push(audit("lenet".into(), format!("{run} --model lenet")));
    cases
}

/// Audits of scores, outputs and counts that a user recorded.
pub(crate) fn recorded_files() -> Vec<Case> {
    let audit = |id: String, arguments: String| Case {
        id,
        arguments: format!("audit {arguments}"),
        values: documents::report,
    };
    let mut cases = Vec::new();
    for rule in RULES {
        let scores = format!("scores --threshold-rule {rule} --seed 5");
        let (target, zero_out) = ("target_scores.csv", "zero_out_scores.csv");
        for (id, settings) in [
            ("higher means target", format!("--target {target} --zero-out {zero_out}")),
            (
                "reversed",
                format!("--target {zero_out} --zero-out {target} --higher-means zero-out"),
            ),
            ("wrong sign", format!("--target {zero_out} --zero-out {target}")),
            ("delta 0.01", format!("--target {target} --zero-out {zero_out} --delta 0.01")),
        ] {
            cases.push(audit(format!("scores, {rule}, {id}"), format!("{scores} {settings}")));
        }
        let truncated = ("truncated-poisson", " --dataset-size 30 --max-batch-size 12");
        for (sampler, buffer) in SAMPLERS.into_iter().chain([truncated]) {
            let buffer = buffer.replace("100", "30");
            let files = "--target target_outputs.csv --zero-out zero_out_outputs.csv";
            let outputs =
                format!("outputs {files} --noise-multiplier 0.8 --seed 5 --batch-size 10");
            let settings =
                format!("--threshold-rule {rule} --epochs 2 --sampler {sampler}{buffer}");
            cases.push(audit(
                format!("outputs, {rule}, {sampler}"),
                format!("{outputs} {settings}"),
            ));
        }
    }
    for (fp, fn_, target, zero_out, settings) in [
        (12, 480, 1000, 1000, ""),
        (0, 0, 5000, 4000, "--delta 1e-3"),
        (0, 900, 1000, 100_000, "--significance 0.01"),
        (500, 500, 1000, 1000, ""),
        (3, 2, 40, 50, "--noise-multiplier 1 --steps 100"),
    ] {
        let counts = format!("--false-positives {fp} --false-negatives {fn_}");
        let trials = format!("--target-trials {target} --zero-out-trials {zero_out}");
        cases.push(audit(
            format!("counts, {fp} of {zero_out} and {fn_} of {target}"),
            format!("counts {counts} {trials} {settings}"),
        ));
    }
    cases
}

/// Writes the scores and outputs that [`recorded_files`] reads.
pub(crate) fn score_files(folder: &Path) {
    let mut draws = Draws::new(11);
    for (name, shift) in [("target_scores.csv", 1.5), ("zero_out_scores.csv", 0.0)] {
        let scores: String = (0..1500).fold(String::new(), |mut text, _| {
            let _ = writeln!(text, "{}", draws.normal() + shift);
            text
        });
        fs::write(folder.join(name), scores).unwrap();
    }
    // Two epochs of six steps; the canary's slot is drawn afresh in each epoch.
    for (name, has_target) in [("target_outputs.csv", true), ("zero_out_outputs.csv", false)] {
        let mut text = String::new();
        for _ in 0..600 {
            let mut row = Vec::new();
            for _ in 0..2 {
                let slot = draws.below(6);
                let mean = |step| if has_target && step == slot { 0.0 } else { -1.0 };
                row.extend((0..6).map(|step| (0.8 * draws.normal() + mean(step)).to_string()));
            }
            let _ = writeln!(text, "{}", row.join(","));
        }
        fs::write(folder.join(name), text).unwrap();
    }
}
