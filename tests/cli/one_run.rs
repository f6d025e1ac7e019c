//! `dpscope audit one-run`, `plan one-run` and `canaries`.

use std::fs;

use dpscope_core::audit::one_run::{CanaryGame, Guesses};
use dpscope_tests::Draws;
use dpscope_tests::cli::{CommandResult, number, text};
use serde_json::json;

use crate::trainer::npy_f8;
use crate::{Folder, codes, dpscope};

/// Fair coins, and scores that are larger by `shift` for included canaries.
pub(crate) fn canaries(number: usize, shift: f64, seed: u64) -> (Vec<f64>, Vec<f64>) {
    let mut draws = Draws::new(seed);
    let coins: Vec<f64> = (0..number).map(|_| draws.below(2) as f64).collect();
    let scores = coins.iter().map(|coin| shift * coin + draws.normal()).collect();
    (coins, scores)
}

/// A folder with scores.npy and coins.npy.
fn run_of(coins: &[f64], scores: &[f64]) -> Folder {
    let folder = Folder::new();
    folder.write("coins.npy", npy_f8(&[coins.len()], coins));
    folder.write("scores.npy", npy_f8(&[scores.len()], scores));
    folder
}

const FILES: &str = "audit one-run --scores scores.npy --coins coins.npy";

/// Codes of the findings on files.
fn found(coins: &[f64], scores: &[f64]) -> Vec<String> {
    let report = run_of(coins, scores).run(&format!("{FILES} --json")).json();
    codes(&report).into_iter().map(str::to_owned).collect()
}

#[test]
fn counts_have_the_bound_of_the_library() {
    let words = "audit one-run --canaries 1000 --guesses 100 --correct 95";
    let report = dpscope(&format!("{words} --delta 1e-5,1e-3 --json")).exits(0).json();
    let guesses = Guesses::new(CanaryGame::coins(1000).unwrap(), 100, 95).unwrap();
    for (place, delta) in [1e-5, 1e-3].into_iter().enumerate() {
        let at = |name: &str| number(&report, &format!("/bounds/{place}/{name}"));
        assert_eq!(at("epsilon"), guesses.epsilon_lower(delta, 0.05).unwrap());
        assert_eq!(at("ceiling"), guesses.ceiling(delta, 0.05).unwrap());
        assert_eq!(at("steinke_epsilon"), guesses.steinke_epsilon_lower(delta, 0.05).unwrap());
    }
    let shown = dpscope(words).exits(0).stdout;
    for part in ["ε ≥ 2.1718", "Steinke", "estimate", "ceiling     ε 3.49", "ten times as many"]
    {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    dpscope(&format!("{words} --claim 2")).exits(3);
    dpscope(&format!("{words} --claim 2.5")).exits(0);
    dpscope(&format!("{words} --fail-above 2")).exits(3);
    // the verdict is on the claim's own δ
    dpscope(&format!("{words} --delta 1e-5,1e-3 --claim 2.15 --claim-delta 1e-3")).exits(0);
}

#[test]
fn a_side_fixed_beforehand_is_worth_half_of_delta() {
    let bound = |sides: &str| {
        let words =
            format!("audit one-run --canaries 1000 {sides} --correct 95 --delta 1e-3 --json");
        number(&dpscope(&words).exits(0).json(), "/bounds/0/epsilon")
    };
    assert!(bound("--guesses-in 100") > bound("--guesses 100"));
    assert_eq!(bound("--guesses-in 50 --guesses-out 50"), bound("--guesses 100"), "both sides");
}

#[test]
fn pairs_are_never_shown_without_the_factor() {
    let words = "audit one-run --canaries 500 --guesses 100 --correct 95 --pairs";
    let shown = dpscope(words).exits(0).stdout;
    assert!(shown.contains("replace adjacency") && shown.contains("never compare it"), "{shown}");
    // 2ε at (1 + e^ε)δ: an add/remove claim needs twice the leak
    dpscope(&format!("{words} --claim 1.5")).exits(0);
    // at 2ε = 4, no guesses of these pairs refute it
    dpscope(&format!("{words} --claim 2")).exits(6);
    dpscope(&format!("{words} --claim 2 --claim-adjacency replace")).exits(3);
    let shown = dpscope(&format!("{words} --claim 1")).exits(3).stdout;
    assert!(shown.contains("twice its ε"), "{shown}");
    let words = "audit one-run --canaries 500 --guesses 100 --correct 95 --claim 1";
    let refused = dpscope(&format!("{words} --claim-adjacency replace"));
    refused.refuses(2, &["--claim-adjacency", "--adjacency replace"]);
}

#[test]
fn scores_of_every_format_have_one_bound() {
    let (coins, scores) = canaries(601, 1.5, 1);
    let folder = run_of(&coins, &scores);
    let bound = |words: &str| {
        number(
            &folder.run(&format!("audit one-run {words} --json")).exits(0).json(),
            "/bounds/0/epsilon",
        )
    };
    let expected = bound("--scores scores.npy --coins coins.npy");
    assert!(expected > 1.0, "{expected}");
    let lines =
        |values: &[f64]| values.iter().map(|value| format!("{value:?}\n")).collect::<String>();
    folder.write("scores.csv", lines(&scores));
    folder.write("coins.csv", lines(&coins));
    assert_eq!(bound("--scores scores.csv --coins coins.csv"), expected);
    // a missing score or coin is not skipped
    for name in ["scores.csv", "coins.csv"] {
        let text = String::from_utf8(folder.read(name)).unwrap();
        folder.write(name, text.replacen('\n', "\n\n", 1));
        let words = "audit one-run --scores scores.csv --coins coins.csv";
        folder.run(words).refuses(2, &[name, "line 2 is empty"]);
        folder.write(name, text);
    }
    // queries are averaged
    let queries: Vec<f64> =
        [-1.0, 0.0, 1.0].iter().flat_map(|off| scores.iter().map(move |s| s + off)).collect();
    folder.write("queries.npy", npy_f8(&[3, 601], &queries));
    assert_eq!(bound("--scores queries.npy --coins coins.npy"), expected);
    let losses: Vec<f64> = scores.iter().map(|score| -score).collect();
    folder.write("losses.npy", npy_f8(&[601], &losses));
    assert_eq!(bound("--scores losses.npy --coins coins.npy --direction lower"), expected);
    assert!(bound("--scores scores.npy --coins coins.npy --guesses 100") > 1.0);
    // 301 of 601 coins are 1
    let report = folder.run(&format!("{FILES} --independent-coins --json")).exits(0).json();
    assert!(number(&report, "/auc") > 0.8 && codes(&report).is_empty(), "{report:#}");
}

#[test]
fn files_sorted_in_another_way_have_the_same_bound() {
    let (coins, scores) = canaries(400, 1.0, 2);
    let order: Vec<usize> = (0..400).map(|i| i * 171 % 400).collect();
    let moved = |values: &[f64]| order.iter().map(|&i| values[i]).collect::<Vec<_>>();
    let bound = |coins: &[f64], scores: &[f64]| {
        let report = run_of(coins, scores).run(&format!("{FILES} --json")).exits(0).json();
        number(&report, "/bounds/0/epsilon")
    };
    assert_eq!(bound(&coins, &scores), bound(&moved(&coins), &moved(&scores)));
}

#[test]
fn exactly_half_is_audited_as_pairs() {
    let (_, scores) = canaries(400, 0.0, 3);
    let mut coins: Vec<f64> = (0..400).map(|i| f64::from(u8::from(i < 200))).collect();
    Draws::new(4).shuffle(&mut coins);
    let leaking: Vec<f64> = scores.iter().zip(&coins).map(|(s, c)| s + 2.0 * c).collect();
    let folder = run_of(&coins, &leaking);
    let report = folder.run(&format!("{FILES} --json")).exits(0).json();
    assert_eq!(text(&report, "/design/game"), "matched_pairs");
    assert_eq!(text(&report, "/design/adjacency"), "replace");
    assert_eq!(number(&report, "/design/canaries"), 200.0);
    assert!(codes(&report).contains(&"exactly_half"), "{report:#}");
    let shown = folder.run(FILES).exits(0).stdout;
    assert!(shown.contains("exactly half") && shown.contains("never compare it"), "{shown}");
    // stating the default probability changes nothing; stating that coins were independent does
    let stated = folder.run(&format!("{FILES} --inclusion-probability 0.5 --json")).exits(0).json();
    assert_eq!(stated["bounds"], report["bounds"]);
    let coins = folder.run(&format!("{FILES} --independent-coins --json")).exits(0).json();
    assert_eq!(text(&coins, "/design/game"), "coins");
    assert_eq!(text(&coins, "/design/coins"), "stated_independent");
    assert_eq!(codes(&coins), Vec::<&str>::new());
    let shown = folder.run(&format!("{FILES} --independent-coins")).exits(0).stdout;
    assert!(shown.contains("stated to be independent"), "{shown}");
}

#[test]
fn coins_that_were_not_drawn_are_reported_or_refused() {
    let (coins, scores) = canaries(401, 1.0, 4);
    let sorted = {
        let mut sorted = coins.clone();
        sorted.sort_by(f64::total_cmp);
        sorted
    };
    let files = run_of(&sorted, &scores);
    files.run(FILES).refuses(2, &["differ in their place in the file", "before any training"]);
    let unfair: Vec<f64> = (0..401).map(|i| f64::from(u8::from(i * 7919 % 10 != 0))).collect();
    run_of(&unfair, &scores).run(FILES).refuses(2, &["the coins were not fair"]);
    let periodic: Vec<f64> = (0..401).map(|i| f64::from(i / 2 % 2)).collect();
    assert_eq!(found(&periodic, &scores), ["coins_follow_order", "fixed_size_inclusion"]);
    // an estimate refutes nothing
    let leaking: Vec<f64> = scores.iter().zip(&periodic).map(|(s, c)| s + 4.0 * c).collect();
    let shown = run_of(&periodic, &leaking).run(&format!("{FILES} --claim 0.5")).exits(6).stdout;
    assert!(shown.contains("ε ≈") && shown.contains("inconclusive"), "{shown}");
}

#[test]
fn leaks_before_training_are_refused() {
    let (coins, scores) = canaries(400, 1.0, 5);
    let folder = run_of(&coins, &scores);
    let (_, noise) = canaries(400, 0.0, 6);
    folder.write("baseline.npy", npy_f8(&[400], &noise));
    folder.run(&format!("{FILES} --baseline baseline.npy")).exits(0);
    folder.write("baseline.npy", npy_f8(&[400], &scores));
    let refused = folder.run(&format!("{FILES} --baseline baseline.npy"));
    refused.refuses(2, &["differ in their baseline scores", "before any training"]);
    let file = |labels: &[f64], inputs: &[f64]| {
        let labels = dpscope_formats::Array::new(vec![400], labels.to_vec()).unwrap();
        let inputs = dpscope_formats::Array::new(vec![400, 2], inputs.to_vec()).unwrap();
        let bytes = dpscope_formats::write_npz(&[("inputs", &inputs), ("labels", &labels)]);
        folder.write("canaries.npz", bytes.unwrap());
        folder.run(&format!("{FILES} --canaries canaries.npz --json"))
    };
    let clean: Vec<f64> = (0..800).map(|i| f64::from(i * 7919 % 800)).collect();
    let labels: Vec<f64> = (0..400).map(|i| f64::from(i % 7)).collect();
    assert_eq!(codes(&file(&labels, &clean).exits(0).json()), Vec::<&str>::new());
    let leaking: Vec<f64> = coins.iter().map(|coin| coin + 1.0).collect();
    file(&leaking, &clean).refuses(2, &["differ in their labels"]);
    let brighter: Vec<f64> = clean.iter().zip(0..).map(|(v, i)| v + 300.0 * coins[i / 2]).collect();
    file(&labels, &brighter).refuses(2, &["inputs"]);
    let mut repeated = clean.clone();
    repeated.copy_within(0..20, 40);
    let same_labels: Vec<f64> = labels.iter().map(|_| 1.0).collect();
    let report = file(&same_labels, &repeated).exits(0).json();
    assert_eq!(report["findings"][0]["data"], json!({ "copies": 10, "canaries": 400 }));
}

#[test]
fn suspicious_scores_are_reported() {
    let (coins, scores) = canaries(400, 0.3, 7);
    let tied: Vec<f64> = scores.iter().map(|score| f64::from(u8::from(*score > 0.0))).collect();
    assert_eq!(found(&coins, &tied), ["tied_scores"]);
    let drifting: Vec<f64> = scores.iter().zip(0..).map(|(s, i)| s + f64::from(i) / 40.0).collect();
    assert_eq!(found(&coins, &drifting), ["scores_follow_order"]);
    let reversed: Vec<f64> = coins.iter().zip(&scores).map(|(c, s)| s - 2.0 * c).collect();
    let folder = run_of(&coins, &reversed);
    let report = folder.run(&format!("{FILES} --claim 1 --json")).exits(6).json();
    assert_eq!(codes(&report), ["scores_reversed"]);
    assert_eq!(number(&report, "/bounds/0/epsilon"), 0.0);
    folder.run(&format!("{FILES} --fail-on-finding")).exits(3);
    let mut missing = scores.clone();
    missing[3] = f64::NAN;
    assert_eq!(found(&coins, &missing), ["failed_scores"]);
    assert_eq!(found(&coins, &scores), Vec::<String>::new());
}

#[test]
fn a_result_too_good_says_look_for_a_leak() {
    let (coins, _) = canaries(100, 0.0, 8);
    let scores: Vec<f64> =
        coins.iter().zip(0..).map(|(c, i)| c + f64::from(i * 37 % 100) / 1e3).collect();
    let folder = run_of(&coins, &scores);
    let shown = folder.run(&format!("{FILES} --guesses 60 --claim 0.5")).exits(3).stdout;
    assert!(shown.contains("Look for a leak of the protocol first"), "{shown}");
    let report = folder.run(&format!("{FILES} --guesses 60 --claim 0.5 --json")).exits(3).json();
    assert_eq!(codes(&report), ["all_correct", "far_above_claim"]);
}

#[test]
fn sets_and_pairs_of_files_are_one_game() {
    let mut draws = Draws::new(9);
    let places: Vec<usize> = (0..200).map(|_| draws.below(2)).collect();
    let coins: Vec<f64> = places
        .iter()
        .flat_map(|&place| [place == 0, place == 1])
        .map(|c| f64::from(u8::from(c)))
        .collect();
    let scores: Vec<f64> = coins.iter().map(|coin| 2.0 * coin + draws.normal()).collect();
    let folder = run_of(&coins, &scores);
    let sets: Vec<f64> = (0..400).map(|i| f64::from(1000 - i / 2)).collect();
    folder.write("sets.npy", npy_f8(&[400], &sets));
    let report = |words: &str| folder.run(&format!("{FILES} {words} --json")).exits(0).json();
    let (pairs, sets) = (report("--pairs"), report("--sets sets.npy"));
    assert_eq!(text(&pairs, "/design/game"), "sets");
    assert_eq!(number(&pairs, "/design/canaries"), 200.0);
    let [pairs, sets] = [&pairs, &sets].map(|report| number(report, "/bounds/0/epsilon"));
    assert!((pairs - sets).abs() < 0.2 && pairs > 1.0, "{pairs} {sets}: only ties may differ");
    folder.run(&format!("{FILES} --pairs --guesses-in 5")).refuses(2, &["guess about a set"]);
    let counts = "audit one-run --canaries 1000 --pairs --guesses-in 20 --correct 20";
    folder.run(counts).refuses(2, &["guess about a set"]);
    folder.write("coins.npy", npy_f8(&[400], &vec![1.0; 400]));
    folder.run(&format!("{FILES} --pairs")).refuses(2, &["set 0 has 2 included canaries"]);
}

/// A folder with canaries and a plan, and the coins of the plan.
fn committed(words: &str) -> (Folder, Vec<f64>) {
    let folder = Folder::new();
    let inputs: Vec<f64> = (0..600).map(|i| f64::from(i * 7919 % 997)).collect();
    let labels: Vec<f64> = (0..300).map(|i| f64::from(i % 10)).collect();
    let inputs = dpscope_formats::Array::new(vec![300, 2], inputs).unwrap();
    let labels = dpscope_formats::Array::new(vec![300], labels).unwrap();
    let records = dpscope_formats::write_npz(&[("inputs", &inputs), ("labels", &labels)]);
    folder.write("records.npz", records.unwrap());
    let make =
        "canaries make mislabelled --data records.npz --count 200 --out canaries.npz --seed 1";
    folder.run(make).exits(0);
    let coins = folder.commit(words).into_data();
    (folder, coins)
}

fn coins_of(folder: &Folder) -> Vec<f64> {
    let limits = dpscope_formats::Limits::default();
    dpscope_formats::read_npy(&folder.read("plan/coins.npy"), &limits).unwrap().into_data()
}

fn score(folder: &Folder, coins: &[f64], seed: u64) {
    let mut draws = Draws::new(seed);
    let scores: Vec<f64> = coins.iter().map(|coin| 3.0 * coin + draws.normal()).collect();
    folder.write("scores.npy", npy_f8(&[coins.len()], &scores));
}

const PLANNED: &str = "audit one-run --scores scores.npy --plan plan --canaries canaries.npz";

#[test]
fn a_committed_plan_is_verified_and_audited() {
    let (folder, coins) = committed("--guesses 60 --delta 1e-5,1e-6 --significance 0.01");
    score(&folder, &coins, 1);
    let report = folder.run(&format!("{PLANNED} --claim 1 --json")).exits(3).json();
    assert_eq!(text(&report, "/design/coins"), "committed");
    assert_eq!(number(&report, "/significance"), 0.01);
    assert_eq!((number(&report, "/bounds/1/guesses"), codes(&report)), (60.0, vec![]));
    let shown = folder.run("canaries verify canaries.npz --plan plan").exits(0).stdout;
    assert!(shown.contains("are those of the commitment"), "{shown}");
    // the seed is published later, in another file
    fs::rename(folder.at("plan/seed.secret"), folder.at("revealed")).unwrap();
    let shown = folder.run("canaries verify canaries.npz --plan plan").exits(0).stdout;
    assert!(shown.contains("once the seed is revealed"), "{shown}");
    folder.run(PLANNED).refuses(2, &["seed.secret"]);
    folder.run(&format!("{PLANNED} --seed revealed")).exits(0);
    folder.run(&format!("{PLANNED} --guesses 5")).refuses(2, &["--plan", "--guesses"]);
    let again = "plan one-run --canaries canaries.npz --out plan";
    folder.run(again).refuses(2, &["never overwritten"]);
}

#[test]
fn what_was_changed_after_the_commitment_exits_5() {
    let (folder, coins) = committed("");
    score(&folder, &coins, 2);
    folder.run(PLANNED).exits(0);
    type Change = fn(Vec<u8>) -> Vec<u8>;
    let twins: [(&str, Change, &str); 4] = [
        (
            "plan/plan.json",
            |b| String::from_utf8(b).unwrap().replace("0.05", "0.04").into(),
            "not the commitment",
        ),
        ("plan/seed.secret", |_| format!("{:064}\n", 7).into(), "not the commitment"),
        (
            "plan/coins.npy",
            |mut b| {
                *b.last_mut().unwrap() ^= 1;
                b
            },
            "other coins",
        ),
        (
            "canaries.npz",
            |b| {
                let changed = dpscope_formats::Array::new(vec![200, 2], vec![1.5; 400]).unwrap();
                drop(b);
                dpscope_formats::write_npz(&[("inputs", &changed)]).unwrap()
            },
            "not the canaries that were committed",
        ),
    ];
    for (name, changed, part) in twins {
        let original = folder.read(name);
        folder.write(name, changed(original.clone()));
        folder.run(PLANNED).refuses(5, &[part]);
        folder.run("canaries verify canaries.npz --plan plan").refuses(5, &[part]);
        folder.write(name, original);
    }
    folder.run(PLANNED).exits(0);
}

#[test]
fn other_scores_of_one_plan_are_an_estimate() {
    let (folder, coins) = committed("");
    score(&folder, &coins, 3);
    folder.run(PLANNED).exits(0);
    folder.run(PLANNED).exits(0);
    score(&folder, &coins, 4);
    let report = folder.run(&format!("{PLANNED} --claim 5 --json")).exits(6).json();
    assert_eq!((codes(&report), text(&report, "/kind")), (vec!["second_scores"], "estimate"));
}

#[test]
fn refused_scores_leave_the_plan_as_it_is() {
    let (folder, coins) = committed("");
    folder.write("scores.npy", npy_f8(&[coins.len()], &vec![1.0; coins.len()]));
    folder.run(PLANNED).exits(2);
    score(&folder, &coins, 3);
    let report = folder.run(&format!("{PLANNED} --json")).exits(0).json();
    assert_eq!((codes(&report), text(&report, "/kind")), (vec![], "bound"));
    let shown = folder.run("audit one-run --scores scores.npy --plan plan").exits(0).stderr;
    assert!(shown.contains("pass --canaries FILE"), "{shown}");
    folder.run("plan one-run --out plan --nonce 00").refuses(2, &["its coins are fixed"]);
}

#[test]
fn refused_options_leave_no_plan() {
    let (folder, _) = committed("");
    let plan = "plan one-run --canaries canaries.npz --out other";
    folder.run(&format!("{plan} --mu 0")).refuses(2, &["--mu is 0"]);
    folder.run(&format!("{plan} --pairs --guesses-in 20")).refuses(2, &["guess about a set"]);
    assert!(!folder.at("other").exists());
    folder.run(&format!("{plan} --delta 0")).exits(0);
}

#[test]
fn a_nonce_draws_the_coins_anew_once() {
    let (folder, coins) = committed("--pairs");
    assert!(coins.chunks(2).all(|pair| pair[0] != pair[1]), "one of each pair");
    folder.run("plan one-run --out plan --nonce zz").refuses(2, &["--nonce is `zz`", "00ff"]);
    folder.run("plan one-run --out plan --nonce=").refuses(2, &["--nonce is ``", "hexadecimal"]);
    folder.run("plan one-run --out no --nonce 00").refuses(2, &["no: has no plan", "commit one"]);
    folder.run("plan one-run --out plan --nonce 00 --delta 1e-6").refuses(2, &["--delta"]);
    let drawn = folder.run("plan one-run --out plan --nonce 00ff --json").exits(0).json();
    assert_eq!(drawn["rows"], json!([]));
    let commitment = String::from_utf8(folder.read("plan/commitment.txt")).unwrap();
    assert_eq!(text(&drawn, "/committed/commitment"), commitment.trim());
    let drawn = coins_of(&folder);
    assert_ne!(drawn, coins);
    folder.run("plan one-run --out plan --nonce 01").refuses(2, &["one nonce only"]);
    score(&folder, &drawn, 5);
    let report = folder.run(&format!("{PLANNED} --json")).exits(0).json();
    assert_eq!(text(&report, "/input/nonce"), "00ff");
    assert_eq!(text(&report, "/design/adjacency"), "replace");
    assert!(number(&report, "/bounds/0/epsilon") > 0.5, "{report:#}");
}

#[test]
fn canaries_of_records_have_their_indices_and_other_labels() {
    let (folder, _) = committed("");
    let limits = dpscope_formats::Limits::default();
    let arrays = |bytes: Vec<u8>| dpscope_formats::read_npz(&bytes, &limits).unwrap();
    let [records, made] = ["records.npz", "canaries.npz"].map(|name| arrays(folder.read(name)));
    let [inputs, labels, indices] = &made[..] else { unreachable!() };
    for (place, index) in indices.1.data().iter().enumerate() {
        let record = *index as usize;
        assert_eq!(inputs.1.data()[2 * place], records[0].1.data()[2 * record]);
        assert_ne!(labels.1.data()[place], records[1].1.data()[record]);
    }
    let make = "canaries make random --data records.npz --out others.npz --count";
    folder.run(&format!("{make} 301")).refuses(2, &["has 300 records"]);
    folder.run(&format!("{make} 5 --dimension 3")).refuses(2, &["no --dimension"]);
    let directions = "canaries make directions --out rows.npz --count 9 --dimension";
    folder.run(&format!("{directions} 8")).refuses(2, &["no more than dimensions"]);
    folder.run(&format!("{directions} 9")).exits(0);
}

#[test]
fn plans_name_sizes() {
    let report =
        dpscope("plan one-run --canaries 1000 --mu 1,2 --epsilon 1 --json").exits(0).json();
    assert_eq!(report["rows"].as_array().unwrap().len(), 2);
    // golden values of the planner: 1.70 at μ = 1, 3.51 at μ = 2
    for (row, expected) in [(0, 1.70), (1, 3.51)] {
        let found = number(&report, &format!("/rows/{row}/expected_epsilon"));
        assert!((found - expected).abs() < 0.01, "{found}");
    }
    assert!(number(&report, "/targets/0/canaries") < 1000.0);
    let guesses = "plan one-run --mu 1 --guesses 300 --epsilon 1 --json";
    let fixed = dpscope(guesses).exits(0).json();
    let rows = fixed["rows"].as_array().unwrap();
    let sizes =
        rows.iter().map(|row| [&row["canaries"], &row["guesses"]].map(|it| it.as_u64().unwrap()));
    assert_eq!(sizes.collect::<Vec<_>>(), [1_000, 10_000, 100_000].map(|canaries| [canaries, 300]));
    assert!(
        number(&fixed, "/rows/0/expected_epsilon") < number(&report, "/rows/0/expected_epsilon")
    );
    let needed = number(&fixed, "/targets/0/canaries");
    let at = |canaries: f64| {
        let size = format!("plan one-run --mu 1 --guesses 300 --canaries {canaries} --json");
        number(&dpscope(&size).exits(0).json(), "/rows/0/expected_epsilon")
    };
    assert!(at(needed) >= 1.0 && at((0.95 * needed).floor()) < 1.0, "{needed}");
    let shown = dpscope("plan one-run --claim 4").exits(0).stdout;
    assert!(shown.contains("estimates") && shown.contains("100,000"), "{shown}");
}

#[test]
fn bad_input_is_refused_with_its_place_and_remedy() {
    let (coins, scores) = canaries(50, 1.0, 10);
    let folder = run_of(&coins, &scores);
    folder.write("short.npy", npy_f8(&[49], &scores[..49]));
    folder.write("few.npy", npy_f8(&[4], &scores[..4]));
    folder.write("halves.npy", npy_f8(&[50], &vec![0.5; 50]));
    folder.write("cube.npy", npy_f8(&[2, 5, 5], &scores));
    let mut nan = scores.clone();
    nan[7] = f64::NAN;
    folder.write("nan.npy", npy_f8(&[50], &nan));
    nan[7] = f64::INFINITY;
    folder.write("infinite.npy", npy_f8(&[50], &nan));
    let counts = "--canaries 1000 --guesses 100 --correct";
    let many = format!("{counts} 90 --delta 0.01");
    for (words, parts) in [
        ("--scores short.npy --coins coins.npy", &["short.npy", "49 scores", "50 coins"][..]),
        ("--scores few.npy --coins coins.npy", &["few.npy", "at least 5"]),
        ("--scores scores.npy --coins halves.npy", &["halves.npy", "0.5 at index 0", "0 or 1"]),
        ("--scores cube.npy --coins coins.npy", &["cube.npy", "(queries, canaries)"]),
        ("--scores halves.npy --coins coins.npy", &["all 50 scores are equal"]),
        ("--scores nan.npy --coins coins.npy", &["1 of 50 scores are NaN", "index 7"]),
        ("--scores infinite.npy --coins coins.npy", &["index 7 is infinite", "replace infinities"]),
        ("--scores scores.npy --coins coins.npy --guesses 51", &["--guesses = 51", "1 … 50"]),
        ("--scores scores.npy --coins coins.npy --sets short.npy", &["49 set numbers"]),
        ("--scores scores.npy --coins coins.npy --canaries 51", &["--canaries", "51 canaries"]),
        ("--scores scores.npy --coins coins.npy --plot x.png", &["x.png", ".svg"]),
        ("--scores scores.npy", &["--coins"]),
        ("--canaries 4 --guesses 2 --correct 1", &["--canaries is 4"]),
        ("--canaries 1000 --guesses 1001 --correct 1", &["--guesses = 1001"]),
        ("--canaries 1000 --correct 1", &["--guesses K"]),
        (&format!("{counts} 101"), &["correct = 101"]),
        (&format!("{counts} 90 --significance 0.5"), &["below 0.5"]),
        (&format!("{counts} 90 --delta 1"), &["not a delta"]),
        (&many, &["show nothing at delta", "guess one side only"]),
        (&format!("{counts} 90 --pairs --adjacency zero-out"), &["--adjacency is not replace"]),
    ] {
        folder.run(&format!("audit one-run {words}")).refuses(2, parts);
    }
    for (words, part) in [
        ("--canaries 1000 --mu 0", "--mu is 0"),
        ("--canaries 1000 --delta 0", "--delta is 0"),
        ("--canaries 1000 --out plan", "--canaries FILE"),
        ("--canaries 1000 --guesses 1001", "--guesses = 1001"),
        ("--canaries 1000 --pairs", "--pairs is for a plan that is committed"),
        ("--canaries 1000 --guesses-in 9", "--guesses-in is for a plan that is committed"),
        ("--runs 2", "--runs is for a plan that is committed"),
        ("--adjacency replace", "--adjacency is for a plan that is committed"),
        ("--canaries few.npy --out plan", "at least 5"),
    ] {
        folder.run(&format!("plan one-run {words}")).refuses(2, &[part]);
    }
}

#[test]
fn the_drawing_shows_ranking_and_scores() {
    let (coins, scores) = canaries(1000, 1.5, 11);
    let folder = run_of(&coins, &scores);
    let shown: CommandResult = folder.run(&format!("{FILES} --plot run.svg")).exits(0);
    let svg = String::from_utf8(folder.read("run.svg")).unwrap();
    let headline = shown.stdout.lines().next().unwrap();
    for part in [headline, "included canaries", "correct guesses (%)", "needed to show"] {
        assert!(svg.contains(part), "{part}");
    }
    assert!(svg.len() < 60_000 && !svg.contains("NaN"), "{}", svg.len());
    folder.write("run.svg", "something else");
    folder.run(&format!("{FILES} --plot run.svg")).refuses(2, &["not overwritten"]);
}
