//! `dpscope audit secrets` and `dpscope audit guesses`: files of ranks, candidates and guesses, and counts.

use dpscope_tests::Draws;
use dpscope_tests::cli::{number, text};

use crate::trainer::npy_f8;
use crate::{Folder, dpscope};

/// Labels that are guessed by counts.
const LABELS: &str =
    "audit guesses --value label --records 1000 --probability 0.1 --guesses-in 60 --correct 41";
/// Documents of these audits and their plans, by their schemas.
pub(crate) const DOCUMENTS: [(&str, &str); 6] = [
    ("anytime", "audit scores --target scores.npy --zero-out scores-out.npy --anytime --claim 3"),
    (
        "drawn",
        "audit split --member-rows 90 --non-member-rows 60 --guesses-in 30 --correct-in 29 --claim 2 --fail-above 3",
    ),
    ("drawn", "audit secrets --records 20 --decoys 99 --correct 9"),
    ("drawn", LABELS),
    ("drawn_sizes", "plan split --member-rows 80 --non-member-rows 20"),
    ("drawn_sizes", "plan secrets --records 20 --values 1e6 --mu 1 --epsilon 1"),
];
const SECRETS: &str = "audit secrets --records 200 --values 1e6 --guesses 200 --correct 7";

#[test]
fn claims_are_compared_with_the_bound_of_their_adjacency() {
    let report = dpscope(&format!("{SECRETS} --json")).exits(0).json();
    assert!((number(&report, "/bounds/replace") - 9.7281).abs() < 1e-4);
    assert!((number(&report, "/bounds/add_remove") - 8.7848).abs() < 1e-4);
    assert_eq!(text(&report, "/guesses/drawn"), "secrets");
    dpscope(&format!("{SECRETS} --claim 9")).exits(0);
    dpscope(&format!("{SECRETS} --claim 9 --claim-adjacency replace")).exits(3);
    dpscope(&format!("{SECRETS} --claim 8")).exits(3);
    dpscope(&format!("{SECRETS} --claim 30")).exits(6); // above the ceiling
}

/// Scores of 40 records with 500 candidates, of which the true one is ahead in the first records.
fn candidates(ahead: usize) -> Vec<f64> {
    let mut draws = Draws::new(45);
    let score = |draws: &mut Draws, place: usize| {
        draws.normal() + if place.is_multiple_of(500) && place / 500 < ahead { 9.0 } else { 0.0 }
    };
    (0..40 * 500).map(|place| score(&mut draws, place)).collect()
}

#[test]
fn candidates_are_ranked_without_a_look_at_the_truth() {
    let folder = Folder::new();
    let scores = candidates(12);
    folder.write("scores.npy", npy_f8(&[40, 500], &scores));
    let losses: Vec<f64> = scores.iter().map(|score| -score).collect();
    folder.write("losses.npy", npy_f8(&[40, 500], &losses));
    let row =
        |row: &[f64]| row.iter().map(|score| format!("{score:?}")).collect::<Vec<_>>().join(",");
    let lines: Vec<String> = scores.chunks(500).map(row).collect();
    folder.write("scores.csv", lines.join("\n"));
    let audit = "audit secrets --delta 0 --json --candidates";
    let bound = |words: &str| {
        let report = folder.run(&format!("{audit} {words}")).exits(0).json();
        [number(&report, "/bounds/replace"), number(&report, "/bounds/add_remove")]
    };
    let ranks = bound("scores.npy");
    assert!(ranks[0] > 4.0 && (ranks[0] - 2.0 * ranks[1]).abs() < 0.011, "{ranks:?}");
    assert_eq!(bound("losses.npy --direction lower"), ranks);
    assert_eq!(bound("scores.csv"), ranks);
    let clearest = bound("scores.npy --guesses 12");
    assert!(clearest[0] > ranks[0] + 1.0, "{clearest:?} {ranks:?}");
    assert_eq!(bound("losses.npy")[0], 0.0);
    let reversed: Vec<f64> = candidates(24).iter().map(|score| -score).collect();
    folder.write("reversed.npy", npy_f8(&[40, 500], &reversed));
    let reversed = folder.run(&format!("{audit} reversed.npy --claim 1")).exits(6).json();
    assert_eq!(text(&reversed, "/findings/0/code"), "scores_reversed");
    // the same ranks as a file
    let place =
        |row: &[f64]| 1.0 + row[1..].iter().filter(|&&other| other >= row[0]).count() as f64;
    let numbers: Vec<f64> = scores.chunks(500).map(place).collect();
    folder.write("ranks.npy", npy_f8(&[40], &numbers));
    let from_ranks = "audit secrets --ranks ranks.npy --decoys 499 --delta 0 --json";
    let report = folder.run(from_ranks).exits(0).json();
    assert_eq!(number(&report, "/bounds/replace"), ranks[0]);
}

#[test]
fn scores_without_a_leak_show_nothing() {
    let folder = Folder::new();
    folder.write("scores.npy", npy_f8(&[40, 500], &candidates(0)));
    for words in ["", "--list-length 20", "--guesses 10"] {
        let report = folder
            .run(&format!("audit secrets --candidates scores.npy {words} --delta 0 --json"))
            .exits(0)
            .json();
        assert_eq!(number(&report, "/bounds/replace"), 0.0, "{words}: {report:#}");
    }
}

#[test]
fn guesses_of_labels_are_weighed_by_their_odds() {
    let folder = Folder::new();
    let mut draws = Draws::new(46);
    let priors: Vec<f64> = (0..800).map(|row| if row % 2 == 0 { 0.1 } else { 0.6 }).collect();
    let drawn: Vec<f64> =
        priors.iter().map(|&prior| f64::from(u8::from(draws.uniform() < prior))).collect();
    let said: Vec<f64> = drawn
        .iter()
        .map(|&value| match draws.uniform() {
            it if it < 0.8 => -1.0,
            it if it < 0.98 => value,
            _ => 1.0 - value,
        })
        .collect();
    folder.write("priors.npy", npy_f8(&[800], &priors));
    folder.write("drawn.npy", npy_f8(&[800], &drawn));
    folder.write("said.npy", npy_f8(&[800], &said));
    let files = "audit guesses --drawn drawn.npy --guessed said.npy";
    let known = folder.run(&format!("{files} --priors priors.npy --json")).exits(0).json();
    assert!(number(&known, "/bounds/add_remove") > 1.0, "{known:#}");
    assert_eq!(number(&known, "/bounds/replace"), 0.0);
    let loose = format!("{files} --priors priors.npy --odds-factor 2 --delta 0 --json --claim 0.1");
    let loose = folder.run(&loose).exits(6).json();
    assert_eq!(text(&loose, "/claim/verdict/reason"), "bound_assumes_more");
    let mismatch = format!("{files} --probability 0.9");
    folder.run(&mismatch).refuses(2, &["drawn.npy", "standard deviations"]);
    folder.run(files).refuses(2, &["--probability"]);
    // as many members as expected
    let half: Vec<f64> = (0..800).map(|row| f64::from(row % 2)).collect();
    folder.write("half.npy", npy_f8(&[800], &half));
    let half = "audit guesses --drawn half.npy --guessed said.npy --probability 0.5";
    folder.run(half).refuses(2, &["half.npy", "--independent-draws", "audit split"]);
    folder.run(&format!("{half} --independent-draws")).exits(0);
    folder.write("short.npy", npy_f8(&[3], &[0.5; 3]));
    folder
        .run(&format!("{files} --priors short.npy"))
        .refuses(2, &["short.npy", "3 values for 800 records"]);
    folder.write("odd.npy", npy_f8(&[800], &vec![0.5; 800]));
    folder
        .run("audit guesses --drawn odd.npy --guessed said.npy --probability 0.5")
        .refuses(2, &["odd.npy", "value 0", "1 or 0"]);
    let report = dpscope(&format!("{LABELS} --json")).exits(0).json();
    assert!(number(&report, "/odds_factor_without_leak") > 10.0);
}

#[test]
fn impossible_secrets_are_refused_with_what_to_change() {
    for (words, parts) in [
        ("", &["--ranks"][..]),
        ("--records 9 --correct 3", &["--values"]),
        ("--records 9 --values 1 --correct 3", &["values = 1"]),
        ("--records 9 --values 10 --list-length 10 --correct 3", &["list length = 10"]),
        ("--records 9 --values 10 --correct 10", &["correct = 10"]),
        ("--records 9 --values 10 --guesses 10 --correct 3", &["guesses = 10"]),
        ("--records 2 --values 3 --correct 2", &["smaller δ"]),
        ("--records 9 --values 1e17 --correct 3", &["2^53"]),
    ] {
        dpscope(&format!("audit secrets {words}")).refuses(2, parts);
    }
    let folder = Folder::new();
    folder.write("zero.npy", npy_f8(&[3], &[0.0, 1.0, 2.0]));
    folder.write("flat.npy", npy_f8(&[3], &[0.0, 1.0, 2.0]));
    folder.write("nan.npy", npy_f8(&[2, 3], &[0.0, 1.0, 2.0, 3.0, f64::NAN, 1.0]));
    let of = |words: &str| folder.run(&format!("audit secrets {words}"));
    of("--ranks zero.npy --values 9").refuses(2, &["value 0 is 0", "from 1"]);
    of("--ranks zero.npy").refuses(2, &["--values"]);
    of("--candidates flat.npy").refuses(2, &["[3]", "true value first"]);
    of("--candidates nan.npy").refuses(2, &["nan.npy", "record 1"]);
    of("--candidates nan.npy --list-length 1e6").refuses(2, &["--list-length"]);
    of("--candidates absent.npy").refuses(2, &["absent.npy", "cannot be read"]);
}

#[test]
fn committed_secrets_are_audited_as_planned() {
    let folder = Folder::new();
    let plan =
        "plan secrets --records 30 --values 1e9 --decoys 200 --guesses 10 --delta 0 --out plan";
    let sizes = folder.run(&format!("{plan} --json")).exits(0).json();
    let commitment = text(&sizes, "/committed/commitment").to_owned();
    assert!(number(&sizes, "/coins_ceiling") < number(&sizes, "/rows/0/ceilings/replace"));
    folder.run(plan).refuses(2, &["plan.json", "exists"]);
    let mut draws = Draws::new(47);
    let scores: Vec<f64> = (0..30 * 201)
        .map(|place: usize| {
            draws.normal() + if place.is_multiple_of(201) && place < 10 * 201 { 9.0 } else { 0.0 }
        })
        .collect();
    folder.write("scores.npy", npy_f8(&[30, 201], &scores));
    let audit = "audit secrets --plan plan --candidates scores.npy";
    let report = folder.run(&format!("{audit} --json")).exits(0).json();
    assert_eq!(text(&report, "/commitment"), commitment);
    assert_eq!(number(&report, "/guesses/guesses"), 10.0);
    assert_eq!((number(&report, "/delta"), number(&report, "/guesses/correct")), (0.0, 10.0));
    folder.run(&format!("{audit} --guesses 9")).refuses(2, &["--guesses", "--plan"]);
    folder.write("few.npy", npy_f8(&[29, 201], &scores[..29 * 201]));
    folder
        .run("audit secrets --plan plan --candidates few.npy")
        .refuses(2, &["few.npy", "29 records", "30"]);
    folder.write("wide.npy", npy_f8(&[30, 200], &scores[..30 * 200]));
    folder
        .run("audit secrets --plan plan --candidates wide.npy")
        .refuses(2, &["200 scores per record", "201"]);
    folder.write("ranks.npy", npy_f8(&[30], &[1.0; 30]));
    folder.run("audit secrets --plan plan --ranks ranks.npy").refuses(2, &["--candidates"]);
    let others: Vec<f64> = scores.iter().rev().copied().collect();
    folder.write("others.npy", npy_f8(&[30, 201], &others));
    folder
        .run("audit secrets --plan plan --candidates others.npy")
        .refuses(2, &["audited before", "new plan"]);
    let values = folder.read("plan/values.npy");
    folder.write("plan/values.npy", &values[..values.len() - 1]);
    folder.run(audit).refuses(5, &["values.npy", "changed"]);
    folder.write("plan/values.npy", values);
    let planned = String::from_utf8(folder.read("plan/plan.json")).unwrap();
    folder.write("plan/plan.json", planned.replace("\"guesses\": 10", "\"guesses\": 9"));
    folder.run(audit).refuses(5, &["commitment.txt", "changed"]);
    for (words, part) in [
        ("--values 10 --decoys 9", "half"),
        ("--values 1", "at least 2 values"),
        ("--values 10 --list-length 10", "lists of 10 of 10"),
        ("--values 10 --guesses 6 --out plan", "6 guesses of 5 records"),
    ] {
        dpscope(&format!("plan secrets --records 5 {words}")).refuses(2, &[part]);
    }
    dpscope("plan secrets --records 5 --values 10 --mu -1").refuses(2, &["--mu"]);
}

#[test]
fn splits_are_planned_by_the_rule_of_their_audit() {
    let plan = "plan split --member-rows 1600 --non-member-rows 400 --json";
    let cut = dpscope(&format!("{plan} --epsilon 2 --mu 2")).exits(0).json();
    assert!((number(&cut, "/rows/0/bounds/add_remove") - 2.94).abs() < 0.01);
    let needed = number(&cut, "/targets/0/size");
    assert!((300.0..400.0).contains(&needed), "{needed}");
    let sets = dpscope(&format!("{plan} --rule sets")).exits(0).json();
    assert_eq!(text(&sets, "/rows/0/guesses/rule"), "sets");
    dpscope(&format!("{plan} --rule sets --guesses-in 3")).refuses(2, &["--guesses"]);
    dpscope(&format!("{plan} --guesses 3")).refuses(2, &["--rule sets"]);
    dpscope("plan split --member-rows 9 --non-member-rows 2").refuses(2, &["at least 5"]);
}
