//! `dpscope audit federated`.

use dpscope_core::audit::one_shot::{
    AnyMechanism, CanaryDesign, CosineNull, Gdp, IndependentCanaries,
};
use dpscope_tests::Draws;
use dpscope_tests::cli::{CommandResult, number, text};
use serde_json::json;

use crate::codes;
use crate::trainer::npy_f8;
use crate::{Folder, dpscope};

const DIMENSION: f64 = 1e5;
const AUDIT: &str = "audit federated --cosines cosines.csv --dimension 1e5 --delta 1e-6";

/// Cosines whose normal scores are about N(shift, 1).
fn values(canaries: usize, shift: f64, seed: u64) -> Vec<f64> {
    let mut draws = Draws::new(seed);
    let cosine = |_| {
        let z = draws.normal() + shift;
        z / (DIMENSION + z * z).sqrt()
    };
    (0..canaries).map(cosine).collect()
}

/// A csv file of cosines whose normal scores are about N(shift, 1).
pub(crate) fn cosines(canaries: usize, shift: f64, seed: u64) -> String {
    let rows = values(canaries, shift, seed).into_iter().enumerate();
    rows.fold("canary,cosine\n".to_owned(), |text, (row, value)| format!("{text}{row},{value}\n"))
}

fn run_of(csv: impl AsRef<[u8]>, words: &str) -> CommandResult {
    let folder = Folder::new();
    folder.write("cosines.csv", csv.as_ref());
    folder.run(&format!("{AUDIT} {words}"))
}

#[test]
fn bounds_are_those_of_the_library() {
    let cosines = cosines(200, 1.5, 1);
    let tails = CosineNull::new(100_000).unwrap().tails(&values(200, 1.5, 1)).unwrap();
    let independent = IndependentCanaries::new(200, 0.05).unwrap();
    for (words, design) in [
        ("--design poisson:180", CanaryDesign::Poisson { mean: 180.0 }),
        ("--design bernoulli:400:0.5", CanaryDesign::Bernoulli { slots: 400, inclusion: 0.5 }),
        ("", CanaryDesign::Fixed { canaries: 200 }),
    ] {
        let report = run_of(&cosines, &format!("{words} --json")).exits(0).json();
        let any = AnyMechanism::new(design).unwrap();
        let at = |name: &str| number(&report, &format!("/bounds/{name}"));
        assert_eq!(at("epsilon"), any.epsilon_lower(&tails, 1e-6, 0.05).unwrap(), "{words}");
        assert_eq!(at("gdp_mu"), any.mu_lower(&tails, 0.05).unwrap());
        assert_eq!(at("independent_epsilon"), independent.epsilon_lower(&tails, 1e-6).unwrap());
        assert_eq!(at("independent_gdp_mu"), Gdp::new(&independent).mu_lower(&tails).unwrap());
        assert_eq!(codes(&report), [""; 0]);
    }
}

/// A leak that a wrong dimension, equal cosines or another number of canaries hides.
#[test]
fn a_wrong_dimension_or_number_of_canaries_decides_no_claim() {
    let cosines = cosines(52, 3.0, 14);
    let verdict = |words: &str| {
        let folder = Folder::new();
        folder.write("cosines.csv", cosines.as_bytes());
        let words = format!("audit federated --cosines cosines.csv --delta 1e-6 --json {words}");
        let report = folder.run(&words).json();
        let codes: Vec<String> = codes(&report).into_iter().map(str::to_owned).collect();
        (text(&report, "/claim/verdict/outcome").to_owned(), codes.join(" "))
    };
    let found = |outcome: &str, code: &str| (outcome.to_owned(), code.to_owned());
    let dimension = |d: &str| verdict(&format!("--design poisson:50 --claim 4 --dimension {d}"));
    assert_eq!(dimension("1e5"), found("refuted", ""));
    for smaller in ["1e4", "1e3"] {
        assert_eq!(dimension(smaller), found("inconclusive", "spread_too_small"));
    }
    let design =
        |mean: &str| verdict(&format!("--dimension 1e5 --claim 5 --design poisson:{mean}"));
    for mean in ["5000", "1"] {
        assert_eq!(design(mean), found("inconclusive", "number_outside_design"));
    }
    let zeros =
        (0..52).fold("canary,cosine\n".to_owned(), |rows, row| rows + &format!("{row},0\n"));
    let shown = run_of(zeros, "--design poisson:50 --claim 4").exits(6).stdout;
    for part in ["less than those of different directions", "dimension is larger"] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
}

#[test]
fn the_verdict_is_that_of_the_bound_for_any_training() {
    let cosines = cosines(400, 2.0, 2);
    let words = "--design poisson:400";
    let report = run_of(&cosines, &format!("{words} --json")).exits(0).json();
    let (any, gaussian) =
        (number(&report, "/bounds/epsilon"), number(&report, "/epsilon_by_gaussian_curve"));
    assert!(gaussian > any + 0.5, "{gaussian} {any}");
    let between = 0.5 * (any + gaussian);
    run_of(&cosines, &format!("{words} --claim {between}")).exits(0);
    run_of(&cosines, &format!("{words} --claim {}", any - 0.01)).exits(3);
    run_of(&cosines, &format!("{words} --fail-above {}", any - 0.01)).exits(3);
    let shown = run_of(&cosines, words).exits(0).stdout;
    for part in ["user level, add/remove", "refutes no (ε, δ) claim", "without any leak"] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    let zero_out = run_of(&cosines, "--design bernoulli:800:0.5 --json").exits(0).json();
    assert_eq!(text(&zero_out, "/design/adjacency"), "zero-out");
}

#[test]
fn no_leak_is_reported_with_what_could_have_been_seen() {
    let shown = run_of(cosines(300, 0.0, 3), "--claim 8").exits(0).stdout;
    for part in ["no evidence that the canaries took part", "A Gaussian leak of ε ="] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    let arrived = run_of(cosines(300, 0.4, 3), "--claim 8").exits(0).stdout;
    assert!(!arrived.contains("no evidence"), "{arrived}");
    let folder = Folder::new();
    folder.write("cosines.csv", cosines(300, 0.0, 3));
    let words = "audit federated --cosines cosines.csv --dimension 1e5 --delta 0.3";
    let spent = folder.run(words).exits(0).stdout;
    assert!(spent.contains("could have been seen: plan with"), "{spent}");
}

#[test]
fn faults_are_found_and_named_in_the_verdict() {
    let reversed = run_of(cosines(300, -1.0, 4), "--claim 8 --json").exits(6).json();
    assert_eq!(codes(&reversed), ["cosines_reversed"]);
    let quiet = run_of(cosines(300, 30.0, 4), "--json").exits(0).json();
    assert_eq!(codes(&quiet), ["little_noise"]);
    let mut mixed = cosines(300, 0.0, 4);
    mixed.push_str(&cosines(600, 4.0, 5).lines().skip(301).collect::<Vec<_>>().join("\n"));
    assert_eq!(codes(&run_of(mixed, "--json").exits(0).json()), ["unequal_weights"]);

    let folder = Folder::new();
    folder.write("cosines.csv", cosines(300, 3.0, 6));
    folder.write("unseen.csv", cosines(300, 0.0, 7));
    folder.write("shifted.csv", cosines(300, 1.0, 7));
    let sound = folder.run(&format!("{AUDIT} --unseen unseen.csv --claim 1")).exits(3);
    assert!(sound.stdout.contains("REFUTED"));
    let shifted = folder.run(&format!("{AUDIT} --unseen shifted.csv --claim 1 --json")).exits(6);
    assert_eq!(codes(&shifted.json())[0], "unseen_not_uniform");
}

#[test]
fn the_maximum_over_server_rounds_pays_for_them() {
    let cosines = cosines(200, 3.0, 8);
    let epsilon = |words: &str| {
        let report = run_of(&cosines, &format!("{words} --json")).exits(0).json();
        number(&report, "/bounds/epsilon")
    };
    let cost = epsilon("") - epsilon("--attacker all-updates --server-rounds 10");
    assert!((cost - std::f64::consts::LN_10).abs() < 1e-9, "{cost}");
    run_of(&cosines, "--attacker all-updates").exits(2);
    let unseen = "--attacker all-updates --server-rounds 10 --unseen cosines.csv";
    run_of(&cosines, unseen).refuses(2, &["--unseen"]);
    run_of(&cosines, "--server-rounds 3").exits(2);
}

#[test]
fn canaries_without_a_cosine_count() {
    let folder = Folder::new();
    let mut scores = values(100, 2.0, 9);
    scores[3] = f64::NAN;
    folder.write("cosines.npy", npy_f8(&[100], &scores));
    let words = "audit federated --cosines cosines.npy --dimension 1e5 --delta 1e-6 --json";
    let report = folder.run(words).exits(0).json();
    assert_eq!(codes(&report), ["missing_cosines"]);
    assert_eq!(report["bounds"]["independent_gdp_mu"], json!(null));
    let more = folder.run(&format!("{words} --canaries 150")).exits(0).json();
    assert_eq!(number(&more, "/findings/0/data/count"), 51.0);
    assert!(number(&more, "/bounds/epsilon") < number(&report, "/bounds/epsilon"));
}

#[test]
fn no_canary_shows_nothing() {
    let folder = Folder::new();
    let audit = "audit federated --dimension 1e5 --delta 1e-6 --design poisson:2";
    folder.write("cosines.csv", "canary,cosine\n");
    folder.write("cosines.npy", npy_f8(&[0], &[]));
    for file in ["cosines.csv", "cosines.npy"] {
        let words = format!("{audit} --cosines {file} --canaries 0");
        let report = folder.run(&format!("{words} --json")).exits(0).json();
        assert_eq!(number(&report, "/bounds/epsilon"), 0.0);
        assert_eq!(codes(&report), ["no_scores"]);
        let shown = folder.run(&format!("{words} --claim 1")).exits(6).stdout;
        for part in ["no canary took part", "No leak could have been seen", "ε ≥ 0"] {
            assert!(shown.contains(part), "{part}: {shown}");
        }
        // Canaries without a cosine are none that did not take part.
        let shown =
            folder.run(&format!("{audit} --cosines {file} --canaries 3 --claim 1")).exits(6);
        assert!(shown.stdout.contains("none of the 3 canaries has a finite score"), "{shown:?}");
        folder.run(&format!("{audit} --cosines {file}")).refuses(2, &[file, "number is 0"]);
    }
    folder.write("some.csv", cosines(50, 4.0, 3));
    folder
        .run("audit federated --cosines some.csv --dimension 1e5 --delta 1e-6 --unseen cosines.csv")
        .refuses(2, &["cosines.csv", "no cosines"]);
}

#[test]
fn too_large_a_delta_shows_nothing() {
    // 50 canaries with δ of 0.01 each leave 2·δ·50 of 0.05
    let folder = Folder::new();
    folder.write("cosines.csv", cosines(50, 4.0, 3));
    let audit = "audit federated --cosines cosines.csv --dimension 1e5 --design poisson:50";
    let shown = folder.run(&format!("{audit} --delta 0.1")).exits(0).stdout;
    for part in ["all p-values are ignored at this δ", "fewer canaries or a smaller δ"] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    let shown = folder.run(&format!("{audit} --delta 0")).exits(0).stdout;
    assert!(!shown.contains("smaller δ"), "{shown}");
    folder.write("cosines.csv", cosines(50, 0.0, 3));
    let shown = folder.run(&format!("{audit} --delta 0")).exits(0).stdout;
    assert!(shown.contains("At δ = 0 no Gaussian leak has a finite ε"), "{shown}");
    for delta in ["1", "-0.1", "nan"] {
        folder.run(&format!("{audit} --delta {delta}")).refuses(2, &["delta"]);
    }
}

#[test]
fn a_drawing_shows_histogram_and_bounds() {
    let folder = Folder::new();
    folder.write("cosines.csv", cosines(200, 1.5, 1));
    folder.run(&format!("{AUDIT} --claim 30 --plot run.svg")).exits(0);
    let svg = String::from_utf8(folder.read("run.svg")).unwrap();
    for part in ["any training algorithm", "not in: N(0, 1)", "claim ε = 30"] {
        assert!(svg.contains(part), "{part}");
    }
    folder.run(&format!("{AUDIT} --plot run.png")).exits(2);
}

#[test]
fn bad_files_are_refused_with_their_place() {
    for (csv, words, parts) in [
        ("canary,cosine\n0,0.1\n1,1.5\n", "", vec!["row 2", "[-1, 1]", "norms"]),
        (
            "canary,cosine,weight\n0,0.1,2\n",
            "",
            vec!["column weight", "committed", "remove the column"],
        ),
        ("canary,cosine\n0,0.1\n0,0.2\n", "", vec!["canary 0 twice", "keep one row"]),
        (
            "canary,cosine\n0,0.1\n7,0.2\n",
            "",
            vec!["canary 7 in row 2", "number of canaries", "correct the row"],
        ),
        ("canary,cosine\n0,0.1\n0.5,0.2\n", "", vec!["canary 0.5", "must be integers"]),
        ("canary,score\n0,0.1\n", "", vec!["has shape", "columns canary and cosine"]),
        ("0.1\n0.2\n0.3\n", "--canaries 2", vec!["3 cosines"]),
        ("0.1\n0.2\n", "--design poisson:0.5", vec!["--canaries"]),
        (
            "0.1\n0.2\n",
            "--design fixed:9 --canaries 8",
            vec!["--canaries is 8", "fixed number of 9"],
        ),
        ("0.1\n0.2\n", "--design coins", vec!["poisson:MEAN"]),
        ("0.1\n0.2\n", "--design bernoulli:10:1.5", vec!["--design", "between 0 and 1"]),
        ("0.1\n0.2\n", "--claim 1 --claim-adjacency replace", vec!["added canaries only"]),
    ] {
        let shown = run_of(csv, words).exits(2).stderr;
        for part in parts {
            assert!(shown.contains(part), "{csv} {words}: {part}: {shown}");
        }
    }
    let folder = Folder::new();
    folder.write("cosines.csv", "0.1\n");
    let words = "audit federated --cosines cosines.csv --dimension 1";
    assert!(folder.run(words).exits(2).stderr.contains("--dimension"));
    assert!(dpscope("audit federated --dimension 10").exits(2).stderr.contains("--cosines"));
}
