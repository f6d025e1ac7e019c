//! `dpscope compare`.

use dpscope_tests::cli::{number, text};
use serde_json::Value;

use super::{fields, json};
use crate::dpscope;

pub(super) fn row<'d>(document: &'d Value, what: &str) -> &'d Value {
    let rows = document["rows"].as_array().unwrap();
    rows.iter().find(|row| row["what"] == what).unwrap()
}

#[test]
fn lines_equal_the_results_of_bound() {
    let setting = "--noise-multiplier 1 --steps 100 --epochs 3";
    let document = json(&format!("compare {setting} --seed 1"));
    for (what, words) in [
        ("poisson", "poisson"),
        ("balls_in_bins", "balls-in-bins"),
        ("shuffle_sum", "shuffle --method sum"),
        ("shuffle_max_slice", "shuffle --method max-slice"),
        ("pair_lower", "pair --side lower --seed 1"),
        ("pair_estimate", "pair --side estimate --seed 1"),
        ("deterministic", "deterministic"),
    ] {
        let bound = json(&format!("bound {words} {setting}"));
        let line = row(&document, what);
        for field in ["epsilon", "delta", "kind", "scope", "direction", "method"] {
            assert_eq!(line[field], bound[field], "{what} {field}");
        }
    }
    let names =
        ["answer", "delta", "device", "epochs", "headline", "noise_multiplier", "rows", "schema"];
    let more = ["seed", "significance", "steps", "version"];
    assert_eq!(fields(&document), [&names[..], &more].concat());
    assert_eq!(text(&document, "/schema"), "dpscope.comparison/1");
    let ratio = number(row(&document, "deterministic"), "/ratio_to_poisson");
    let epsilon = |what| number(row(&document, what), "/epsilon");
    assert!((ratio - epsilon("deterministic") / epsilon("poisson")).abs() < 1e-12);
}

#[test]
fn a_claim_has_a_verdict_and_an_exit_code() {
    for (claim, code, verdict, says) in [
        (
            "2",
            3,
            "refuted",
            "Your claim ε = 2.00 is refuted: the worst-case pair leaks at least 4.06",
        ),
        ("4.2", 6, "inconclusive", "Your claim ε = 4.20 is neither refuted nor confirmed"),
        (
            "5",
            6,
            "inconclusive",
            "Your claim ε = 5.00 is neither refuted nor confirmed under add/remove adjacency",
        ),
        (
            "5 --claim-adjacency zero-out",
            0,
            "holds-as-described",
            "Your claim ε = 5.00 holds under zero-out adjacency: no dataset leaks more than",
        ),
    ] {
        let words = format!("compare --noise-multiplier 1 --steps 100 --seed 1 --claim {claim}");
        let document: Value =
            serde_json::from_str(&dpscope(&format!("{words} --json")).exits(code).stdout).unwrap();
        assert_eq!(text(&document, "/claim/verdict"), verdict);
        assert!(text(&document, "/claim/sentence").starts_with(says), "{document:#}");
        assert!(dpscope(&words).exits(code).stdout.contains(says));
    }
    for claim in ["-1", "inf", "nan"] {
        let words = format!("compare --noise-multiplier 1 --steps 100 --claim={claim}");
        assert!(dpscope(&words).exits(2).stderr.contains("--claim"));
    }
}

#[test]
fn compare_and_check_agree_on_a_claim() {
    let compare = "compare --noise-multiplier 0.31 --steps 12 --delta 1e-4 --seed 1";
    let check = "check --dataset-size 1200 --batch-size 100 --epochs 1 --noise-multiplier 0.31 \
                 --delta 1e-4 --loader shuffle --accountant poisson";
    let claimed = row(&json(compare), "poisson")["epsilon"].clone();
    for (claim, adjacency, code) in [
        (claimed.to_string(), "add-remove", 6),
        (claimed.to_string(), "zero-out", 0),
        ("1".to_owned(), "add-remove", 3),
    ] {
        let claim = format!("--claim {claim} --claim-adjacency {adjacency}");
        let verdict = |words: &str, at: &str| {
            let printed = dpscope(&format!("{words} {claim} --json")).exits(code).stdout;
            text(&serde_json::from_str(&printed).unwrap(), at).to_owned()
        };
        assert_eq!(verdict(compare, "/claim/verdict"), verdict(check, "/claim/verdict"));
    }
    let headline = text(&json(compare), "/headline").to_owned();
    assert!(!headline.contains("claim is proven"), "{headline}");
}

#[test]
fn observations_add_an_audit_line() {
    let words = "compare --noise-multiplier 1 --steps 100 --observations 1e5 --seed 7";
    let document = json(words);
    let audit = row(&document, "audit");
    let same = json("audit bgm --noise-multiplier 1 --steps 100 --observations 1e5 --seed 7");
    assert_eq!(number(audit, "/epsilon"), number(&same, "/result/epsilon"));
    assert_eq!(number(audit, "/ceiling"), number(&same, "/result/ceiling"));
    assert_eq!(text(audit, "/kind"), "lower");
    assert!(number(audit, "/epsilon") <= number(row(&document, "pair_estimate"), "/epsilon"));
}

#[test]
fn missing_lines_have_a_reason() {
    let words = "compare --noise-multiplier 0.1 --steps 10 --seed 1 --observations 1000";
    let document = json(words);
    let line = row(&document, "audit");
    assert_eq!(fields(line), ["ratio_to_poisson", "reason", "what"]);
    assert!(text(line, "/reason").contains("[0.2, 20]"), "{line:#}");
    // theory has values of little noise
    let [bins, all] = ["balls_in_bins", "deterministic"].map(|what| row(&document, what));
    assert_eq!(number(bins, "/epsilon"), number(all, "/epsilon"));
    let shown = dpscope(words).exits(0).stdout;
    assert!(shown.contains("\n  missing     audit: "), "{shown}");
    for line in shown.lines().take_while(|line| !line.contains("missing")) {
        assert!(line.chars().count() <= 80, "{line}");
    }
}
