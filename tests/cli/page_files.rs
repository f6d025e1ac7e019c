//! A page runs the program on files in memory: it gets the report that the program prints of files on the
//! disk, in every form.

use std::ffi::OsString;

use dpscope::{Call, CallResult, ErrorReport};
use dpscope_core::audit::one_shot::CosineNull;
use dpscope_formats::{Array, Limits, write_npz};
use dpscope_recorded::{
    CommittedFederatedPlan, FederatedPlanFiles, FederatedSettings, File, model_scores,
};
use dpscope_report::record::ClaimTest;
use dpscope_tests::Draws;
use serde_json::Value;

use crate::Folder;
use crate::federated_updates::safetensors;
use crate::one_run::canaries;
use crate::trainer::npy_f8;

fn page(folder: &Folder, names: &[&str], words: &str) -> Result<CallResult, ErrorReport> {
    let files = names.iter().map(|name| ((*name).into(), folder.read(name)));
    let call = Call {
        arguments: words.split(' ').map(OsString::from).collect(),
        files: files.collect(),
        outputs: vec!["plan/audited.txt".into()],
        renders: true,
        ..Call::default()
    };
    call.run(&std::sync::Arc::default())
}

/// Runs a command on files in memory and on those of the folder, and compares all that it prints.
#[track_caller]
fn agree(folder: &Folder, names: &[&str], words: &str) -> Value {
    let found = page(folder, names, words).unwrap();
    let report: Value = serde_json::from_str(&found.text).unwrap();
    let comparable = |mut report: Value| {
        report.as_object_mut().unwrap().remove("elapsed_ms");
        report
    };
    let of_program = folder.run(&format!("{words} --json")).json();
    assert_eq!(comparable(report.clone()), comparable(of_program), "{words}");
    let rendered = found.rendered.unwrap();
    let lines = |text: &str| text.lines().take(8).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(lines(&rendered.text), lines(&folder.run(words).stdout), "{words}");
    assert!(rendered.page.starts_with("<!"), "{}", rendered.page);
    assert!(rendered.page.contains(&words.replace("--", "-‑")) || rendered.page.contains(words));
    report
}

#[test]
fn every_question_of_pages_has_the_report_of_the_program() {
    let folder = Folder::new();
    let mut draws = Draws::new(5);
    let mut normals = |count: usize, mean: f64| -> Vec<f64> {
        (0..count).map(|_| mean + draws.normal()).collect()
    };
    folder.write("in.npy", npy_f8(&[300], &normals(300, 2.0)));
    folder.write("out.npy", npy_f8(&[300], &normals(300, 0.0)));
    let (with, without) = (normals(240, 0.0), normals(240, 0.0));
    folder.write("with.npy", npy_f8(&[60, 4], &with));
    folder.write("without.npy", npy_f8(&[60, 4], &without));
    let (coins, scores) = canaries(201, 1.5, 9);
    folder.write("scores.npy", npy_f8(&[201], &scores));
    folder.write("coins.npy", npy_f8(&[201], &coins));
    let cosines: Vec<f64> = normals(150, 1.5).iter().map(|score| score / 1e5_f64.sqrt()).collect();
    folder.write("cosines.npy", npy_f8(&[150], &cosines));
    for (names, words) in [
        (&["in.npy", "out.npy"][..], "audit scores --target in.npy --zero-out out.npy --claim 1"),
        (
            &["with.npy", "without.npy"],
            "audit outputs --target with.npy --zero-out without.npy --noise-multiplier 1 \
             --batch-size 10",
        ),
        (
            &[],
            "audit counts --false-positives 12 --zero-out-trials 1000 --false-negatives 480 \
             --target-trials 1000",
        ),
        (
            &["scores.npy", "coins.npy"],
            "audit one-run --scores scores.npy --coins coins.npy --guesses 50 --claim .5",
        ),
        (&["cosines.npy"], "audit federated --cosines cosines.npy --dimension 1e5"),
    ] {
        let report = agree(&folder, names, words);
        assert!(report["schema"].is_string(), "{words}");
    }
}

const PLAN: [&str; 4] =
    ["plan/plan.json", "plan/seed.secret", "plan/commitment.txt", "plan/coins.npy"];

/// A folder with 240 canaries and scores of each run of a plan.
fn planned(words: &str) -> Folder {
    let folder = Folder::new();
    let inputs = (0..480).map(|i| f64::from(i * 7919 % 997)).collect();
    let inputs = Array::new(vec![240, 2], inputs).unwrap();
    folder.write("canaries.npz", write_npz(&[("inputs", &inputs)]).unwrap());
    let coins = folder.commit(words);
    let mut draws = Draws::new(3);
    for (run, coins) in coins.data().chunks(240).enumerate() {
        let scores: Vec<f64> = coins.iter().map(|coin| 2.0 * coin + draws.normal()).collect();
        folder.write(&format!("scores_{run}.npy"), npy_f8(&[240], &scores));
    }
    folder
}

#[test]
fn a_committed_plan_is_a_folder_in_memory() {
    let folder = planned("--runs 3 --guesses 60");
    let scores = ["scores_0.npy", "scores_1.npy", "scores_2.npy", "canaries.npz"];
    let names = [&scores[..], &PLAN].concat();
    let words = "audit one-run --scores scores_0.npy scores_1.npy scores_2.npy --plan plan \
                 --canaries canaries.npz";
    let report = agree(&folder, &names, words);
    assert_eq!(report["runs"]["planned"], 3);
    // other coins than those of the commitment
    let coins = (0..720).map(|i| f64::from(i % 2)).collect::<Vec<f64>>();
    folder.write("plan/coins.npy", npy_f8(&[3, 240], &coins));
    let refused = page(&folder, &names, words).unwrap_err();
    assert_eq!(refused.file.as_deref(), Some("plan/coins.npy"), "{refused:?}");
}

#[test]
fn a_folder_without_its_files_is_refused() {
    let folder = planned("");
    let refused =
        page(&folder, &["scores_0.npy"], "audit one-run --scores scores_0.npy --plan none");
    assert_eq!(refused.unwrap_err().file.as_deref(), Some("none/plan.json"));
}

/// A model with two arrays of 4,000 and 6,000 parameters.
fn model(seed: u64) -> Vec<u8> {
    let mut draws = Draws::new(seed);
    let values: Vec<f64> = (0..10_000).map(|_| draws.normal()).collect();
    let (bias, weight) = values.split_at(4_000);
    safetensors(&[("bias", "F32", bias), ("weight", "F32", weight)])
}

/// The page reads two models at once, the program in blocks.
#[test]
fn models_in_memory_have_the_bounds_of_the_program() {
    let folder = Folder::new();
    folder
        .run("plan federated --dimension 1e4 --delta 1e-6 --out plan --design fixed:150")
        .exits(0);
    let (initial, last) = (model(1), model(2));
    folder.write("initial.safetensors", &initial);
    folder.write("final.safetensors", &last);
    let limits = Limits::default();
    let of = |name: &'static str| (name, folder.read(&format!("plan/{name}")));
    let [plan, seed, commitment] = ["plan.json", "seed.secret", "commitment.txt"].map(of);
    let committed = CommittedFederatedPlan::open(&FederatedPlanFiles {
        plan: File { name: plan.0, bytes: &plan.1, limits: &limits },
        seed: File { name: seed.0, bytes: &seed.1, limits: &limits },
        commitment: File { name: commitment.0, bytes: &commitment.1, limits: &limits },
    })
    .unwrap();
    let settings = FederatedSettings::from(&committed);
    let null = CosineNull::new(settings.dimension).unwrap();
    let initial = File { name: "initial.safetensors", bytes: &initial, limits: &limits };
    let last = File { name: "final.safetensors", bytes: &last, limits: &limits };
    let (scores, digest) = model_scores(&initial, &last, &null, &committed).unwrap();
    let test = ClaimTest { claim: None, fail_above: None };
    let report = scores.report(&settings, &null, None, &test).unwrap();
    let words =
        "audit federated --initial initial.safetensors --final final.safetensors --plan plan";
    let of_program = folder.run(&format!("{words} --device cpu --json")).json();
    let report = serde_json::to_value(&report).unwrap();
    for part in ["bounds", "estimate", "findings", "design"] {
        assert_eq!(report[part], of_program[part], "{part}");
    }
    // both bind the plan to the same digest of the models
    let audited = String::from_utf8(folder.read("plan/audited.txt")).unwrap();
    assert_eq!(audited.trim(), digest);
}
