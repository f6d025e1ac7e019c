//! `dpscope reproduce pategan`.

use dpscope_tests::cli::{number, text};
use serde_json::Value;

use crate::{Folder, dpscope};

/// With small uncertainty: the fault of the audit is seen in all, a leak in those that have one.
const WORDS: &str = "reproduce pategan --runs 400 --seed 3";

fn implementation<'a>(report: &'a Value, name: &str) -> &'a Value {
    let all = report["implementations"].as_array().unwrap();
    all.iter().find(|one| text(one, "/name") == name).unwrap()
}

#[test]
fn the_published_audit_finds_its_own_fault() {
    let report = dpscope(&format!("{WORDS} --json")).exits(0).json();
    let accounted = number(&report, "/accounted_epsilon");
    assert_eq!(report["implementations"].as_array().unwrap().len(), 7);
    for one in report["implementations"].as_array().unwrap() {
        assert!(number(one, "/with_harness_fault/epsilon") > accounted, "{one:#}");
        assert!(number(one, "/with_harness_fault/auc/value") > 0.8, "{one:#}");
    }
    // with a public number of rows
    let leak = |name: &str| number(implementation(&report, name), "/without_harness_fault/epsilon");
    for name in ["faithful", "smartnoise", "turing"] {
        assert!(leak(name) <= accounted, "{name}");
    }
    for name in ["original", "synthcity"] {
        assert!(leak(name) > 1.0, "{name}");
    }
    let detectors =
        |name: &str| implementation(&report, name)["detectors"].as_array().unwrap().len();
    assert_eq!(detectors("faithful"), 0);
    for name in ["original", "updated", "synthcity", "turing", "borealis", "smartnoise"] {
        assert!(detectors(name) > 0, "{name}");
    }
    let rows = |name: &str| {
        let [fewest, most] = [0, 1]
            .map(|end| number(implementation(&report, name), &format!("/teacher_rows/{end}")));
        (fewest, most)
    };
    assert_eq!(rows("turing"), (686.0, 686.0));
    let (fewest, most) = rows("faithful");
    assert!(fewest > 100.0 && most < 180.0 && fewest < most);
    let (fewest, most) = rows("updated");
    assert!(fewest == most && most < 180.0);
    assert!(rows("synthcity").0 > 600.0);
}

#[test]
fn tables_and_drawing_are_of_the_same_runs() {
    let folder = Folder::new();
    let shown = folder.run(&format!("{WORDS} --plot pategan.svg --threads 1")).exits(0).stdout;
    assert_eq!(shown, folder.run(&format!("{WORDS} --threads 2")).exits(0).stdout);
    for part in
        ["smartnoise", "a fault of the published audit itself", "3 to 2", "not for publication"]
    {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    let drawing = String::from_utf8(folder.read("pategan.svg")).unwrap();
    assert!(drawing.contains("2 of 7 show more than is accounted for"), "{drawing}");
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
