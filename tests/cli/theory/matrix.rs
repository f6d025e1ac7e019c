//! `bound matrix` and `calibrate matrix`: correlated noise.

use dpscope_tests::cli::number;
use serde_json::Value;

use super::json;
use crate::{Folder, dpscope};

/// A number of the only strategy.
fn only(document: &Value, name: &str) -> f64 {
    number(document, &format!("/strategies/0/value/{name}"))
}

#[test]
fn independent_noise_is_that_of_deterministic_batches() {
    let matrix = json(
        "bound matrix --strategy identity --steps 400 --participation epochs:4 --noise-multiplier 2",
    );
    let batches =
        json("bound deterministic --side upper --noise-multiplier 2 --steps 100 --epochs 4");
    let expected = number(&batches, "/epsilon");
    assert!((only(&matrix, "epsilon") / expected - 1.0).abs() < 1e-11);
    assert!((only(&matrix, "gdp_mu") - 1.0).abs() < 1e-12);
    assert_eq!(matrix["strategies"][0]["value"]["is_exact"], true);
}

#[test]
fn worst_and_last_participants_are_apart() {
    let words = "bound matrix --strategy tree --steps 16 --participation single \
                 --noise-multiplier 2 --participant-steps 16";
    let document = json(words);
    assert!((only(&document, "gdp_mu") - 5.0_f64.sqrt() / 2.0).abs() < 1e-12);
    assert!((only(&document, "last/gdp_mu") - 0.5).abs() < 1e-12);
    assert!((only(&document, "participant/gdp_mu") - 0.5).abs() < 1e-12);
    let text = dpscope(words).exits(0).stdout;
    assert!(text.starts_with("ε ≤ 4.9834 at δ") && text.contains("tree aggregation"), "{text}");
    assert!(text.contains("whose steps are the latest"), "{text}");
}

#[test]
fn strategies_are_compared_at_one_epsilon() {
    let words = "calibrate matrix --epsilon 4 --strategy all --steps 500 --participation epochs:10";
    let document = json(words);
    let rows = document["strategies"].as_array().unwrap();
    let names: Vec<&str> = rows.iter().filter_map(|row| row["strategy"].as_str()).collect();
    let expected = ["identity", "tree", "banded-square-root", "banded-optimised", "blt"];
    assert_eq!(names, expected);
    let error = |name: &str| {
        let row = rows.iter().find(|row| row["strategy"] == name).unwrap();
        let epsilon = number(row, "/value/epsilon");
        assert!(epsilon <= 4.0 && epsilon > 4.0 - 1e-4, "{row}");
        assert!(number(row, "/value/last/epsilon") < 4.0 || name == "identity", "{row}");
        number(row, "/value/mean_error")
    };
    assert!(error("banded-optimised") < error("banded-square-root"));
    assert!(error("blt") < error("tree") && error("banded-square-root") < error("identity"));
    let text = dpscope(words).exits(0).stdout;
    assert!(expected.iter().all(|name| text.contains(name)), "{text}");
    // few digits, as they are printed
    let printed = |row: &Value| row["value"]["noise_multiplier"].to_string();
    assert!(rows.iter().all(|row| printed(row).len() <= 8), "{rows:?}");
    // the same noise bounds the target
    let row = rows.last().unwrap();
    let sigma = number(row, "/value/noise_multiplier");
    let back = json(&format!(
        "bound matrix --strategy blt --steps 500 --participation epochs:10 --noise-multiplier {sigma}"
    ));
    assert_eq!(only(&back, "epsilon"), number(row, "/value/epsilon"));
}

#[test]
fn strategies_without_a_value_have_a_reason() {
    let words = "calibrate matrix --epsilon 4 --strategy all --steps 64 \
                 --participation cyclic-poisson:8,0.05";
    let document = json(words);
    let rows = document["strategies"].as_array().unwrap();
    let [tree, banded] = ["tree", "banded-optimised"]
        .map(|name| rows.iter().find(|row| row["strategy"] == name).unwrap());
    assert!(tree["reason"].as_str().unwrap().contains("overlap"), "{tree}");
    assert!(number(banded, "/value/epsilon") <= 4.0);
    let text = dpscope(words).exits(0).stdout;
    assert!(text.contains("missing") && text.contains("overlap"), "{text}");
    let alone = "bound matrix --strategy tree --steps 64 --participation cyclic-poisson:8,0.05 \
                 --noise-multiplier 1";
    dpscope(alone).refuses(2, &["--participation: groups is 8", "overlap"]);
}

#[test]
fn sampled_steps_are_those_of_poisson_sampling() {
    let matrix = json(
        "bound matrix --strategy banded-square-root --bands 8 --steps 800 \
         --participation cyclic-poisson:8,0.05 --noise-multiplier 1",
    );
    let poisson = json("bound poisson --noise-multiplier 1 --steps 100 --sampling-rate 0.05");
    let expected = number(&poisson, "/epsilon");
    assert!((only(&matrix, "epsilon") / expected - 1.0).abs() < 1e-3);
    // without sampling
    let all = json(
        "bound matrix --strategy banded-square-root --bands 8 --steps 800 \
         --participation min-separation:8 --noise-multiplier 1",
    );
    assert!(only(&all, "epsilon") > 10.0 * expected);
}

#[test]
fn a_file_is_the_strategy_that_it_contains() {
    let folder = Folder::new();
    let rows: Vec<String> = (0..12)
        .map(|row| {
            let entry = |column: usize| match row {
                row if row == column => "0.8",
                row if row == column + 1 => "0.6",
                _ => "0",
            };
            (0..12).map(entry).collect::<Vec<_>>().join(",")
        })
        .collect();
    folder.write("strategy.csv", rows.join("\n"));
    let words = "bound matrix --strategy-file strategy.csv --participation min-separation:3,2 \
                 --noise-multiplier 1 --json";
    let document = folder.run(words).exits(0).json();
    assert!((only(&document, "gdp_mu") - 2.0_f64.sqrt()).abs() < 1e-12);
    assert_eq!(document["strategies"][0]["bands"], 2);
    assert_eq!(document["steps"], 12);
    for (content, parts) in [
        ("1,0\n0.5,0\n", &["row 2, column 2", "singular"][..]),
        ("1,0.5\n0,1\n", &["row 1, column 2", "lower triangular"]),
        ("1,0\nnan,1\n", &["row 2, column 1"]),
        ("1,0,0\n1,1,0\n", &["2 × 3", "square matrix"]),
        ("1\n2\n", &["square matrix"]),
        ("", &["strategy.csv"]),
    ] {
        folder.write("strategy.csv", content);
        let parts: Vec<&str> = ["strategy.csv"].iter().chain(parts).copied().collect();
        folder.run(words).refuses(2, &parts);
    }
    let large = vec![vec!["0"; 2501].join(","); 2501].join("\n");
    folder.write("strategy.csv", large);
    folder.run(words).refuses(2, &["strategy.csv", "2501", "1 to 2500 rows"]);
    folder.run(&words.replace("strategy.csv", "missing.csv")).refuses(2, &["missing.csv"]);
}

#[test]
fn options_outside_their_domain_are_rejected() {
    let tree = "--strategy tree --noise-multiplier 1";
    let root = "--strategy banded-square-root --noise-multiplier 1";
    let blt = "--strategy blt --noise-multiplier 1";
    for (words, parts) in [
        (format!("{tree} --steps 0 --participation single"), &["--steps", "1 to 10^6"][..]),
        (format!("{tree} --steps 2e6 --participation single"), &["--steps"]),
        (format!("{tree} --steps=-1 --participation single"), &["-1"]),
        (format!("{tree} --steps 10"), &["--participation"]),
        (format!("{tree} --participation single"), &["--steps"]),
        (format!("{tree} --steps 10 --participation twice"), &["min-separation:B"]),
        (format!("{tree} --steps 10 --participation epochs:3"), &["--participation: epochs is 3"]),
        (
            format!("{tree} --steps 10 --participation min-separation:11"),
            &["separation is 11", "number of steps"],
        ),
        (format!("{tree} --steps 10 --participation min-separation:5,3"), &["participations is 3"]),
        (
            format!("{tree} --steps 10 --participation cyclic-poisson:2,1.5"),
            &["sampling rate is 1.5"],
        ),
        (format!("{tree} --steps 100000 --participation min-separation:10"), &["--steps", "fewer"]),
        (format!("{tree} --steps 10 --participation single --bands 3"), &["--bands", "no effect"]),
        (format!("{tree} --steps 10 --participation single --delta 0"), &["--delta", "above 0"]),
        (
            format!("{tree} --steps 10 --participation single --participant-steps 0"),
            &["step 0", "counted from 1 to 10"],
        ),
        (
            format!("{tree} --steps 10 --participation single --participant-steps 1,2"),
            &["no participant of --participation"],
        ),
        (format!("{root} --steps 10 --participation single --bands 11"), &["--bands is 11"]),
        (format!("{root} --steps 10 --participation single --bands 0"), &["--bands is 0"]),
        (format!("{blt} --steps 10 --participation single --buffers 9"), &["--buffers is 9"]),
        (
            format!("{blt} --steps 10 --participation single --buffer-decay 1 --output-scale 0.1"),
            &["--buffer-decay is 1", "[0, 1)"],
        ),
        (
            format!("{blt} --steps 10 --participation single --buffer-decay 0.5 --output-scale=-1"),
            &["--output-scale is -1"],
        ),
        (
            format!(
                "{blt} --steps 10 --participation single --buffer-decay 0.5,0.6 --output-scale 0.1"
            ),
            &["--output-scale is 1", "as many"],
        ),
        (
            format!("{blt} --steps 10 --participation single --buffer-decay 0.5"),
            &["--output-scale"],
        ),
        (
            "--strategy tree --steps 10 --participation single --noise-multiplier 0".to_owned(),
            &["--noise-multiplier is 0"],
        ),
        (
            "--strategy tree --steps 10 --participation single --noise-multiplier nan".to_owned(),
            &["--noise-multiplier"],
        ),
    ] {
        dpscope(&format!("bound matrix {words}")).refuses(2, parts);
    }
    let calibrate = "calibrate matrix --strategy identity --steps 10 --participation single";
    for epsilon in ["0", "-1", "inf", "nan"] {
        dpscope(&format!("{calibrate} --epsilon={epsilon}")).refuses(2, &["--epsilon"]);
    }
}
