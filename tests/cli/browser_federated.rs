//! Cosines of canary clients have the same report on the page as in the program, to the bit.

use dpscope_report::Reported as _;
use dpscope_report::document::Hints;
use dpscope_report::record::input::FederatedOptions;
use dpscope_report::words::OneShotAttacker;
use dpscope_tests::Draws;
use dpscope_wasm::failure::Failure;
use dpscope_wasm::federated::{RoleFile, recorded_federated};
use serde_json::Value;

use crate::Folder;
use crate::federated::cosines;
use crate::federated_updates::safetensors;
use crate::trainer::npy_f8;

/// Role and path of a file.
type Dropped<'a> = &'a [(&'a str, &'a str)];

const COSINES: Dropped<'_> = &[("cosines", "cosines.csv")];
const WITH_PLAN: Dropped<'_> = &[
    ("cosines", "cosines.csv"),
    ("plan", "plan/plan.json"),
    ("seed", "plan/seed.secret"),
    ("commitment", "plan/commitment.txt"),
];

fn options() -> FederatedOptions {
    FederatedOptions {
        dimension: Some(100_000),
        delta: 1e-6,
        significance: 0.05,
        attacker: None,
        server_rounds: None,
        canaries: None,
        mean: None,
        slots: None,
        inclusion: None,
        control_included: None,
        control_cosine: None,
        claim: None,
    }
}

/// No audit of canary clients shows them.
const HINTS: Hints = Hints { accountant: "", output_scale: "", seed: "" };

/// Report and text of the page.
fn page(
    folder: &Folder,
    files: Dropped<'_>,
    options: &FederatedOptions,
) -> Result<(Value, String), Failure> {
    let contents: Vec<Vec<u8>> = files.iter().map(|(_, path)| folder.read(path)).collect();
    let files: Vec<RoleFile<'_>> = files
        .iter()
        .zip(&contents)
        .map(|(&(role, name), bytes)| RoleFile { role, name, bytes })
        .collect();
    let report = recorded_federated(&files, options)?;
    Ok((comparable(serde_json::to_value(&report).unwrap()), report.text(HINTS)))
}

fn comparable(mut report: Value) -> Value {
    for of_this_run in ["elapsed_ms", "input"] {
        report.as_object_mut().unwrap().remove(of_this_run);
    }
    report
}

#[track_caller]
fn agree(folder: &Folder, files: Dropped<'_>, options: &FederatedOptions, words: &str) -> Value {
    let input = match files[0].0 {
        "cosines" => format!("--cosines {}", files[0].1),
        _ => format!("--initial {} --final {}", files[0].1, files[1].1),
    };
    let command = format!("audit federated {input} {words}");
    let report = comparable(folder.run(&format!("{command} --json")).json());
    let (found, text) = page(folder, files, options).unwrap();
    assert_eq!(found, report, "{words}");
    // the last line has time and version
    let lines = |text: &str| text.lines().take(8).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(lines(&text), lines(&folder.run(&command).stdout), "{words}");
    report
}

fn with_cosines(csv: impl AsRef<[u8]>) -> Folder {
    let folder = Folder::new();
    folder.write("cosines.csv", csv.as_ref());
    folder
}

/// A folder with a plan, and cosines of its canaries.
fn planned(words: &str) -> Folder {
    let folder = Folder::new();
    let plan = format!("plan federated --dimension 1e5 --delta 1e-6 --out plan {words}");
    folder.run(&plan).exits(0);
    folder.write("cosines.csv", cosines(150, 2.0, 11));
    folder
}

const STATED: &str = "--dimension 1e5 --delta 1e-6";

#[test]
fn stated_settings_have_one_report() {
    let folder = with_cosines(cosines(200, 1.5, 1));
    let same = |options: FederatedOptions, words: &str| {
        agree(&folder, COSINES, &options, &format!("{STATED} {words}"))
    };
    let fixed = same(options(), "");
    assert!(fixed["bounds"]["epsilon"].as_f64() > Some(0.5), "{fixed}");
    same(FederatedOptions { claim: Some(0.5), ..options() }, "--claim 0.5");
    same(FederatedOptions { mean: Some(180.0), ..options() }, "--design poisson:180");
    let slots =
        FederatedOptions { slots: Some(400), inclusion: Some(0.5), claim: Some(2.0), ..options() };
    same(slots, "--design bernoulli:400:0.5 --claim 2");
    let more = same(FederatedOptions { canaries: Some(250), ..options() }, "--canaries 250");
    assert_ne!(more["bounds"], fixed["bounds"]);
    let maximum = FederatedOptions {
        attacker: Some(OneShotAttacker::AllUpdates),
        server_rounds: Some(10),
        ..options()
    };
    same(maximum, "--attacker all-updates --server-rounds 10");
    let sum = FederatedOptions { attacker: Some(OneShotAttacker::SumOfUpdates), ..options() };
    same(sum, "--attacker sum-of-updates");
    // another dimension is another null distribution
    let other = FederatedOptions { dimension: Some(90_000), ..options() };
    assert_ne!(page(&folder, COSINES, &other).unwrap().0["bounds"], fixed["bounds"]);
}

#[test]
fn findings_of_the_files_have_one_report() {
    let folder = with_cosines(cosines(300, 3.0, 6));
    folder.write("unseen.csv", cosines(300, 1.0, 7));
    let files = [COSINES[0], ("unseen", "unseen.csv")];
    let words = format!("{STATED} --unseen unseen.csv");
    let report = agree(&folder, &files, &options(), &words);
    assert_eq!(report["findings"][0]["code"], "unseen_not_uniform");
    let mut values: Vec<f64> = (0..100).map(|i| 0.003 + 1e-5 * f64::from(i)).collect();
    values[3] = f64::NAN;
    folder.write("cosines.npy", npy_f8(&[100], &values));
    let report = agree(&folder, &[("cosines", "cosines.npy")], &options(), STATED);
    assert_eq!(report["findings"][0]["code"], "missing_cosines");
}

#[test]
fn committed_plans_have_one_report() {
    for words in
        ["--design poisson:200", "--design fixed:150 --attacker all-updates --server-rounds 4"]
    {
        let folder = planned(words);
        let ignored = FederatedOptions { dimension: None, mean: Some(7.0), ..options() };
        let report = agree(&folder, WITH_PLAN, &ignored, "--plan plan");
        assert_eq!(report["design"]["is_committed"], true);
        // the program bound the plan to the first cosines
        folder.write("cosines.csv", cosines(150, 2.0, 12));
        let files: Vec<_> =
            WITH_PLAN.iter().copied().chain([("audited", "plan/audited.txt")]).collect();
        let report = agree(&folder, &files, &ignored, "--plan plan");
        let codes: Vec<_> = report["findings"].as_array().unwrap().iter().collect();
        assert!(codes.iter().any(|found| found["code"] == "second_scores"), "{codes:?}");
    }
}

#[test]
fn control_clients_have_one_report() {
    let folder = with_cosines(cosines(200, 0.0, 3));
    let words = format!("{STATED} --claim 1 --control-client");
    let report = |included: bool, cosine: f64| {
        let control_included = Some(included);
        let options = FederatedOptions {
            control_included,
            control_cosine: Some(cosine),
            claim: Some(1.0),
            ..options()
        };
        let name = if included { "included" } else { "excluded" };
        let words = format!("{words} {name} --control-cosine {cosine}");
        agree(&folder, COSINES, &options, &words)
    };
    let codes = |report: &Value| report["findings"][0]["code"].as_str().map(str::to_owned);
    let seen = report(true, 0.05);
    assert_eq!((codes(&seen), &seen["has_arrived"]), (None, &true.into()));
    assert_eq!(codes(&report(true, 0.001)).as_deref(), Some("control_not_seen"));
    assert_eq!(codes(&report(false, 0.05)).as_deref(), Some("control_seen"));
    let without = report(false, 0.001);
    assert_eq!((codes(&without), &without["has_arrived"]), (None, &false.into()));
    let says = without["claim"]["says"].as_str().unwrap();
    assert!(says.contains("no evidence that the canaries took part"), "{says}");
}

#[test]
fn a_control_of_the_flattening_is_refused_in_the_same_words() {
    let folder = planned("--design fixed:150");
    folder.run("canaries direction --plan plan --index 0 --out c0.npy").exits(0);
    let read =
        dpscope_formats::read_npy(&folder.read("c0.npy"), &dpscope_formats::Limits::default());
    let direction = read.unwrap().into_data();
    let files: Vec<_> = WITH_PLAN.iter().copied().chain([("control", "sent.npy")]).collect();
    let write = |of: &dyn Fn(usize) -> f64| {
        let values: Vec<f64> = (0..direction.len()).map(of).collect();
        folder.write("sent.npy", npy_f8(&[values.len()], &values));
    };
    write(&|i| 0.3 * direction[i]);
    agree(&folder, &files, &options(), "--plan plan --control sent.npy");
    let refused = |part: &str| {
        let failure = page(&folder, &files, &options()).unwrap_err();
        assert_eq!(failure.field, Some("control"), "{}", failure.message);
        assert!(failure.message.contains(part), "{}", failure.message);
        let words = "audit federated --cosines cosines.csv --plan plan --control sent.npy";
        folder.run(words).refuses(2, &[&failure.message]);
    };
    let count = direction.len();
    write(&|i| direction[(i + 1) % count]);
    refused("order of their names");
    write(&|i| -direction[i]);
    refused("opposite sign");
    write(&|_| 0.0);
    refused("no direction");
    folder.write("sent.npy", npy_f8(&[3], &direction[..3]));
    refused("has 3 parameters");
    let failure = page(&folder, &[COSINES[0], ("control", "sent.npy")], &options()).unwrap_err();
    assert_eq!(failure.field, Some("plan"));
}

const MODELS: Dropped<'_> = &[
    ("initial_model", "initial.safetensors"),
    ("final_model", "final.safetensors"),
    ("plan", "plan/plan.json"),
    ("seed", "plan/seed.secret"),
    ("commitment", "plan/commitment.txt"),
];

/// A model with two arrays of 40,000 and 60,000 parameters.
fn model(seed: u64, size: f64) -> Vec<u8> {
    let mut draws = Draws::new(seed);
    let values: Vec<f64> = (0..100_000).map(|_| size * draws.normal()).collect();
    let (bias, weight) = values.split_at(40_000);
    safetensors(&[("bias", "F32", bias), ("weight", "F32", weight)])
}

#[test]
fn two_models_have_one_report() {
    let folder = planned("--design fixed:150");
    folder.write("initial.safetensors", model(1, 1.0));
    folder.write("final.safetensors", model(2, 1.0));
    let report = agree(&folder, MODELS, &options(), "--plan plan");
    assert_eq!(report["design"]["is_committed"], true);
    assert_eq!(report["bounds"]["epsilon"], 0.0);
    // another model than the one that the plan is bound to
    folder.write("final.safetensors", model(3, 1.0));
    let files: Vec<_> = MODELS.iter().copied().chain([("audited", "plan/audited.txt")]).collect();
    let (report, _) = page(&folder, &files, &options()).unwrap();
    assert_eq!(report["findings"][0]["code"], "second_scores");
    // the same one
    folder.write("final.safetensors", model(2, 1.0));
    let (report, _) = page(&folder, &files, &options()).unwrap();
    assert_eq!(report["findings"], serde_json::json!([]));
}

#[test]
fn models_that_cannot_be_compared_are_refused() {
    let folder = planned("--design fixed:150");
    folder.write("initial.safetensors", model(1, 1.0));
    let refused = |content: Vec<u8>, part: &str| {
        folder.write("final.safetensors", content);
        let failure = page(&folder, MODELS, &options()).unwrap_err();
        assert_eq!(failure.field, Some("final_model"), "{}", failure.message);
        assert!(failure.message.starts_with("final.safetensors"), "{}", failure.message);
        assert!(failure.message.contains(part), "{}", failure.message);
    };
    refused(model(1, 1.0), "the same parameters as initial.safetensors");
    refused(model(2, f64::INFINITY), "diverged");
    refused(safetensors(&[("weight", "F32", &[1.0, 2.0])]), "different arrays");
    refused(b"{}".to_vec(), "final.safetensors");
    folder.write("final.safetensors", model(2, 1.0));
    let failure = page(&folder, &MODELS[..2], &options()).unwrap_err();
    assert_eq!(failure.field, Some("plan"));
    let failure = page(&folder, &MODELS[1..], &options()).unwrap_err();
    assert_eq!(failure.field, Some("initial_model"));
    let small = safetensors(&[("weight", "F32", &[1.0, 2.0])]);
    folder.write("initial.safetensors", small);
    refused(safetensors(&[("weight", "F32", &[2.0, 2.0])]), "has 2 parameters");
    let folder = planned("--design fixed:150 --attacker all-updates --server-rounds 4");
    folder.write("initial.safetensors", model(1, 1.0));
    folder.write("final.safetensors", model(2, 1.0));
    let failure = page(&folder, MODELS, &options()).unwrap_err();
    assert_eq!(failure.field, Some("plan"));
}

#[test]
fn changed_plans_are_refused_by_name() {
    let folder = planned("--design fixed:150");
    let restored = |name: &str, from: &str, to: &str, field: &str, part: &str| {
        let before = folder.read(name);
        let text = String::from_utf8(before.clone()).unwrap();
        folder.write(name, text.replacen(from, to, 1));
        let failure = page(&folder, WITH_PLAN, &options()).unwrap_err();
        assert_eq!(failure.field, Some(field), "{}", failure.message);
        let message = failure.message;
        assert!(message.starts_with(&format!("plan/{field}.")), "{message}");
        assert!(message.contains(part), "{message}");
        folder.write(name, before);
    };
    let (plan, commitment) = ("plan/plan.json", "plan/commitment.txt");
    restored(plan, "\"dimension\": 100000", "\"dimension\": 100001", "commitment", "was changed");
    restored(plan, "\"dimension\": 100000", "\"dimension\": 1", "plan", "dimension");
    restored(plan, "{", "[", "plan", "is not a plan");
    restored(plan, "federated_plan/1", "federated_plan/9", "plan", "of this version");
    restored("plan/seed.secret", "\n", "0", "seed", "64 hexadecimal digits");
    restored(commitment, "\n", "0", "commitment", "was changed");
    let failure = page(&folder, &WITH_PLAN[..2], &options()).unwrap_err();
    assert_eq!(failure.field, Some("seed"));
    page(&folder, WITH_PLAN, &options()).unwrap();
}

#[test]
fn bad_cosines_are_refused_with_their_place_and_remedy() {
    let refused = |csv: &str, options: &FederatedOptions| {
        let failure = page(&with_cosines(csv), COSINES, options).unwrap_err();
        (failure.field.unwrap_or_default(), failure.message)
    };
    for (csv, parts) in [
        ("canary,cosine\n0,0.1\n1,1.5\n", ["row 2", "divide the dot product"]),
        ("canary,cosine\n0,0.1\nnan,0.2\n", ["canary NaN", "must be integers"]),
    ] {
        let (field, message) = refused(csv, &options());
        assert_eq!(field, "cosines", "{message}");
        assert!(message.starts_with("cosines.csv: "), "{message}");
        for part in parts {
            assert!(message.contains(part), "{part}: {message}");
        }
    }
    let (field, message) =
        refused("0.1\n0.2\n0.3\n", &FederatedOptions { canaries: Some(2), ..options() });
    assert!(field == "cosines" && message.contains("3 cosines"), "{message}");
    let zeros = "0\n".repeat(9_000_000);
    let (field, message) = refused(&zeros, &options());
    assert_eq!(field, "cosines");
    assert!(message.contains("`dpscope audit` reads larger files"), "{message}");
}
