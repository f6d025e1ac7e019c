//! `dpscope reproduce pategan`.

use dpscope_tests::cli::{number, rows_of, text};
use serde_json::Value;

use crate::{Folder, dpscope};

/// With small uncertainty: the fault of the audit is seen in all, a leak in those that have one.
const WORDS: &str = "reproduce pategan --runs 400 --average-runs 0 --seed 3";

/// Too few runs for more than the form of the report.
const AVERAGE: &str = "reproduce pategan --runs 40 --average-runs 40 --utility 2 --seed 3";

fn implementation<'a>(report: &'a Value, name: &str) -> &'a Value {
    rows_of(report, "worst").iter().find(|one| text(one, "/name") == name).unwrap()
}

#[test]
fn the_published_audit_finds_its_own_fault() {
    let folder = Folder::new();
    let report = folder.run(&format!("{WORDS} --json --plot pategan.svg")).exits(0).json();
    let accounted = number(&report, "/facts/accounted_epsilon");
    assert_eq!(rows_of(&report, "worst").len(), 7);
    for one in rows_of(&report, "worst") {
        assert!(number(one, "/with_harness_fault") > accounted, "{one:#}");
        assert!(number(one, "/with_harness_fault_auc/value") > 0.8, "{one:#}");
    }
    // with a public number of rows
    let worst = |name: &str| implementation(&report, name);
    let leak = |name: &str| number(worst(name), "/without_harness_fault");
    for name in ["faithful", "smartnoise", "turing"] {
        assert!(leak(name) <= accounted, "{name}");
    }
    for name in ["original", "synthcity"] {
        assert!(leak(name) > 1.0, "{name}");
    }
    let detectors = |name: &str| worst(name)["detectors"].as_array().unwrap().len();
    assert_eq!(detectors("faithful"), 0);
    for name in ["original", "updated", "synthcity", "turing", "borealis", "smartnoise"] {
        assert!(detectors(name) > 0, "{name}");
    }
    let rows = |name: &str| {
        let row = worst(name);
        (number(row, "/fewest_teacher_rows"), number(row, "/most_teacher_rows"))
    };
    assert_eq!(rows("turing"), (686.0, 686.0));
    let (fewest, most) = rows("faithful");
    assert!(fewest > 100.0 && most < 180.0 && fewest < most);
    let (fewest, most) = rows("updated");
    assert!(fewest == most && most < 180.0);
    assert!(rows("synthcity").0 > 600.0);
    let drawing = String::from_utf8(folder.read("pategan.svg")).unwrap();
    assert!(
        drawing.contains("2 of 7 show more than is accounted for in the worst case"),
        "{drawing}"
    );
}

#[test]
fn tables_do_not_depend_on_threads() {
    let words = "reproduce pategan --runs 40 --average-runs 0 --seed 3";
    let shown = dpscope(&format!("{words} --threads 1")).exits(0).stdout;
    assert_eq!(shown, dpscope(&format!("{words} --threads 2")).exits(0).stdout);
    for part in
        ["smartnoise", "a fault of the published audit itself", "3 to 2", "not for publication"]
    {
        assert!(shown.contains(part), "{part}: {shown}");
    }
}

#[test]
fn the_average_case_stands_beside_published_figures_and_utility() {
    let folder = Folder::new();
    let report = folder.run(&format!("{AVERAGE} --json --plot pategan.svg")).exits(0).json();
    let average = &report["facts"]["average"];
    assert!(average["data"].is_null(), "{average:#}");
    let size =
        ["rows", "columns", "runs", "tested_rows"].map(|name| number(average, &format!("/{name}")));
    assert_eq!(size, [686.0, 29.0, 20.0, 138.0]);
    let all = rows_of(&report, "average");
    // the real rows stand last
    assert_eq!((all.len(), number(&all[1], "/published")), (8, 3.43));
    // too few runs for more than nothing
    let accounted = number(average, "/accounted_epsilon");
    assert!(number(&all[0], "/without_harness_fault") <= accounted, "{:#}", all[0]);
    // scaled rows, as many as the data have
    assert!(number(&all[2], "/with_harness_fault") > accounted, "{:#}", all[2]);
    assert!(number(average, "/real/auroc/mean") > 0.7);
    let drawing = String::from_utf8(folder.read("pategan.svg")).unwrap();
    assert!(drawing.contains("average case, 686 rows of our own distribution"), "{drawing}");
}

#[test]
fn the_average_case_takes_a_table_of_the_user() {
    let folder = Folder::new();
    let columns = "[[columns]]\nname = \"x\"\nkind = \"integer\"\nlow = 0\nhigh = 9\n\n\
                   [[columns]]\nname = \"c\"\nkind = \"category\"\nnames = [\"a\", \"b\"]\n";
    folder.write("columns.toml", columns);
    let row = |at: usize| format!("{},{}\n", at % 10, if at % 10 > 6 { "b" } else { "a" });
    folder.write("data.csv", format!("x,c\n{}", (0..60).map(row).collect::<String>()));
    let own = format!("{AVERAGE} --data data.csv");
    let words = format!("{own} --columns columns.toml --label c --rows 30 --json");
    let report = folder.run(&words).exits(0).json();
    let average = &report["facts"]["average"];
    assert_eq!((&average["data"], &average["label"]), (&"data.csv".into(), &"c".into()));
    assert_eq!(number(average, "/released_rows"), 30.0);
    let shown = folder.run(words.trim_end_matches(" --json")).exits(0).stdout;
    for part in ["on data.csv: 60 rows", "(real rows)", "third-party", "0.5 by guessing"] {
        assert!(
            shown.split_whitespace().collect::<Vec<_>>().join(" ").contains(part),
            "{part}: {shown}"
        );
    }
    folder.run(&own).refuses(2, &["--columns", "--rows"]);
    folder.run(&format!("{own} --columns columns.toml --label x --rows 9")).refuses(2, &["x"]);
    folder.run("reproduce pategan --average-runs 39").refuses(2, &["--average-runs is 39"]);
    folder
        .run("reproduce figure-3 --average-runs 40")
        .refuses(2, &["--average-runs has no effect"]);
    folder.write("data.csv", "x,c\n1,a\n12,b\n");
    let refused = format!("{own} --columns columns.toml --label c --rows 9");
    folder.run(&refused).refuses(2, &["data.csv", "12"]);
}

#[test]
fn options_of_other_experiments_are_refused() {
    for (options, named) in [
        ("--runs 39", "--runs is 39; it must be from 40"),
        ("--canaries 10", "--canaries has no effect"),
        ("--observations 100", "--observations has no effect"),
    ] {
        let refused = dpscope(&format!("reproduce pategan {options}")).exits(2);
        assert!(refused.stderr.contains(named), "{options}: {}", refused.stderr);
    }
}
