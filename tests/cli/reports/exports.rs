//! Formats of `--format`.

use std::collections::BTreeSet;

use serde_json::Value;

use super::documents;
use crate::Folder;
use crate::schemas::{Document, inputs};

const CHECK: &str = "check --dataset-size 60000 --batch-size 256 --epochs 20 --noise-multiplier 0.8 \
                     --loader shuffle --accountant poisson --claim 3 --delta 1e-5";

const COUNTS: &str = "audit counts --false-positives 12 --target-trials 1000 --false-negatives 480 \
                      --zero-out-trials 1000";

#[test]
fn every_report_has_every_format() {
    let folder = inputs();
    let depends = |words: &str| {
        words.contains("--out") || words.starts_with("merge") || words.starts_with("resume")
    };
    // One report of each kind, with a claim and without.
    let mut seen = BTreeSet::new();
    let is_new = |it: &&Document| seen.insert((it.kind, it.words.contains("--claim")));
    let documents = documents().filter(|it| !depends(&it.words)).filter(is_new);
    for Document { words, code, .. } in documents {
        for format in ["sarif", "junit", "markdown", "model-card", "cyclonedx"] {
            let ended = folder.run(&format!("{words} --format {format}"));
            assert_eq!(ended.code, *code, "{words} --format {format}: {}", ended.stderr);
            assert!(!ended.stdout.is_empty());
            match format {
                "sarif" => check_sarif(&ended.json()),
                "junit" => check_junit(&ended.stdout),
                _ => {}
            }
        }
    }
}

/// What SARIF 2.1.0 requires of the fields that are used.
fn check_sarif(log: &Value) {
    assert_eq!(log["version"], "2.1.0");
    let run = &log["runs"][0];
    let driver = &run["tool"]["driver"];
    assert_eq!(driver["name"], "dpscope");
    let rules = driver["rules"].as_array().unwrap();
    let mut names: Vec<&str> = rules.iter().map(|rule| rule["id"].as_str().unwrap()).collect();
    for rule in rules {
        assert!(!rule["help"]["text"].as_str().unwrap().is_empty());
    }
    for result in run["results"].as_array().unwrap() {
        let index = result["ruleIndex"].as_u64().unwrap() as usize;
        assert_eq!(result["ruleId"], names[index]);
        assert!(!result["message"]["text"].as_str().unwrap().is_empty());
        let level = result["level"].as_str().unwrap();
        assert!(["none", "note", "warning", "error"].contains(&level));
        // only a failure has a level (section 3.27.9)
        assert_eq!(result["kind"] == "fail", level != "none", "{result}");
    }
    names.dedup();
    assert_eq!(names.len(), rules.len(), "rules are unique");
}

/// Well-formed, with the counts of its cases.
fn check_junit(text: &str) {
    let count = |part: &str| text.matches(part).count();
    let stated = |name: &str| -> usize {
        let (_, rest) = text.split_once(&format!(" {name}=\"")).unwrap();
        rest.split_once('"').unwrap().0.parse().unwrap()
    };
    assert_eq!(stated("tests"), count("<testcase "));
    assert_eq!(stated("failures"), count("<failure "));
    assert_eq!(stated("errors"), count("<error "));
    let mut open: Vec<&str> = Vec::new();
    for tag in text.split('<').skip(1).map(|part| part.split_once('>').unwrap().0) {
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name), "{text}");
        } else if !tag.starts_with('?') && !tag.ends_with('/') {
            open.push(tag.split(' ').next().unwrap());
        }
    }
    assert!(open.is_empty(), "{open:?}");
}

#[test]
fn refuted_claims_and_findings_are_results_at_the_file() {
    let folder = Folder::new();
    let example = folder.run("check --example").stdout;
    folder.write("training plan.toml", &example);
    folder.write("t.toml", &example);
    let log = folder.run("check t.toml --claim 0.01 --format sarif").exits(3).json();
    let results = log["runs"][0]["results"].as_array().unwrap();
    assert_eq!(results[0]["ruleId"], "claim-refuted");
    assert_eq!(results[0]["level"], "error");
    let place = &results[0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"];
    assert_eq!(place, "t.toml");
    let report = folder.run("check t.toml --claim 0.01 --json").json();
    assert_eq!(results.len(), 1 + report["findings"].as_array().unwrap().len());
    for (result, finding) in results[1..].iter().zip(report["findings"].as_array().unwrap()) {
        assert_eq!(result["ruleId"], finding["code"]);
        assert_eq!(result["message"]["text"], finding["says"]);
    }
}

#[test]
fn test_results_fail_for_refuted_and_open_claims() {
    let folder = Folder::new();
    let junit =
        |words: &str, code: i32| folder.run(&format!("{words} --format junit")).exits(code).stdout;
    let refuted = junit(&format!("{COUNTS} --claim 0.5 --fail-above 5"), 3);
    assert!(refuted.contains("tests=\"2\" failures=\"1\" errors=\"0\""), "{refuted}");
    let open = junit(
        "audit bgm --noise-multiplier 1 --steps 10 --observations 3e4 --seed 7 --claim 9 \
         --threshold-rule max-uncorrected",
        6,
    );
    assert!(open.contains("errors=\"1\"") && open.contains("type=\"inconclusive\""), "{open}");
}

#[test]
fn findings_that_fail_the_run_are_failed_tests() {
    let folder = Folder::new();
    let faulty = "audit pategan --fault U1 --runs 40 --iterations 2 --seed 1";
    let words = format!("{faulty} --fail-on-finding --format junit");
    let failed = folder.run(&words).exits(3).stdout;
    check_junit(&failed);
    assert!(failed.contains("tests=\"2\" failures=\"1\" errors=\"0\""), "{failed}");
    assert!(failed.contains("<failure message=\"m1\" type=\"finding\">"), "{failed}");
    let passed = folder.run(&format!("{faulty} --format junit")).exits(0).stdout;
    assert!(passed.contains("tests=\"1\" failures=\"0\" errors=\"0\""), "{passed}");
}

#[test]
fn a_fault_voids_what_is_accounted_for() {
    let folder = Folder::new();
    let words = "audit pategan --runs 40 --iterations 2 --seed 1 --format";
    for format in ["model-card", "cyclonedx", "markdown", "junit"] {
        let faithful = folder.run(&format!("{words} {format}")).stdout;
        let faulty = folder.run(&format!("{words} {format} --fault U1")).stdout;
        assert!(faithful.contains("accounted upper bound"), "{faithful}");
        assert!(!faulty.contains("accounted upper bound"), "{faulty}");
    }
    let bom = folder.run(&format!("{words} cyclonedx --fault U1")).stdout;
    assert!(bom.contains("all teachers have the same rows"), "{bom}");
}

#[test]
fn markdown_is_short_and_has_the_verdict() {
    let text = Folder::new().run(&format!("{CHECK} --format markdown")).exits(3).stdout;
    assert!(text.starts_with("### Check of a described training\n\n**claim ε = 3 "), "{text}");
    for part in ["- ❌ ", "| value | ε |", "proven lower bound", "` dpscope check "] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(text.lines().count() < 30);
}

#[test]
fn model_cards_have_each_value_with_its_confidence() {
    let folder = Folder::new();
    let yaml = folder.run(&format!("{COUNTS} --format model-card")).exits(0).stdout;
    let expected = "model-index:\n- name: MODEL\n  results:\n  - task:\n      type: other\n";
    assert!(yaml.starts_with(expected), "{yaml}");
    let metric = "    - type: epsilon\n      name: \"audited lower bound at δ = 1e-5, with 95 % confidence\"\n";
    assert!(yaml.contains(metric), "{yaml}");
    let bom = folder.run(&format!("{COUNTS} --format cyclonedx")).exits(0).json();
    assert_eq!((&bom["bomFormat"], &bom["specVersion"]), (&"CycloneDX".into(), &"1.6".into()));
    let component = &bom["components"][0];
    assert_eq!(component["type"], "machine-learning-model");
    let metrics = &component["modelCard"]["quantitativeAnalysis"]["performanceMetrics"];
    let value = folder.run(&format!("{COUNTS} --json")).json()["result"]["epsilon"].to_string();
    assert_eq!(metrics[0]["value"], value.as_str());
}

#[test]
fn errors_are_documents_under_format_json() {
    let folder = Folder::new();
    for format in ["--format json", "--format=json"] {
        folder.run(&format!("{COUNTS} --claim -1 {format}")).refuses(2, &["claim"]);
        assert!(!folder.run(&format!("{COUNTS} --claim -1 {format}")).stdout.is_empty());
    }
    folder.run(&format!("{COUNTS} --format json --json")).exits(2);
    folder.run(&format!("{COUNTS} --format sarif --brief")).exits(2);
}
