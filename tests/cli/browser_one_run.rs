//! Files of one run have the same report on the page as in the program, to the bit.

use dpscope_formats::{Array, Limits, read_npy, write_npz};
use dpscope_report::record::input::OneRunOptions;
use dpscope_tests::Draws;
use dpscope_wasm::failure::Failure;
use dpscope_wasm::one_run::{CanaryReport, RoleFile, recorded};
use serde_json::Value;

use crate::Folder;
use crate::one_run::canaries;
use crate::trainer::npy_f8;

/// Role and path of a file.
type Dropped<'a> = &'a [(&'a str, &'a str)];

const PLAN: [(&str, &str); 4] = [
    ("plan", "plan/plan.json"),
    ("seed", "plan/seed.secret"),
    ("commitment", "plan/commitment.txt"),
    ("coins", "plan/coins.npy"),
];

fn options() -> OneRunOptions {
    OneRunOptions {
        delta: 1e-5,
        significance: 0.05,
        guesses: None,
        pairs: None,
        lower: None,
        mean: None,
        slots: None,
        inclusion: None,
        claim: None,
    }
}

/// The report of the page.
fn page(folder: &Folder, files: Dropped<'_>, options: &OneRunOptions) -> Result<Value, Failure> {
    let contents: Vec<Vec<u8>> = files.iter().map(|(_, path)| folder.read(path)).collect();
    let files: Vec<RoleFile<'_>> = files
        .iter()
        .zip(&contents)
        .map(|(&(role, name), bytes)| RoleFile { role, name, bytes })
        .collect();
    let report = match recorded(&files, options)? {
        CanaryReport::Coins(report) => serde_json::to_value(*report),
        CanaryReport::Pool(report) => serde_json::to_value(*report),
    };
    Ok(comparable(report.unwrap()))
}

/// The report of the program.
fn program(folder: &Folder, words: &str) -> Value {
    comparable(folder.run(&format!("audit one-run {words} --json")).json())
}

fn comparable(mut report: Value) -> Value {
    for of_this_run in ["elapsed_ms", "input"] {
        report.as_object_mut().unwrap().remove(of_this_run);
    }
    report
}

#[track_caller]
fn agree(folder: &Folder, files: Dropped<'_>, options: &OneRunOptions, words: &str) -> Value {
    let report = program(folder, words);
    assert_eq!(page(folder, files, options).unwrap(), report, "{words}");
    report
}

/// A folder with 240 canaries and scores of each run of a plan.
fn planned(words: &str) -> Folder {
    let folder = Folder::new();
    let inputs = (0..480).map(|i| f64::from(i * 7919 % 997)).collect();
    let inputs = Array::new(vec![240, 2], inputs).unwrap();
    folder.write("canaries.npz", write_npz(&[("inputs", &inputs)]).unwrap());
    folder.run(&format!("plan one-run --canaries canaries.npz --out plan {words}")).exits(0);
    let coins = read_npy(&folder.read("plan/coins.npy"), &Limits::default()).unwrap();
    let mut draws = Draws::new(3);
    for (run, coins) in coins.data().chunks(240).enumerate() {
        let scores: Vec<f64> = coins.iter().map(|coin| 2.0 * coin + draws.normal()).collect();
        folder.write(&format!("scores_{run}.npy"), npy_f8(&[240], &scores));
    }
    folder
}

fn with_plan(scores: usize) -> Vec<(&'static str, &'static str)> {
    let runs = ["scores_0.npy", "scores_1.npy", "scores_2.npy"];
    let files = runs.into_iter().take(scores).map(|name| ("scores", name)).chain(PLAN);
    files.chain([("canaries", "canaries.npz")]).collect()
}

#[test]
fn plans_of_every_game_have_one_report() {
    let words = "--scores scores_0.npy --plan plan --canaries canaries.npz";
    for game in ["", "--guesses 60", "--pairs", "--set-size 4", "--guesses-in 20"] {
        let folder = planned(game);
        let report = agree(&folder, &with_plan(1), &options(), words);
        assert!(report["bounds"][0]["epsilon"].as_f64() > Some(0.1), "{game}: {report}");
    }
    let folder = planned("--runs 3 --guesses 60");
    let words = words.replace("scores_0.npy", "scores_0.npy scores_1.npy scores_2.npy");
    let report = agree(&folder, &with_plan(3), &options(), &words);
    assert_eq!(report["runs"]["planned"], 3);
}

#[test]
fn coins_sets_and_baselines_have_one_report() {
    let (coins, scores) = canaries(201, 1.5, 9);
    let folder = Folder::new();
    folder.write("scores.npy", npy_f8(&[201], &scores));
    folder.write("coins.npy", npy_f8(&[201], &coins));
    folder.write("baseline.npy", npy_f8(&[201], &canaries(201, 0.0, 8).1));
    let files = [("scores", "scores.npy"), ("coins", "coins.npy"), ("baseline", "baseline.npy")];
    let words = "--scores scores.npy --coins coins.npy --baseline baseline.npy";
    agree(&folder, &files, &options(), words);
    let lower = OneRunOptions { lower: Some(true), guesses: Some(50), ..options() };
    agree(&folder, &files, &lower, &format!("{words} --direction lower --guesses 50"));
    let claimed = OneRunOptions { claim: Some(0.5), ..options() };
    let report = agree(&folder, &files, &claimed, &format!("{words} --claim 0.5"));
    assert!(report["verdict"].is_object(), "{report}");
    // exactly half of the canaries, without a plan: matched in pairs
    let half: Vec<f64> = (0..200).map(|i| f64::from(i % 2)).collect();
    folder.write("coins.npy", npy_f8(&[200], &half));
    folder.write("scores.npy", npy_f8(&[200], &scores[..200]));
    agree(&folder, &files[..2], &options(), "--scores scores.npy --coins coins.npy");
}

#[test]
fn sets_are_read() {
    let mut draws = Draws::new(4);
    let (sets, coins): (Vec<f64>, Vec<f64>) =
        (0..300).map(|i| (f64::from(i % 60), f64::from(u8::from(i / 60 == i % 5)))).unzip();
    let scores: Vec<f64> = coins.iter().map(|coin| 2.5 * coin + draws.normal()).collect();
    let folder = Folder::new();
    for (name, data) in [("sets.npy", &sets), ("coins.npy", &coins), ("scores.npy", &scores)] {
        folder.write(name, npy_f8(&[300], data));
    }
    let files = [("scores", "scores.npy"), ("coins", "coins.npy"), ("sets", "sets.npy")];
    let words = "--scores scores.npy --coins coins.npy --sets sets.npy";
    let report = agree(&folder, &files, &options(), words);
    // a reader that ignores sets takes each canary for a coin
    let ignoring = page(&folder, &files[..2], &options());
    assert!(ignoring.is_err() || ignoring.unwrap()["bounds"] != report["bounds"]);
    folder.write("sets.npy", npy_f8(&[299], &sets[..299]));
    let refused = page(&folder, &files, &options()).unwrap_err();
    assert_eq!(refused.field, Some("sets"));
    assert!(refused.message.starts_with("sets.npy: has 299 set numbers"), "{}", refused.message);
}

#[test]
fn null_scores_and_pools_have_one_report() {
    let mut draws = Draws::new(6);
    let mut normals = |number: usize, shift: f64| -> Vec<f64> {
        (0..number).map(|_| shift + draws.normal()).collect()
    };
    let (included, null) = (normals(100, 3.0), normals(20_000, 0.0));
    let folder = Folder::new();
    folder.write("in.npy", npy_f8(&[100], &included));
    folder.write("out.npy", npy_f8(&[20_000], &null));
    let files = [("scores", "in.npy"), ("null_scores", "out.npy")];
    let words = "--scores in.npy --null-scores out.npy";
    let fixed = agree(&folder, &files, &options(), words);
    assert!(fixed["bounds"]["epsilon"].as_f64() > Some(0.5), "{fixed}");
    let poisson = OneRunOptions { mean: Some(90.0), claim: Some(0.3), ..options() };
    agree(&folder, &files, &poisson, &format!("{words} --design poisson:90 --claim 0.3"));
    let slots = OneRunOptions { slots: Some(200), inclusion: Some(0.5), ..options() };
    agree(&folder, &files, &slots, &format!("{words} --design bernoulli:200:0.5"));
    folder.write("in.npy", npy_f8(&[50], &null[..50]));
    let files = [("scores", "in.npy"), ("pool_scores", "out.npy")];
    agree(&folder, &files, &options(), "--scores in.npy --pool-scores out.npy");
    folder.write("in.npy", npy_f8(&[100], &included));
    let refused = page(&folder, &files, &options()).unwrap_err();
    assert_eq!(refused.field, Some("pool_scores"));
    assert!(refused.message.contains("out.npy: lacks the score"), "{}", refused.message);
}

#[test]
fn a_plan_that_draws_from_a_pool_has_one_report() {
    let folder = planned("--design poisson:60");
    let words = "--scores scores_0.npy --plan plan --canaries canaries.npz";
    let report = agree(&folder, &with_plan(1), &options(), words);
    assert_eq!(report["design"]["null"]["kind"], "pool");
    folder.write("scores_0.npy", npy_f8(&[7], &[0.0; 7]));
    let refused = page(&folder, &with_plan(1), &options()).unwrap_err();
    assert!(refused.message.contains("score the whole pool"), "{}", refused.message);
}

#[test]
fn changed_plans_and_other_canaries_are_refused_by_name() {
    let folder = planned("");
    let refused = || {
        let failure = page(&folder, &with_plan(1), &options()).unwrap_err();
        (failure.field.unwrap_or_default(), failure.message)
    };
    let restored = |name: &str, change: &dyn Fn(Vec<u8>) -> Vec<u8>, field: &str, part: &str| {
        let before = folder.read(name);
        folder.write(name, change(before.clone()));
        let (found, message) = refused();
        assert_eq!(found, field, "{message}");
        assert!(message.starts_with(name) && message.contains(part), "{message}");
        folder.write(name, before);
    };
    let replaced = |from: &'static str, to: &'static str| {
        move |bytes: Vec<u8>| String::from_utf8(bytes).unwrap().replace(from, to).into_bytes()
    };
    let last = |mut bytes: Vec<u8>| {
        *bytes.last_mut().unwrap() ^= 1;
        bytes
    };
    restored("plan/coins.npy", &last, "coins", "differs from the coins");
    restored("plan/seed.secret", &replaced("\n", "0"), "seed", "64 hexadecimal digits");
    let hostile = replaced("\"canaries\": 240", "\"canaries\": 99999999999");
    restored("plan/plan.json", &hostile, "plan", "at most");
    restored("plan/plan.json", &replaced("{", "["), "plan", "is not a plan");
    restored("scores_0.npy", &|_| npy_f8(&[3, 2, 2], &[0.0; 12]), "scores", "has shape");
    let others = |_| {
        let inputs = Array::new(vec![240, 2], vec![0.5; 480]).unwrap();
        write_npz(&[("inputs", &inputs)]).unwrap()
    };
    restored("canaries.npz", &others, "canaries", "not the canaries that were committed");
    let two = [("scores", "scores_0.npy"), ("scores", "scores_0.npy")];
    let two: Vec<_> = two.into_iter().chain(PLAN).collect();
    let failure = page(&folder, &two, &options()).unwrap_err();
    assert!(failure.message.contains("2 files of scores"), "{}", failure.message);
    let failure = page(&folder, &[("scores", "scores_0.npy")], &options()).unwrap_err();
    assert_eq!(failure.field, Some("coins"));
    let failure = page(&folder, &[PLAN[3]], &options()).unwrap_err();
    assert_eq!(failure.field, Some("scores"));
}
