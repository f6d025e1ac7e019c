//! `dpscope reproduce one-shot-table-2`.

use dpscope_tests::cli::{number, rows_of, text};

use crate::snapshots::assert_shown;
use crate::{Folder, dpscope};

use serde_json::Value;

const WORDS: &str = "reproduce one-shot-table-2 --runs 300 --seed 1";

/// Means by another program, in the order of the rows: (fitted, known).
const EXPECTED: [(f64, f64); 12] = [
    (12.16, 9.823),
    (11.14, 9.919),
    (10.61, 9.980),
    (10.34, 9.989),
    (4.579, 2.980),
    (3.816, 2.994),
    (3.445, 2.998),
    (3.250, 2.998),
    (2.298, 1.002),
    (1.701, 0.997),
    (1.368, 0.999),
    (1.200, 1.002),
];

/// Difference of the means of 300 runs here, and 800 or more there, in standard errors.
fn errors(row: &Value, name: &str, expected: f64) -> f64 {
    let [mean, sd] = ["mean", "sd"].map(|moment| number(row, &format!("/{name}/{moment}")));
    (mean - expected).abs() / (sd * (1.0 / 300.0 + 1.0 / 800.0_f64).sqrt())
}

#[test]
fn published_means_are_those_of_a_known_standard_deviation() {
    let report = dpscope(&format!("{WORDS} --json")).exits(0).json();
    let rows = rows_of(&report, "settings");
    assert_eq!(rows.len(), 12);
    for (row, (fitted, known)) in rows.iter().zip(EXPECTED) {
        for (name, expected) in [("fitted_sd", fitted), ("known_sd", known)] {
            assert!(errors(row, name, expected) < 4.0, "{name} {row:#}");
        }
        assert_eq!(row["fitted_sd"]["is_mismatch"], true, "{row:#}");
        assert_eq!(row["known_sd"]["is_mismatch"], false, "{row:#}");
    }
    let discrepancies = report["sections"].as_array().and_then(|sections| sections.last()).unwrap();
    assert_eq!(discrepancies["notes"].as_array().map(Vec::len), Some(4));
    assert!(text(discrepancies, "/notes/0/text").contains("% of runs show as much"));
    let shown = dpscope(WORDS).exits(0).stdout;
    for part in ["9.89 ± 0.71", "Table 7", "upward bias"] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
}

#[test]
fn every_coordinate_drawn_has_the_same_means() {
    let words = "reproduce one-shot-table-2 --full --largest-dimension 1e4 --runs 300 --seed 2";
    let report = dpscope(&format!("{words} --json --device cpu")).exits(0).json();
    let rows = rows_of(&report, "settings");
    assert_eq!(rows.len(), 3);
    assert!(text(&report, "/facts/full_dimension_device").starts_with("cpu"));
    for (row, by_dimension) in rows.iter().zip(EXPECTED.chunks(4)) {
        let (fitted, known) = by_dimension[0];
        assert!(errors(row, "fitted_sd", fitted) < 4.0, "{row:#}");
        assert!(errors(row, "known_sd", known) < 4.0, "{row:#}");
        // broken: as many canaries as in the next dimension
        assert!(errors(row, "fitted_sd", by_dimension[1].0) > 4.0, "{row:#}");
        assert_eq!(row["fitted_sd"]["is_mismatch"], true, "{row:#}");
        assert_eq!(row["known_sd"]["is_mismatch"], false, "{row:#}");
    }
    let shown = dpscope(&format!("{words} --device cpu")).exits(0).stdout;
    assert!(shown.contains("every coordinate of directions, noise and sum"), "{shown}");
}

#[test]
fn draws_of_a_setting_depend_on_nothing_else() {
    let rows = |options: &str| {
        let words = "reproduce one-shot-table-2 --full --runs 2 --seed 3 --json --device cpu";
        let report = dpscope(&format!("{words} {options}")).exits(0).json();
        rows_of(&report, "settings").to_vec()
    };
    let (few, all) = (rows("--largest-dimension 1e4 --threads 1"), rows(""));
    assert_eq!([few.len(), all.len()], [3, 6]);
    let shared: Vec<&Value> = all.iter().filter(|row| row["dimension"] == 10_000).collect();
    assert_eq!(few.iter().collect::<Vec<_>>(), shared);
    let by_distribution = dpscope("reproduce one-shot-table-2 --runs 2 --seed 3 --json").exits(0);
    assert_ne!(rows_of(&by_distribution.json(), "settings")[0], few[0]);
}

#[test]
fn estimates_are_drawn_beside_those_without_any_leak() {
    let folder = Folder::new();
    let words = "reproduce one-shot-table-2 --runs 20 --seed 1 --json --plot table.svg";
    let report = folder.run(words).exits(0).json();
    let nulls = rows_of(&report, "null_estimates");
    assert_eq!(nulls.len(), 4);
    // by another program at δ = 8.2e-7: 0.08 to 0.95, and 0 to 0.20
    assert_eq!(nulls[2]["canaries"], 1_000);
    let [fitted, known] = ["fitted_sd", "known_sd"]
        .map(|name| [0, 1].map(|end| number(&nulls[2], &format!("/{name}/{end}"))));
    assert!((fitted[0] - 0.08).abs() < 0.01 && (fitted[1] - 0.93).abs() < 0.03, "{fitted:?}");
    assert!(known[0] == 0.0 && (known[1] - 0.20).abs() < 0.01, "{known:?}");
    let svg = String::from_utf8(folder.read("table.svg")).unwrap();
    assert_eq!(crate::plots::problem(&svg), None);
    assert_shown("reproduce_one_shot_table_2.svg", &svg);
}

#[test]
fn options_of_other_experiments_are_refused() {
    for (options, part) in [
        ("--runs 1", "--runs is 1"),
        ("--delta 1e-5", "--delta"),
        ("--plot a.png", "must end in .svg"),
        ("--device gpu", "without --full"),
        ("--full --float-mode fast", "--float-mode"),
        ("--full --largest-dimension 9999", "--largest-dimension is 9999; the smallest"),
        ("--largest-dimension 1e5", "--full"),
    ] {
        dpscope(&format!("reproduce one-shot-table-2 {options}")).refuses(2, &[part]);
    }
    dpscope("reproduce figure-3 --full").refuses(2, &["--full", "no effect", "one-shot-table-2"]);
}
