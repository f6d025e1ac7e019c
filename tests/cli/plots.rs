//! `--plot` and `--curves`: trade-off curves as a drawing and as data.

use std::fs;

use dpscope_core::math::exp;
use dpscope_tests::cli::{dpscope, number, text};
use serde_json::Value;

use crate::snapshots::assert_shown;
use crate::trainer::{Trainer, npy_f8};
use crate::{Folder, SMALL};

const COUNTS: &str = "audit counts --false-positives 12 --target-trials 1000 \
                      --false-negatives 480 --zero-out-trials 900";

/// What is wrong with a text as XML, as far as this program writes any: elements that close in
/// order, attributes in quotes, escaped text, and no control characters.
pub(super) fn problem(svg: &str) -> Option<String> {
    let mut open: Vec<&str> = Vec::new();
    let mut rest = svg;
    while let Some(start) = rest.find('<') {
        if let Some(bad) = bad_text(&rest[..start]) {
            return Some(bad);
        }
        let Some(end) = rest[start..].find('>') else { return Some("an open tag".to_owned()) };
        let tag = &rest[start + 1..start + end];
        rest = &rest[start + end + 1..];
        if let Some(name) = tag.strip_prefix('/') {
            if open.pop() != Some(name) {
                return Some(format!("</{name}> closes another element"));
            }
            continue;
        }
        let body = tag.trim_end_matches('/');
        let (name, attributes) = body.split_once(' ').unwrap_or((body, ""));
        let quotes = attributes.matches('"').count();
        if quotes % 2 != 0 || quotes != 2 * attributes.matches("=\"").count() {
            return Some(format!("attributes {attributes}"));
        }
        if let Some(bad) = bad_text(attributes) {
            return Some(bad);
        }
        if !tag.ends_with('/') {
            open.push(name);
        }
    }
    (!open.is_empty() || !rest.trim().is_empty()).then(|| format!("left open: {open:?}"))
}

fn bad_text(text: &str) -> Option<String> {
    let is_entity = |after: &str| {
        ["amp;", "lt;", "gt;", "quot;", "#39;"].iter().any(|name| after.starts_with(name))
    };
    let bare = text.split('&').skip(1).any(|after| !is_entity(after));
    let control = text.chars().any(|c| c.is_control() && c != '\n');
    (bare || control || text.contains('>')).then(|| format!("text {text:?}"))
}

#[track_caller]
fn svg_of(folder: &Folder, name: &str) -> String {
    let svg = String::from_utf8(folder.read(name)).unwrap();
    assert_eq!(problem(&svg), None);
    for never in ["NaN", "inf", "<script", "<image", "href", "url(http", "@import"] {
        assert!(!svg.contains(never), "{never}");
    }
    for always in [
        "<title ",
        "<desc ",
        "viewBox=",
        ">false positive rate<",
        ">false negative rate<",
        ">false positive rate (log)<",
        ">true positive rate (log)<",
        "no leakage",
    ] {
        assert!(svg.contains(always), "{always}");
    }
    svg
}

/// The rows of a CSV file as the JSON of the same run has them.
fn rows_of_csv(csv: &str) -> Vec<Vec<String>> {
    csv.lines().skip(1).map(|line| line.split(',').map(str::to_owned).collect()).collect()
}

fn rows_of_json(document: &Value) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    for curve in document["curves"].as_array().unwrap() {
        for point in curve["points"].as_array().unwrap() {
            let mut row = vec![text(curve, "/curve").to_owned(), text(curve, "/kind").to_owned()];
            for field in ["fpr", "fnr", "fpr_lower", "fpr_upper", "fnr_lower", "fnr_upper"] {
                row.push(point[field].as_f64().map_or(String::new(), |rate| rate.to_string()));
            }
            rows.push(row);
        }
    }
    rows
}

#[test]
fn a_small_drawing_equals_its_snapshot() {
    let folder = Folder::new();
    folder.run(&format!("{COUNTS} --claim 4 --plot counts.svg")).exits(0);
    let svg = svg_of(&folder, "counts.svg");
    assert_shown("counts.svg", &svg.replace(env!("CARGO_PKG_VERSION"), "VERSION"));
}

#[test]
fn broken_drawings_are_detected() {
    let folder = Folder::new();
    folder.run(&format!("{COUNTS} --plot a.svg")).exits(0);
    let svg = svg_of(&folder, "a.svg");
    for (from, to) in [
        ("</desc>", ""),
        ("</g>", "</h>"),
        ("<title id=\"dpscope-title\">", "<title id=\"dpscope-title\">a & b"),
        ("fill=\"#fff\"", "fill=\"#fff"),
        ("</desc>", "\u{7}</desc>"),
    ] {
        assert!(problem(&svg.replacen(from, to, 1)).is_some(), "{from} {to}");
    }
}

#[test]
fn curve_files_agree_with_the_report() {
    let folder = Folder::new();
    let words = format!("{SMALL} --claim 0.5 --json --curves a.json --plot a.svg");
    let report = folder.run(&words).json();
    folder.run(&format!("{SMALL} --claim 0.5 --curves a.csv"));
    let document: Value = serde_json::from_slice(&folder.read("a.json")).unwrap();
    let csv = String::from_utf8(folder.read("a.csv")).unwrap();
    let header = "curve,kind,fpr,fnr,fpr_lower,fpr_upper,fnr_lower,fnr_upper";
    assert_eq!(csv.lines().next(), Some(header));
    let rows = rows_of_csv(&csv);
    assert_eq!(rows, rows_of_json(&document));
    assert!(!csv.contains("NaN") && !csv.contains("inf"));

    for (path, expected) in
        [("/schema", "dpscope.curves/1"), ("/version", env!("CARGO_PKG_VERSION")), ("/seed", "7")]
    {
        assert_eq!(text(&document, path), expected);
    }
    let epsilon = number(&report, "/result/epsilon");
    assert_eq!(number(&document, "/epsilon"), epsilon);
    let mut names: Vec<&str> = rows.iter().map(|row| row[0].as_str()).collect();
    names.dedup();
    assert_eq!(
        names,
        [
            "audit",
            "epsilon",
            "claim",
            "poisson",
            "poisson-exchanged",
            "deterministic",
            "shuffle-attack",
            "deciding-cut"
        ]
    );
    // The limits of the deciding cut give ε, and the cut is one of the band's, inside wider limits.
    let rates = |row: &[String]| -> Vec<f64> {
        row[2..].iter().map(|rate| rate.parse().unwrap_or(f64::NAN)).collect()
    };
    let deciding = rates(rows.last().unwrap());
    let [fpr_upper, fnr_upper] = [deciding[3], deciding[5]];
    assert_eq!(fpr_upper, number(&report, "/result/fpr_upper"));
    let kept = match text(&report, "/result/direction") {
        "remove" => (1.0 - 1e-5 - fnr_upper) / fpr_upper,
        _ => (1.0 - 1e-5 - fpr_upper) / fnr_upper,
    };
    assert!((exp(epsilon) / kept - 1.0).abs() < 1e-9);
    let is_same = |row: &&Vec<String>| {
        let cut = rates(row);
        row[0] == "audit" && cut[..2] == deciding[..2] && cut[3] >= fpr_upper && cut[5] >= fnr_upper
    };
    assert!(rows.iter().any(|row| is_same(&row)), "the deciding cut is not on the curve");
    svg_of(&folder, "a.svg");
}

#[test]
fn every_kind_of_audit_is_drawn() {
    let folder = Folder::new();
    let scores = |shift: usize| -> String {
        (0..100).map(|i| format!("{}\n", (i * 37 % 100 + shift) as f64 * 0.1)).collect()
    };
    folder.write("in.csv", scores(20));
    folder.write("out.csv", scores(0));
    let no_theory = "audit scores --target in.csv --zero-out out.csv --seed 3 --plot a.svg";
    folder.run(no_theory).exits(0);
    let svg = svg_of(&folder, "a.svg");
    assert!(svg.contains("90 without (10 and 10 others fixed the cuts)"), "{svg}");
    for more in [
        "--threshold-rule max-uncorrected --epochs 10",
        "--sampler poisson",
        "--sampler persistent-shuffle --epochs 3",
        "--sampler balls-in-bins --threshold-rule split",
    ] {
        folder.run(&format!("{SMALL} {more} --plot a.svg")).exits(0);
        let svg = svg_of(&folder, "a.svg");
        assert_eq!(
            svg.contains("no shuffle leaks"),
            !more.contains("poisson") && !more.contains("bins")
        );
        assert!(svg.contains("whole curve with 95 %"), "{more}");
    }
}

#[test]
fn missing_curves_are_explained() {
    let folder = Folder::new();
    let words = "compare --noise-multiplier 0.05 --steps 1000 --epochs 2";
    folder.run(&format!("{words} --seed 1 --plot a.svg")).exits(0);
    let svg = svg_of(&folder, "a.svg");
    assert!(svg.contains("no curve of Poisson sampling: its privacy loss needs"), "{svg}");
    assert!(svg.contains("no shuffle leaks") && !svg.contains("Poisson accountant"));
}

#[test]
fn dependent_outputs_have_no_band() {
    let folder = Folder::new();
    let mut worlds = Trainer::SHUFFLE.worlds(300, 1);
    let words = format!(
        "audit outputs --target in.npy --zero-out out.npy {} --seed 5 --plot a.svg",
        Trainer::SHUFFLE.words()
    );
    for is_whole in [true, false] {
        for (name, world) in ["in.npy", "out.npy"].iter().zip(&worlds) {
            folder.write(name, npy_f8(&[300, 10], world));
        }
        folder.run(&words).exits(0);
        let svg = svg_of(&folder, "a.svg");
        assert_eq!(svg.contains("<polygon"), is_whole);
        assert!(svg.contains("files: in.npy, out.npy") && svg.contains("no shuffle leaks"));
        worlds[0].copy_within(0..100, 100); // ten runs twice
    }
}

#[test]
fn only_complete_runs_have_a_band() {
    let folder = Folder::new();
    for shard in ["1", "2"] {
        let words = format!("{SMALL} --shard {shard}/2 --out {shard}.shard --plot {shard}.svg");
        folder.run(&words).exits(0);
        let svg = svg_of(&folder, &format!("{shard}.svg"));
        assert!(svg.contains("an estimate without coverage") && !svg.contains("<polygon"));
    }
    folder.run("merge 1.shard 2.shard --plot whole.svg --curves merged.csv").exits(0);
    assert!(svg_of(&folder, "whole.svg").contains("<polygon"));
    folder.run(&format!("{SMALL} --curves whole.csv")).exits(0);
    assert_eq!(folder.read("merged.csv"), folder.read("whole.csv"));
}

#[test]
fn hostile_names_are_escaped() {
    let folder = Folder::new();
    let name = "a<script>&\"'\u{1b}]]>.csv";
    folder.write(name, "1\n2\n3\n");
    let output = dpscope(folder.path())
        .args(["audit", "scores", "--zero-out", name, "--target", name])
        .args(["--plot", "a.svg", "--curves", "a.json"])
        .output();
    assert_eq!(output.unwrap().status.code(), Some(0));
    let svg = svg_of(&folder, "a.svg");
    assert!(svg.contains("a&lt;script&gt;&amp;&quot;&#39;\u{fffd}]]&gt;.csv"), "{svg}");
    let document: Value = serde_json::from_slice(&folder.read("a.json")).unwrap();
    assert!(document["caption"].to_string().contains("<script>"));
}

#[test]
fn unwritable_plots_are_rejected_before_the_run() {
    let folder = Folder::new();
    // So many observations that a run would not end.
    let long = "audit bgm --noise-multiplier 1 --steps 1000 --observations 1e15 --seed 1";
    fs::create_dir(folder.at("folder.svg")).unwrap();
    folder.write("mine.svg", "<svg>drawn by hand</svg>");
    folder.write("shard.json", "{\"schema\":\"dpscope.histograms/1\"}");
    for (words, parts) in [
        ("--plot missing/a.svg", ["missing/a.svg", "cannot be written"]),
        ("--plot folder.svg", ["folder.svg", "not a regular file"]),
        ("--plot a.png", ["a.png", "must end in .svg"]),
        ("--curves a.txt", ["a.txt", "must end in .json or .csv"]),
        ("--plot mine.svg", ["mine.svg", "choose another file"]),
        ("--curves shard.json", ["shard.json", "choose another file"]),
    ] {
        folder.run(&format!("{long} {words}")).refuses(2, &parts);
    }
    assert_eq!(folder.names(), ["folder.svg", "mine.svg", "shard.json"]);
    for _ in 0..2 {
        // What this program drew, it replaces.
        folder.run(&format!("{COUNTS} --plot a.svg --curves a.csv")).exits(0);
    }
}
