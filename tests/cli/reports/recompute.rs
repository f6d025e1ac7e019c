//! `dpscope recompute`.

use dpscope_report::recompute::recompute;
use serde_json::{Value, json};

use super::commands;
use crate::Folder;
use crate::schemas::inputs;

const COUNTS: &str = "audit counts --false-positives 12 --target-trials 1000 --false-negatives 480 \
                      --zero-out-trials 1000 --claim 9 --fail-above 2";

const ONE_RUN: &str = "audit one-run --canaries 1000 --guesses 100 --correct 95 --claim 2";

/// JSON pointers of all numbers.
fn numbers(value: &Value, pointer: &str, found: &mut Vec<String>) {
    match value {
        Value::Number(_) => found.push(pointer.to_owned()),
        Value::Array(items) => items
            .iter()
            .enumerate()
            .for_each(|(index, item)| numbers(item, &format!("{pointer}/{index}"), found)),
        Value::Object(fields) => fields
            .iter()
            .for_each(|(name, item)| numbers(item, &format!("{pointer}/{name}"), found)),
        _ => {}
    }
}

/// Edits that change a number a little, and much.
fn edits(number: &Value) -> Vec<Value> {
    match number.as_u64() {
        Some(count) => vec![json!(count + 1), json!(3 * count + 7)],
        None => {
            let value = number.as_f64().unwrap();
            vec![json!(value * (1.0 + 1e-9) + 1e-300), json!(2.0 * value + 1.0)]
        }
    }
}

#[test]
fn reports_are_consistent() {
    let folder = inputs();
    for (kind, words) in commands() {
        let report = folder.run(&format!("{words} --json")).json();
        let found = recompute(&report).unwrap();
        assert!(found.differences.is_empty(), "{words}: {:?}", found.differences);
        let has_counts = ["report", "imported", "pategan", "generator"].contains(&kind);
        assert!(!has_counts || found.checked.len() > 4, "{words}");
    }
}

#[test]
fn every_edited_number_is_detected_or_listed_as_open() {
    let folder = inputs();
    let mut undetected: Vec<String> = Vec::new();
    for (_, words) in commands() {
        let report = folder.run(&format!("{words} --json")).json();
        let open = recompute(&report).unwrap().open;
        let mut all = Vec::new();
        numbers(&report, "", &mut all);
        for pointer in all.iter().filter(|it| open.iter().all(|open| open.pointer != **it)) {
            for edit in edits(report.pointer(pointer).unwrap()) {
                let mut edited = report.clone();
                *edited.pointer_mut(pointer).unwrap() = edit.clone();
                let is_undetected = recompute(&edited).is_ok_and(|it| it.differences.is_empty());
                if is_undetected {
                    undetected.push(format!("{words}: {pointer} as {edit}"));
                }
            }
        }
    }
    assert_eq!(undetected, Vec::<String>::new());
}

/// The numbers that no recomputation reaches; a new one needs a reason in `recompute/open.rs`.
#[test]
fn open_numbers_of_counted_reports_are_few() {
    let folder = Folder::new();
    let open = |words: &str| -> Vec<String> {
        let report = folder.run(&format!("{words} --json")).json();
        recompute(&report).unwrap().open.into_iter().map(|open| open.pointer).collect()
    };
    let metrics = open(COUNTS).into_iter().filter(|pointer| !pointer.starts_with("/metrics"));
    let expected = [
        "/claim/epsilon",
        "/elapsed_ms",
        "/fail_above/epsilon",
        "/fallback_shards",
        "/non_finite/target",
        "/non_finite/zero_out",
        "/result/cuts",
    ];
    assert_eq!(metrics.collect::<Vec<_>>(), expected);
    assert_eq!(open(ONE_RUN), ["/claim/epsilon", "/elapsed_ms"]);
}

#[test]
fn the_program_names_what_differs() {
    let folder = Folder::new();
    let report = folder.run(&format!("{COUNTS} --report report.html --json")).exits(3).stdout;
    folder.write("report.json", &report);
    for file in ["report.html", "report.json"] {
        let shown = folder.run(&format!("recompute {file}")).exits(0).stdout;
        assert!(shown.starts_with(&format!("{file} is consistent: ")), "{shown}");
        assert!(shown.contains("not authentic"), "{shown}");
    }
    let page = String::from_utf8(folder.read("report.html")).unwrap();
    folder.write("edited.html", page.replace("positives&quot;: 12,", "positives&quot;: 13,"));
    folder.write(
        "edited.json",
        report.replace("\"false_positives\": 12,", "\"false_positives\": 13,"),
    );
    for file in ["edited.html", "edited.json"] {
        let shown = folder.run(&format!("recompute {file} --brief")).exits(5).stdout;
        assert!(
            shown.contains("INCONSISTENT") && shown.contains("/result/fpr_upper is "),
            "{shown}"
        );
    }
}

#[test]
fn the_document_says_what_was_checked() {
    let folder = Folder::new();
    let report = folder.run("audit pategan --runs 40 --iterations 2 --seed 1 --json").stdout;
    folder.write("report.json", &report);
    let found = folder.run("recompute report.json --json").exits(0).json();
    assert_eq!((&found["outcome"], &found["differences"]), (&json!("consistent"), &json!([])));
    for pointer in ["/epsilon", "/ceiling", "/counts/fpr_upper"] {
        assert!(found["checked"].as_array().unwrap().contains(&json!(pointer)), "{found}");
    }
    let mut edited: Value = serde_json::from_str(&report).unwrap();
    edited["epsilon"] = json!(2.5);
    folder.write("edited.json", edited.to_string());
    let found = folder.run("recompute edited.json --json").exits(5).json();
    assert_eq!(found["outcome"], "inconsistent");
    assert_eq!(found["differences"][0]["pointer"], "/epsilon");
    assert_eq!(found["differences"][0]["stated"], 2.5);
}

#[test]
fn bounds_of_canaries_follow_from_those_that_decide() {
    let folder = Folder::new();
    for design in ["poisson:1000", "bernoulli:2000:0.5", "fixed:900"] {
        let words = format!(
            "audit gaussian --noise-multiplier 1 --dimension 1e6 --delta 1e-6 --seed 1 --design {design}"
        );
        let report = folder.run(&format!("{words} --json")).json();
        assert_eq!(recompute(&report).unwrap().differences, [], "{design}");
        for pointer in [
            "/bounds/epsilon",
            "/bounds/gdp_mu",
            "/bounds/independent_epsilon",
            "/bounds/independent_gdp_mu",
            "/detectable_epsilon",
            "/estimates/0/null_range/1",
            "/estimates/1/null_range/0",
        ] {
            let mut edited = report.clone();
            *edited.pointer_mut(pointer).unwrap() = json!(9.5);
            let differences = recompute(&edited).unwrap().differences;
            assert!(differences.iter().any(|it| it.pointer == pointer), "{design}: {pointer}");
        }
    }
}

#[test]
fn a_report_cannot_make_recomputation_endless() {
    let folder = Folder::new();
    let words = "audit gaussian --noise-multiplier 1 --dimension 1e6 --delta 1e-6 --seed 1 --json";
    let mut report = folder.run(words).json();
    report["design"]["inserted"] = json!(1_000_000_000);
    report["evidence"]["gdp_cut"]["hits"] = json!(900_000_000);
    let open = recompute(&report).unwrap().open;
    assert!(open.iter().any(|it| it.pointer == "/evidence/gdp_cut/hits"), "{open:?}");
    report["evidence"]["gdp_cut"]["hits"] = json!(1_000_000_001);
    assert!(recompute(&report).unwrap_err().to_string().contains("below a cut"));
    report["design"]["inserted"] = json!(1_000_000_000_001_u64);
    report["evidence"]["gdp_cut"]["hits"] = json!(5);
    assert!(recompute(&report).is_err());
}

#[test]
fn damaged_files_and_other_versions_are_named() {
    let folder = Folder::new();
    folder.run(&format!("{COUNTS} --report report.html"));
    let page = folder.read("report.html");
    let json = folder.run(&format!("{COUNTS} --json")).stdout;
    for (name, content, code, part) in [
        ("cut.html", &page[..page.len() / 2], 2, "reports, not one"),
        ("late.html", &page[..page.len() - 200], 2, "truncated"),
        ("cut.json", &json.as_bytes()[..json.len() / 2], 2, "truncated"),
        ("text.txt", b"hello", 2, "neither a page"),
        ("other.json", b"{\"a\": 1}", 2, "not a report of dpscope"),
        ("old.json", b"{\"schema\": \"dpscope.report/1\"}", 5, "dpscope.report/1"),
        ("plan.json", b"{\"schema\": \"dpscope.plan/1\"}", 5, "dpscope.plan/1"),
        ("bare.json", b"{\"schema\": \"dpscope.report/2\"}", 2, "/result/delta is missing"),
    ] {
        folder.write(name, content);
        folder.run(&format!("recompute {name}")).refuses(code, &[name, part]);
    }
    let impossible = json.replace("\"false_negatives\": 480", "\"false_negatives\": 1480");
    folder.write("impossible.json", impossible);
    folder.run("recompute impossible.json").refuses(5, &["impossible"]);
    folder.run("recompute absent.html").refuses(2, &["absent.html"]);
    folder.write("empty.json", "{\"schema\": \"dpscope.pategan/1\"}");
    assert!(folder.run("recompute empty.json").exits(6).stdout.contains("has no counts"));
}
