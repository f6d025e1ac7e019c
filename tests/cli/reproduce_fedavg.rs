//! `dpscope reproduce fedavg-…`.

use dpscope_tests::cli::{number, rows_of};
use serde_json::Value;

use crate::snapshots::assert_shown;
use crate::{Folder, dpscope};

fn report(words: &str) -> Value {
    dpscope(&format!("reproduce {words} --seed 1 --threads 2 --json")).exits(0).json()
}

/// The mean bound of an attack.
fn bound(row: &Value, attacker: &str) -> f64 {
    number(row, &format!("/{attacker}/value"))
}

#[test]
fn more_knowledge_shows_more_and_no_bound_exceeds_what_is_accounted() {
    let folder = Folder::new();
    let ended = folder
        .run("reproduce fedavg-final-vs-all --runs 2 --seed 1 --threads 2 --plot fedavg.svg")
        .exits(0);
    assert_eq!(ended.stderr, "");
    assert_shown("reproduce_fedavg_final_vs_all.txt", &without_figures(&ended.stdout));
    let svg = String::from_utf8(folder.read("fedavg.svg")).unwrap();
    assert_eq!(crate::plots::problem(&svg), None);
    let rows = ended
        .stdout
        .lines()
        .filter(|line| line.starts_with("  σ = ") && !line.contains("bound of"));
    let rows: Vec<Vec<&str>> = rows.map(|row| row.split_whitespace().collect()).collect();
    assert_eq!(rows.len(), 4);
    for row in rows {
        let figure = |place: usize| row[place].parse().unwrap_or(f64::INFINITY);
        let [accounted, known, largest, last] = [4, 5, 8, 14].map(figure);
        assert!(accounted > known && known > largest && known > last, "{row:?}");
    }
}

/// Figures of trainings without noise are those of the machine: its rounding grows from round to round.
fn without_figures(text: &str) -> String {
    let line = |line: &str| {
        let is_continued = line.starts_with("    ") && !line.starts_with("     ");
        let is_of_figures = ["  σ = ", "  lower bound"].iter().any(|start| line.starts_with(start));
        if !is_of_figures && !is_continued {
            return line.to_owned();
        }
        let word = |word: &str| match word.trim_matches(['(', ')', ';']).parse::<f64>() {
            Ok(_) => "#".to_owned(),
            Err(_) => word.to_owned(),
        };
        line.split_whitespace().map(word).collect::<Vec<_>>().join(" ")
    };
    text.lines().map(|text| line(text) + "\n").collect()
}

#[test]
fn canaries_that_take_part_more_often_show_more() {
    let report = report("fedavg-presentations --runs 2");
    let rows = rows_of(&report, "bounds");
    assert_eq!(rows.len(), 4);
    for pair in rows.windows(2) {
        for attacker in ["known_server_rounds", "final_model"] {
            assert!(bound(&pair[0], attacker) < bound(&pair[1], attacker), "{attacker}: {pair:?}");
        }
    }
    for row in rows {
        let known = bound(row, "known_server_rounds");
        assert!(bound(row, "all_updates") < known && known < number(row, "/accounted/epsilon"));
        assert!(bound(row, "final_model") < known);
    }
    // two audits per setting support no claim about a difference
    let differences = rows_of(&report, "differences");
    assert_eq!(differences.len(), 3);
    assert!(differences.iter().all(|one| one["is_beyond_errors"] == false));
}

#[test]
fn canaries_of_ten_trainings_are_one_audit() {
    let report = report("fedavg-one-or-ten-runs --runs 2 --canaries 200");
    let rows = rows_of(&report, "bounds");
    assert_eq!(number(&rows[0], "/trainings_per_audit"), 1.0);
    assert_eq!(number(&rows[1], "/trainings_per_audit"), 10.0);
    for row in rows {
        assert_eq!(number(row, "/canaries"), 200.0);
        let known = bound(row, "known_server_rounds");
        assert!(known > 8.0 && known < number(row, "/accounted/epsilon"), "{known}");
    }
}

#[test]
fn accuracies_and_tests_of_normality_stand_beside_published_ones() {
    let utility = report("fedavg-utility --runs 2");
    let notes = utility["sections"].to_string();
    assert!(notes.contains("by noise: 25.3 and 25.3, 24.0 and 23.9"), "{notes}");
    for row in rows_of(&utility, "accuracies") {
        for place in ["/with_canaries/value", "/without_canaries/value"] {
            assert!((70.0..100.0).contains(&number(row, place)), "{row}");
        }
    }
    let normality = report("fedavg-gaussianity --runs 2");
    // of a largest cosine, no score is normal
    let rows = rows_of(&normality, "normality");
    assert!(rows.len() == 12 && rows.iter().all(|row| row["attacker"] != "all_updates"));
    let sections = normality["sections"].as_array().unwrap();
    let discrepancies = sections.iter().find(|one| one["text"].to_string().contains("definitions"));
    assert_eq!(discrepancies.unwrap()["notes"].as_array().unwrap().len(), 1);
}

#[test]
fn options_without_effect_and_sizes_out_of_range_are_refused() {
    for (words, parts) in [
        ("fedavg-utility --runs 1", &["--runs is 1", "from 2 to 1000"][..]),
        ("fedavg-utility --canaries 5", &["--canaries is 5", "from 20"]),
        ("fedavg-utility --plot a.svg", &["--plot", "no effect", "small table"]),
        ("fedavg-final-vs-all --device gpu", &["--device", "no effect"]),
        ("fedavg-final-vs-all --metasteps 3", &["--metasteps", "no effect"]),
        ("fedavg-final-vs-all --data missing.npz", &["missing.npz"]),
    ] {
        dpscope(&format!("reproduce {words} --seed 1")).refuses(2, parts);
    }
}
