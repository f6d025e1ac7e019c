//! `dpscope recompute`.

use std::collections::BTreeSet;

use dpscope_report::document::Hints;
use dpscope_report::html::compare_page;
use dpscope_report::recomputed;
use serde_json::{Value, json};

use super::documents;
use crate::Folder;
use crate::schemas::Document;

pub(super) const COUNTS: &str = "audit counts --false-positives 12 --target-trials 1000 --false-negatives 480 \
                      --zero-out-trials 1000 --claim 9 --fail-above 2";

pub(super) const ONE_RUN: &str =
    "audit one-run --canaries 1000 --guesses 100 --correct 95 --claim 2";

/// JSON pointers of numbers, texts and flags: all, but of a list only the first two elements, the second of
/// which stands for those after it, and each that is the first with its name.
fn leaves(value: &Value, pointer: &str, found: &mut Vec<String>) {
    match value {
        Value::Array(items) => {
            let mut seen = BTreeSet::new();
            for (index, item) in items.iter().enumerate() {
                let name = ["code", "name", "kind", "label"].iter().find_map(|key| item.get(key));
                let is_new = name.is_some_and(|name| seen.insert(name.to_string()));
                if is_new || index < 2 {
                    leaves(item, &format!("{pointer}/{index}"), found);
                }
            }
        }
        Value::Object(fields) => {
            for (name, item) in fields {
                leaves(item, &format!("{pointer}/{name}"), found);
            }
        }
        Value::Null => {}
        _ => found.push(pointer.to_owned()),
    }
}

/// Edits that change a number a little, and much; another text; the other flag.
fn edits(value: &Value) -> Vec<Value> {
    match (value, value.as_u64()) {
        (Value::Bool(flag), _) => vec![json!(!flag)],
        (Value::String(text), _) => vec![json!(format!("{text} edited")), json!("refuted?")],
        (_, Some(count)) => vec![json!(count + 1), json!(3 * count + 7)],
        (_, None) => {
            let value = value.as_f64().unwrap();
            vec![json!(value * (1.0 + 1e-9) + 1e-300), json!(2.0 * value + 1.0)]
        }
    }
}

/// Whether an edit leaves a report that is refused or inconsistent.
fn is_detected(report: &Value, pointer: &str, edit: &Value) -> bool {
    let mut edited = report.clone();
    *edited.pointer_mut(pointer).unwrap() = edit.clone();
    recomputed(&edited).map_or(true, |found| !found.differences.is_empty())
}

#[test]
fn reports_are_consistent() {
    for Document { kind, words, json, .. } in documents() {
        let found = recomputed(json).unwrap();
        assert!(found.differences.is_empty(), "{words}: {:?}", found.differences);
        let has_counts = ["report", "imported", "pategan", "generator"].contains(kind);
        assert!(!has_counts || found.checked.len() > 4, "{words}");
    }
}

#[test]
fn every_edit_is_detected_or_listed_as_open() {
    let mut undetected: Vec<String> = Vec::new();
    for Document { words, json: report, .. } in documents() {
        let open = recomputed(report).unwrap().open;
        let mut all = Vec::new();
        leaves(report, "", &mut all);
        for pointer in all.iter().filter(|it| open.iter().all(|open| open.pointer != **it)) {
            for edit in edits(report.pointer(pointer).unwrap()) {
                if !is_detected(report, pointer, &edit) {
                    undetected.push(format!("{words}: {pointer} as {edit}"));
                }
            }
        }
    }
    assert_eq!(undetected, Vec::<String>::new());
}

#[test]
fn no_number_of_a_report_is_a_panic() {
    let edits = [json!(0), json!(1e308), json!(-1), json!(u64::MAX), json!(0.3)];
    let page = "<p>No drawing: x</p>\n<p>Command:</p>\n<pre><code>x</code></pre>";
    let hints = Hints { accountant: "", output_scale: "", seed: "" };
    let mut seen = BTreeSet::new();
    for Document { kind, json: report, .. } in documents() {
        let mut all = Vec::new();
        leaves(report, "", &mut all);
        // A field is read by the same code in every report of a kind: one of them stands for all.
        let is_new = |it: &&String| seen.insert((kind, it.replace(|c: char| c.is_numeric(), "")));
        let numbers = all.iter().filter(|it| report.pointer(it).is_some_and(Value::is_number));
        for pointer in numbers.filter(is_new) {
            for edit in &edits {
                let mut edited = report.clone();
                *edited.pointer_mut(pointer).unwrap() = edit.clone();
                let is_printed = [&json!(0), &json!(u64::MAX)].contains(&edit);
                if let (Ok(mut found), true) = (recomputed(&edited), is_printed) {
                    compare_page(&mut found, page, &edited.to_string(), &edited, hints);
                }
            }
        }
    }
}

/// Verdicts that a forger would write.
fn other_verdicts(stated: &Value) -> Vec<Value> {
    let verdicts = [
        ("refuted", "bound_exceeds_claim"),
        ("refuted", "proven_lower_bound"),
        ("refuted", "no_noise"),
        ("not-refuted", "bound_within_claim"),
        ("not-refuted", "coverage_lost"),
        ("not-refuted", "unheard_of"),
        ("inconclusive", "estimate_only"),
        ("inconclusive", "coverage_lost"),
        ("inconclusive", "attack_mismatch"),
    ];
    let all: Vec<Value> = match stated {
        Value::String(_) => {
            ["refuted", "not-refuted", "inconclusive", "holds-as-described"].map(Value::from).into()
        }
        _ => verdicts
            .iter()
            .map(|(outcome, reason)| json!({ "outcome": outcome, "reason": reason }))
            .collect(),
    };
    all.into_iter().filter(|verdict| verdict != stated).collect()
}

#[test]
fn forged_verdicts_and_headlines_are_refused() {
    let folder = Folder::new();
    let more = [
        format!("{ONE_RUN} --fail-above 1"),
        format!("{ONE_RUN} --pairs"),
        format!("{ONE_RUN} --noise-multiplier 9 --steps 20 --fail-above 3"),
        format!("{COUNTS} --noise-multiplier 1 --steps 10"),
        "compare --noise-multiplier 1 --steps 100 --claim 0.5".to_owned(),
    ];
    let more = more.map(|words| (folder.run(&format!("{words} --json")).json(), words));
    let all = documents().map(|document| (document.json.clone(), document.words.clone()));
    let mut accepted = Vec::new();
    for (report, words) in all.chain(more) {
        assert_eq!(recomputed(&report).unwrap().differences, [], "{words}");
        let verdicts =
            ["/verdict", "/claim/verdict", "/fail_above/verdict", "/claimed_training/test/verdict"];
        for pointer in verdicts {
            let Some(stated) = report.pointer(pointer).filter(|it| !it.is_null()) else { continue };
            for forged in other_verdicts(stated) {
                if !is_detected(&report, pointer, &forged) {
                    accepted.push(format!("{words}: {pointer} as {forged}"));
                }
            }
        }
        let has_bound = report.get("indicative").is_none();
        if report.get("headline").is_some() && has_bound {
            let forged = json!("ε ≥ 0.1000 at δ = 1e-5, with 95 % confidence");
            if !is_detected(&report, "/headline", &forged) {
                accepted.push(format!("{words}: /headline"));
            }
        }
    }
    assert_eq!(accepted, Vec::<String>::new());
}

#[test]
fn forged_tests_of_claimed_trainings_are_refused() {
    let folder = Folder::new();
    let words = format!("{ONE_RUN} --noise-multiplier 9 --steps 20 --json");
    let report = folder.run(&words).json();
    assert_eq!(recomputed(&report).unwrap().differences, []);
    for (pointer, forged) in [
        ("/claimed_training/test/p_value", json!(0.5)),
        ("/claimed_training/test/epsilon", json!(0.01)),
        ("/claimed_training/test/delta", json!(0.01)),
        ("/claimed_training/says", json!("The training is as claimed.")),
    ] {
        assert!(is_detected(&report, pointer, &forged), "{pointer}");
    }
}

#[test]
fn texts_that_are_not_written_again_are_listed() {
    let report = Folder::new().run(&format!("{COUNTS} --json")).json();
    let open = recomputed(&report).unwrap().open;
    for pointer in ["/version", "/device", "/claim/says", "/claim/note", "/result/scope"] {
        assert!(open.iter().any(|it| it.pointer == pointer), "{pointer}");
    }
    for pointer in ["/headline", "/verdict/outcome", "/claim/verdict/reason", "/result/kind"] {
        assert!(open.iter().all(|it| it.pointer != pointer), "{pointer}");
    }
}

/// The numbers that no recomputation reaches; a new one needs a reason in `recompute/open.rs`.
#[test]
fn open_numbers_of_counted_reports_are_few() {
    let folder = Folder::new();
    let open = |words: &str| -> Vec<String> {
        let report = folder.run(&format!("{words} --json")).json();
        let open = recomputed(&report).unwrap().open.into_iter().map(|open| open.pointer);
        open.filter(|pointer| report.pointer(pointer).is_some_and(Value::is_number)).collect()
    };
    let metrics = open(COUNTS).into_iter().filter(|pointer| !pointer.starts_with("/metrics"));
    let expected = [
        "/claim/epsilon",
        "/elapsed_ms",
        "/fail_above/epsilon",
        "/fallback_shards",
        "/non_finite/target",
        "/non_finite/zero_out",
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
        assert_eq!(recomputed(&report).unwrap().differences, [], "{design}");
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
            let differences = recomputed(&edited).unwrap().differences;
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
    let open = recomputed(&report).unwrap().open;
    assert!(open.iter().any(|it| it.pointer == "/evidence/gdp_cut/hits"), "{open:?}");
    report["evidence"]["gdp_cut"]["hits"] = json!(1_000_000_001);
    assert!(recomputed(&report).unwrap_err().to_string().contains("below a cut"));
    report["design"]["inserted"] = json!(1_000_000_000_001_u64);
    report["evidence"]["gdp_cut"]["hits"] = json!(5);
    assert!(recomputed(&report).is_err());
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
        ("cut.json", &json.as_bytes()[..json.floor_char_boundary(json.len() / 2)], 2, "truncated"),
        ("text.txt", b"hello", 2, "neither a page"),
        ("other.json", b"{\"a\": 1}", 2, "not a report of dpscope"),
        ("old.json", b"{\"schema\": \"dpscope.report/1\"}", 5, "dpscope.report/1"),
        ("plan.json", b"{\"schema\": \"dpscope.plan/1\"}", 5, "dpscope.plan/1"),
        ("failed.json", b"{\"schema\": \"dpscope.error/1\"}", 2, "run the command again"),
        (
            "twice.json",
            b"{\"schema\": \"dpscope.report/2\", \"schema\": 1}",
            2,
            "`schema` occurs twice",
        ),
        (
            "bare.json",
            b"{\"schema\": \"dpscope.report/2\"}",
            2,
            "/observations/evaluated/target is missing",
        ),
    ] {
        folder.write(name, content);
        folder.run(&format!("recompute {name}")).refuses(code, &[name, part]);
    }
    folder.write("mark.json", format!("\u{feff}{json}"));
    folder.run("recompute mark.json").exits(0);
    let text = String::from_utf8(page.clone()).unwrap();
    folder.write("mark.html", format!("\u{feff}{text}"));
    folder.run("recompute mark.html").exits(0);
    folder.write("lines.html", text.replace('\n', "\r\n"));
    folder.run("recompute lines.html").refuses(2, &["lines.html", "CRLF"]);
    let impossible = json.replace("\"false_negatives\": 480", "\"false_negatives\": 1480");
    folder.write("impossible.json", impossible);
    folder.run("recompute impossible.json").refuses(5, &["impossible"]);
    folder.run("recompute absent.html").refuses(2, &["absent.html"]);
    folder.write("empty.json", "{\"schema\": \"dpscope.pategan/1\"}");
    assert!(folder.run("recompute empty.json").exits(6).stdout.contains("has no counts"));
}
