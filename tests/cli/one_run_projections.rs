//! `dpscope audit one-run --projections`.

use dpscope_tests::Draws;
use dpscope_tests::cli::{number, text};
use serde_json::json;

use crate::trainer::npy_f8;
use crate::{Folder, codes};

const CANARIES: usize = 300;
const STEPS: usize = 60;
const RATE: f64 = 0.1;

const FILES: &str = "audit one-run --projections p.npy --coins coins.npy --independent-coins";

/// Projections of sums with noise of 0.3 clip norms and a drift of 0.02 per step.
fn projections(coins: &[f64], seed: u64) -> Vec<f64> {
    let mut draws = Draws::new(seed);
    let mut projection = |step: usize, coin: f64| {
        let used = if draws.uniform() < RATE { coin } else { 0.0 };
        used + 0.3 * draws.normal() + 0.02 * step as f64
    };
    let steps = (0..STEPS).flat_map(|step| coins.iter().map(move |&coin| (step, coin)));
    steps.map(|(step, coin)| projection(step, coin)).collect()
}

fn coins(canaries: usize) -> Vec<f64> {
    let mut draws = Draws::new(1);
    (0..canaries).map(|_| draws.below(2) as f64).collect()
}

/// A folder with p.npy and coins.npy.
fn folder(projections: &[f64]) -> Folder {
    let folder = Folder::new();
    folder.write("coins.npy", npy_f8(&[CANARIES], &coins(CANARIES)));
    folder.write("p.npy", npy_f8(&[STEPS, CANARIES], projections));
    folder
}

#[test]
fn scores_are_calibrated_by_the_projections() {
    let folder = folder(&projections(&coins(CANARIES), 2));
    let report = |words: &str| {
        folder.run(&format!("{FILES} --sampling-rate 0.1 {words} --json")).exits(0).json()
    };
    let calibrated = report("");
    assert!(codes(&calibrated).is_empty(), "{calibrated}");
    let found = &calibrated["projections"];
    assert_eq!(found["score"], json!({ "method": "calibrated" }));
    assert_eq!(
        (&found["runs"][0]["steps"], &found["runs"][0]["skipped_steps"]),
        (&json!(60), &json!(0))
    );
    let noise = number(&calibrated, "/projections/runs/0/noise_estimate");
    assert!((0.28..0.34).contains(&noise), "{noise}");
    assert_eq!(text(&calibrated, "/input/projections"), "p.npy");
    assert_eq!(calibrated["input"].get("scores"), None);
    let auc = |report: &_| number(report, "/auc");
    assert!(auc(&calibrated) > 0.97, "{calibrated}");
    let sum = report("--score sum");
    assert!(auc(&sum) < auc(&calibrated) - 0.01, "{sum}");
    // the noise of the claim is 3 times that of the training
    let stated = report("--score stated --guesses 50 --noise-multiplier 0.9 --steps 10 --epochs 6");
    let score = json!({ "method": "stated", "noise_multiplier": 0.9 });
    assert_eq!((&stated["projections"]["score"], codes(&stated)), (&score, vec![]));
    assert!(auc(&stated) < auc(&calibrated) - 0.01, "{stated}");
    let shown = folder.run(&format!("{FILES} --sampling-rate 0.1")).exits(0).stdout;
    for part in ["centre and noise of", "noise multiplier ≈ 0.3", "an estimate"] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
}

#[test]
fn steps_without_noise_are_reported() {
    let mut projections = projections(&coins(CANARIES), 2);
    projections[..2 * CANARIES].fill(0.5);
    let silent = folder(&projections);
    let report = silent.run(&format!("{FILES} --sampling-rate 0.1 --json")).exits(0).json();
    assert_eq!(codes(&report), ["noise_missing"]);
    assert_eq!(report["findings"][0]["data"], json!({ "skipped_steps": 2, "steps": 60 }));
    assert_eq!(text(&report, "/kind"), "bound");
    projections.fill(0.5);
    let silent = folder(&projections);
    silent.run(&format!("{FILES} --sampling-rate 0.1")).refuses(2, &["p.npy", "no noise"]);
}

#[test]
fn a_plan_is_audited_by_projections() {
    let folder = Folder::new();
    let words = "canaries make directions --dimension 400 --count 300 --out canaries.npz";
    folder.run(words).exits(0);
    let coins = folder.commit("").data().to_vec();
    folder.write("p.npy", npy_f8(&[STEPS, CANARIES], &projections(&coins, 3)));
    let words = "audit one-run --projections p.npy --plan plan --canaries canaries.npz \
                 --sampling-rate 0.1 --json";
    for _ in 0..2 {
        let report = folder.run(words).json();
        assert!(
            codes(&report).is_empty() && number(&report, "/bounds/0/epsilon") > 1.0,
            "{report}"
        );
    }
    // the better of two scores has no coverage
    let report = folder.run(&format!("{words} --score sum")).json();
    assert_eq!((codes(&report), text(&report, "/kind")), (vec!["second_scores"], "estimate"));
    let several = words.replace("p.npy", "p.npy p.npy");
    folder.run(&several).refuses(2, &["--projections has 2 files", "the plan allows 1"]);
}

#[test]
fn bad_projections_are_refused() {
    let mut values = projections(&coins(CANARIES), 2);
    let good = folder(&values);
    good.run(FILES).refuses(2, &["--projections", "--sampling-rate"]);
    good.run(&format!("{FILES} --sampling-rate 1.5"))
        .refuses(2, &["--sampling-rate is 1.5", "(0, 1]"]);
    let both = format!("{FILES} --sampling-rate 0.1 --scores p.npy");
    good.run(&both).refuses(2, &["--scores", "--projections"]);
    let lower = format!("{FILES} --sampling-rate 0.1 --direction lower");
    good.run(&lower).refuses(2, &["smaller scores"]);
    let stated = format!("{FILES} --sampling-rate 0.1 --score stated");
    good.run(&stated).refuses(2, &["--score stated", "--noise-multiplier"]);
    let scores = "audit one-run --scores p.npy --coins coins.npy";
    good.run(&format!("{scores} --score sum")).refuses(2, &["--projections"]);
    good.run(&format!("{scores} --sampling-rate 0.1")).refuses(2, &["--noise-multiplier"]);

    let run = |shape: &[usize], values: &[f64]| {
        good.write("p.npy", npy_f8(shape, values));
        good.run(&format!("{FILES} --sampling-rate 0.1"))
    };
    run(&[CANARIES, STEPS], &values).refuses(2, &["p.npy", "[300, 60]", "(steps, canaries)"]);
    run(&[CANARIES], &values[..CANARIES]).refuses(2, &["p.npy", "[300]", "(steps, canaries)"]);
    values[3 * CANARIES + 7] = f64::INFINITY;
    run(&[STEPS, CANARIES], &values).refuses(2, &["p.npy", "step 3 at index 7 is inf"]);
}
