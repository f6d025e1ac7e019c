//! `dpscope audit one-run` of canaries without coins.

use dpscope_core::audit::one_shot::{AnyMechanism, CanaryDesign, NullScores};
use dpscope_tests::Draws;
use dpscope_tests::cli::{number, text};

use crate::Folder;
use crate::codes;
use crate::trainer::npy_f8;

fn normals(count: usize, shift: f64, seed: u64) -> Vec<f64> {
    let mut draws = Draws::new(seed);
    (0..count).map(|_| shift + draws.normal()).collect()
}

/// A folder with in.npy and out.npy.
fn folder(included: &[f64], null: &[f64]) -> Folder {
    let folder = Folder::new();
    folder.write("in.npy", npy_f8(&[included.len()], included));
    folder.write("out.npy", npy_f8(&[null.len()], null));
    folder
}

const DRAWS: &str = "audit one-run --scores in.npy --null-scores out.npy";
const POOL: &str = "audit one-run --scores in.npy --pool-scores out.npy";

#[test]
fn copied_null_scores_decide_no_claim() {
    let (included, null) = (normals(52, 3.0, 21), normals(50_000, 0.0, 22));
    let run = |included: &[f64], null: &[f64], words: &str| {
        folder(included, null).run(&format!("{DRAWS} --design poisson:50 --claim 2 {words}"))
    };
    run(&included, &null, "").exits(3);
    let in_another_unit: Vec<f64> = null.iter().map(|score| 1e3 * score).collect();
    let report = run(&included, &in_another_unit, "--json").exits(6).json();
    assert_eq!(codes(&report), ["narrow_scores"]);
    let tiled = normals(500, 0.0, 23).repeat(100);
    let appended = [&null[..], &included].concat();
    for (included, null, scores) in [
        (&included[..], &tiled, "null"),
        (&included, &appended, "canaries_in_null"),
        (&included[..26].repeat(2), &null, "canaries"),
    ] {
        let report = run(included, null, "--json").exits(6).json();
        assert_eq!(codes(&report)[0], "repeated_scores");
        assert_eq!(text(&report, "/findings/0/data/scores"), scores);
        assert_eq!(text(&report, "/kind"), "estimate");
    }
    run(&included, &included, "").refuses(2, &["out.npy", "has the scores of in.npy"]);
    run(&[1.0; 52], &vec![1.0; 5_000], "").refuses(2, &["out.npy", "show no leak"]);
    run(&included, &vec![0.0; 5_000], "").refuses(2, &["out.npy", "5000 times and no other"]);
    // a classifier that never says yes to a canary that was not included
    let answers: Vec<f64> = (0..52).map(|canary| f64::from(canary % 2)).collect();
    let report = run(&answers, &vec![0.0; 5_000], "--json").exits(3).json();
    assert!(codes(&report).is_empty(), "{report}");
}

#[test]
fn a_number_that_its_design_does_not_yield_decides_no_claim() {
    let folder = folder(&normals(52, 3.0, 24), &normals(5_000, 0.0, 25));
    for (design, expected) in
        [("poisson:50", vec![]), ("poisson:5000", vec!["number_outside_design"])]
    {
        let words = format!("{DRAWS} --design {design} --claim 5 --json");
        let code = if expected.is_empty() { 0 } else { 6 };
        assert_eq!(codes(&folder.run(&words).exits(code).json()), expected);
    }
}

#[test]
fn bounds_are_those_of_the_library() {
    let (included, null) = (normals(100, 3.0, 1), normals(20_000, 0.0, 2));
    let folder = folder(&included, &null);
    let fresh = NullScores::of_fresh_draws(null, 0.005).unwrap().tails(&included);
    for (words, design) in [
        ("--design poisson:90", CanaryDesign::Poisson { mean: 90.0 }),
        ("--design bernoulli:200:0.5", CanaryDesign::Bernoulli { slots: 200, inclusion: 0.5 }),
        ("", CanaryDesign::Fixed { canaries: 100 }),
    ] {
        let report = folder.run(&format!("{DRAWS} {words} --json")).exits(0).json();
        let any = AnyMechanism::new(design).unwrap();
        // limits from draws use a tenth of the significance
        let expected = any.epsilon_lower(&fresh, 1e-5, 0.045).unwrap();
        assert_eq!(number(&report, "/bounds/epsilon"), expected, "{words}");
        assert!(expected > 0.5, "{expected}");
        assert_eq!(number(&report, "/design/null/draws"), 20_000.0);
        assert!(codes(&report).is_empty());
    }
    // losses in place of scores, in several queries
    let negated: Vec<f64> = included.iter().map(|score| -score).collect();
    let losses = [negated.clone(), negated].concat();
    folder.write("losses.npy", npy_f8(&[2, 100], &losses));
    let others: Vec<f64> = normals(20_000, 0.0, 2).iter().map(|score| -score).collect();
    folder.write("others.npy", npy_f8(&[20_000], &others));
    let words =
        "audit one-run --scores losses.npy --null-scores others.npy --direction lower --json";
    let lower = folder.run(words).exits(0).json();
    let higher = folder.run(&format!("{DRAWS} --json")).exits(0).json();
    assert_eq!(lower["bounds"], higher["bounds"]);
}

#[test]
fn a_pool_is_exact_and_has_all_included_canaries() {
    let pool: Vec<f64> = (0..1_000).map(f64::from).collect();
    let included: Vec<f64> = (0..40).map(|place| f64::from(960 + place / 2 * 2)).collect();
    let folder = folder(&included, &pool);
    let tails = NullScores::of_pool(pool).unwrap().tails(&included);
    let any = AnyMechanism::new(CanaryDesign::Poisson { mean: 40.0 }).unwrap();
    let report = folder.run(&format!("{POOL} --design poisson:40 --json")).exits(0).json();
    let expected = any.epsilon_lower(&tails, 1e-5, 0.05).unwrap();
    assert_eq!(number(&report, "/bounds/epsilon"), expected);
    assert_eq!(text(&report, "/design/null/kind"), "pool");
    folder.write("in.npy", npy_f8(&[2], &[999.0, 12.5]));
    folder.run(POOL).refuses(2, &["out.npy", "12.5", "canary 1"]);
}

#[test]
fn few_draws_are_shown_to_limit_the_bound() {
    let included = vec![9.0; 60];
    let ceiling = |draws: usize| {
        let folder = folder(&included, &normals(draws, 0.0, 3));
        let words = format!("{DRAWS} --design poisson:60");
        let shown = folder.run(&words).exits(0).stdout;
        assert!(shown.contains("is the most that these null scores can show"), "{shown}");
        assert!(shown.contains("fresh draws") && shown.contains("add/remove"), "{shown}");
        let report = folder.run(&format!("{words} --json")).json();
        // all canaries lie above all draws
        assert_eq!(number(&report, "/ceiling"), number(&report, "/bounds/epsilon"));
        number(&report, "/ceiling")
    };
    let (few, many) = (ceiling(600), ceiling(60_000));
    assert!(few + 4.0 < many && many < 12.0, "{few} {many}");
}

#[test]
fn verdicts_name_what_was_seen() {
    let null = normals(10_000, 0.0, 4);
    let strong = folder(&normals(100, 4.0, 5), &null);
    strong.run(&format!("{DRAWS} --design poisson:100 --claim 1")).exits(3);
    strong.run(&format!("{DRAWS} --design poisson:100 --claim 6.5")).exits(0);
    strong.run(&format!("{DRAWS} --claim 1 --claim-adjacency replace")).refuses(2, &["replace"]);
    let silent = folder(&normals(100, 0.0, 6), &null);
    let shown = silent.run(&format!("{DRAWS} --design poisson:100 --claim 2")).exits(0).stdout;
    for part in ["no evidence that the canaries took part", "A Gaussian leak of ε ="] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    let reversed = folder(&normals(100, -2.0, 7), &null);
    let report = reversed.run(&format!("{DRAWS} --claim 2 --json")).exits(6).json();
    assert_eq!(codes(&report), ["scores_reversed"]);
}

#[test]
fn drawings_have_the_normal_scores() {
    let folder = folder(&normals(50, 1.0, 8), &normals(5_000, 0.0, 9));
    folder.run(&format!("{DRAWS} --design poisson:50 --plot scores.svg --brief")).exits(0);
    let svg = folder.read("scores.svg");
    assert!(String::from_utf8_lossy(&svg).contains("normal score"));
}

#[test]
fn bad_input_is_refused_with_its_place() {
    let null = normals(1_000, 0.0, 10);
    let folder = folder(&normals(20, 1.0, 11), &null);
    let refused = |words: &str, parts: &[&str]| {
        folder.run(words).refuses(2, parts);
    };
    refused(&format!("{DRAWS} --delta 1e-5,1e-6"), &["--delta"]);
    refused(&format!("{DRAWS} --coins out.npy"), &["--coins"]);
    refused(&format!("{DRAWS} --pool-scores out.npy"), &["--pool-scores"]);
    refused(&format!("{DRAWS} --design poisson:0"), &["--design"]);
    refused(&format!("{DRAWS} --design fixed:7"), &["20"]);
    refused("audit one-run --scores in.npy --design poisson:20", &["--null-scores"]);
    refused(&format!("{DRAWS} --noise-multiplier 1 --steps 5"), &["--noise-multiplier"]);
    folder.write("out.npy", npy_f8(&[2], &[1.0, f64::NAN]));
    refused(DRAWS, &["out.npy", "NaN", "index 1"]);
    folder.write("out.npy", npy_f8(&[0], &[]));
    refused(DRAWS, &["out.npy"]);
}

#[test]
fn a_committed_pool_is_audited_with_its_copies() {
    const MEMBERS: usize = 500;
    let folder = Folder::new();
    folder.write("pool.npy", npy_f8(&[MEMBERS, 1], &normals(MEMBERS, 0.0, 12)));
    let words = "plan one-run --canaries pool.npy --design poisson:60 --out plan --json";
    let sizes = folder.run(words).exits(0).json();
    let bytes = folder.read("plan/coins.npy");
    let copies = &bytes[bytes.len() - MEMBERS..];
    let inserted: u32 = copies.iter().copied().map(u32::from).sum();
    assert_eq!(number(&sizes, "/pool/inserted"), f64::from(inserted));
    assert!((20..120).contains(&inserted), "{inserted}");

    let mut draws = Draws::new(13);
    let scores: Vec<f64> =
        copies.iter().map(|&copies| 8.0 * f64::from(copies) + draws.normal()).collect();
    folder.write("scores.npy", npy_f8(&[MEMBERS], &scores));
    let words = "audit one-run --scores scores.npy --plan plan --canaries pool.npy";
    let report = folder.run(&format!("{words} --json")).exits(0).json();
    let included: Vec<f64> = scores
        .iter()
        .zip(copies)
        .flat_map(|(&score, &copies)| std::iter::repeat_n(score, copies.into()))
        .collect();
    let tails = NullScores::of_pool(scores.clone()).unwrap().tails(&included);
    let any = AnyMechanism::new(CanaryDesign::Poisson { mean: 60.0 }).unwrap();
    let expected = any.epsilon_lower(&tails, 1e-5, 0.05).unwrap();
    assert_eq!(number(&report, "/bounds/epsilon"), expected);
    assert!(expected > 0.5, "{expected}");
    let shown = folder.run(&format!("{words} --claim 0.2")).exits(3).stdout;
    assert!(shown.contains("committed before the training"), "{shown}");

    // copies that are counted once lose power, and stay valid
    let mut once: Vec<f64> = included.clone();
    once.dedup();
    let tails = NullScores::of_pool(scores.clone()).unwrap().tails(&once);
    assert!(any.epsilon_lower(&tails, 1e-5, 0.05).unwrap() <= expected);

    folder.write("others.npy", npy_f8(&[MEMBERS], &normals(MEMBERS, 0.0, 14)));
    let second = folder.run("audit one-run --scores others.npy --plan plan --json").json();
    assert_eq!(codes(&second), ["second_scores"]);
    let mut changed = bytes.clone();
    *changed.last_mut().unwrap() ^= 1;
    folder.write("plan/coins.npy", changed);
    folder.run(words).refuses(5, &["coins.npy", "other coins"]);
    folder
        .run("plan one-run --canaries pool.npy --design poisson:501 --out p")
        .refuses(2, &["501"]);
    folder.run("plan one-run --design poisson:60 --out p").refuses(2, &["--canaries"]);
    folder
        .run("plan one-run --canaries pool.npy --design fixed:5 --out p")
        .refuses(2, &["poisson"]);
}
