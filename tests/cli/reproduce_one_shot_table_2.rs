//! `dpscope reproduce one-shot-table-2`.

use dpscope_tests::cli::{number, text};

use crate::dpscope;

const WORDS: &str = "reproduce one-shot-table-2 --runs 300 --seed 1";

#[test]
fn published_means_are_those_of_a_known_standard_deviation() {
    let report = dpscope(&format!("{WORDS} --json")).exits(0).json();
    let rows = report["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 12);
    // by another program, in the order of the rows: (fitted, known)
    let expected = [
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
    for (row, (fitted, known)) in rows.iter().zip(expected) {
        for (name, expected) in [("fitted_sd", fitted), ("known_sd", known)] {
            let (mean, sd) =
                (number(row, &format!("/{name}/mean")), number(row, &format!("/{name}/sd")));
            // 300 runs here, 800 or more there
            assert!((mean - expected).abs() < 4.5 * sd / 300f64.sqrt(), "{name} {row:#}");
        }
        assert_eq!(row["fitted_sd"]["is_mismatch"], true, "{row:#}");
        assert_eq!(row["known_sd"]["is_mismatch"], false, "{row:#}");
    }
    let discrepancies = report["discrepancies"].as_array().unwrap();
    assert_eq!(discrepancies.len(), 4);
    assert!(text(&discrepancies[0], "/computed").contains("% of runs show as much"));
    let shown = dpscope(WORDS).exits(0).stdout;
    for part in ["9.89 ± 0.71", "Table 7", "upward bias"] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
}

#[test]
fn options_of_other_experiments_are_refused() {
    for (options, part) in
        [("--runs 1", "--runs is 1"), ("--delta 1e-5", "--delta"), ("--plot a.svg", "--plot")]
    {
        dpscope(&format!("reproduce one-shot-table-2 {options}")).refuses(2, &[part]);
    }
}
