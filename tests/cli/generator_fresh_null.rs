//! One run with independent canary rows, and others that show what chance gives.
#![cfg(unix)]

use dpscope_tests::cli::{CommandResult, dpscope};

use crate::Folder;

const COLUMNS: &str = "[[columns]]\nname = \"x\"\nkind = \"integer\"\nlow = 0\nhigh = 1000000\n\n\
                       [[columns]]\nname = \"c\"\nkind = \"category\"\nnames = [\"a\", \"b\"]\n";
const ROWS: &str =
    "canaries rows --data data.csv --columns columns.toml --rows 200 --claim 1 --out one";
const FRESH: &str = "--poisson 40 --null-draws 8e3";
/// Looks at nothing but the seed.
const BLIND: &str = "awk -v s={seed} 'BEGIN { srand(s); print \"x,c\"; \
                     for (i = 0; i < {rows}; i++) print int(rand() * 1000000) \",a\" }' {data} > {out}";
/// [`BLIND`] in six columns.
const WIDE_BLIND: &str = "awk -v s={seed} 'BEGIN { srand(s); print \"a,b,c,d,e,f\"; \
                          for (i = 0; i < {rows}; i++) { for (j = 0; j < 6; j++) \
                          printf \"%s%d\", (j ? \",\" : \"\"), rand() * 10000; print \"\" } }' {data} > {out}";
/// Releases the rows of the data, over and over.
const COPIES: &str = "awk -v n={rows} 'NR == 1 { print; next } { row[NR - 2] = $0 } \
                      END { for (i = 0; i < n; i++) print row[i % (NR - 1)] }' {data} > {out}; : {seed}";

fn one_run(command: &str) -> Folder {
    let folder = Folder::new();
    folder.write("columns.toml", COLUMNS);
    folder.write("data.csv", "x,c\n1,a\n2,a\n3,b\n");
    executed(folder, FRESH, command)
}

fn executed(folder: Folder, options: &str, command: &str) -> Folder {
    let planned = folder.run(&format!("{ROWS} {options}")).exits(0).stdout;
    assert!(planned.contains("canaries are in the data of one"), "{planned}");
    let mut program = dpscope(folder.path());
    let words = ["generator", "run", "one", "--command", command];
    CommandResult::from(program.args(words).output().unwrap()).exits(0);
    folder
}

#[test]
fn copies_of_the_data_are_refuted_and_blind_rows_are_not() {
    let blind = one_run(BLIND).run("audit generator one --json").exits(0).json();
    assert_eq!(blind["verdict"]["outcome"], "not-refuted", "{blind}");
    let folder = one_run(COPIES);
    let copied = folder.run("audit generator one --json").exits(3).json();
    assert_eq!(copied["verdict"]["outcome"], "refuted", "{copied}");
    let text = folder.run("audit generator one --plot scores.svg").exits(3).stdout;
    assert!(text.contains("8,000") && text.contains("Poisson"), "{text}");
    // the manifest, whose digest was printed, draws them
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("drawn and committed before the training"), "{text}");
    assert!(!words.contains("if canaries and their number were drawn"), "{text}");
    assert_eq!(copied["design"]["is_committed"], true);
    let words = "audit one-run --scores one/scores.npy --null-scores one/null_scores.npy --design \
                 poisson:40 --delta 1e-5 --json";
    assert_eq!(folder.run(words).exits(0).json()["design"]["is_committed"], false);
    // the same seed draws the same rows
    assert_eq!(
        folder.run("audit generator one --json").exits(3).json()["verdict"],
        copied["verdict"]
    );
}

#[test]
fn scores_beside_decoys_find_copies_and_no_blind_rows() {
    let column = |name| {
        format!("[[columns]]\nname = \"{name}\"\nkind = \"integer\"\nlow = 0\nhigh = 9999\n")
    };
    let wide: String = ["a", "b", "c", "d", "e", "f"].map(column).concat();
    for scoring in ["density", "decoys"] {
        let verdict = |command: &str, exit: i32| {
            let folder = Folder::new();
            folder.write("columns.toml", &wide);
            folder.write("data.csv", "a,b,c,d,e,f\n1,2,3,4,5,6\n2,3,4,5,6,7\n");
            let options = format!("--poisson 30 --null-draws 3e3 --scoring {scoring}");
            let folder = executed(folder, &options, command);
            let report = folder.run("audit generator one --json").exits(exit).json();
            report["verdict"]["outcome"].as_str().unwrap().to_owned()
        };
        assert_eq!(verdict(COPIES, 3), "refuted", "{scoring}");
        assert_eq!(verdict(WIDE_BLIND, 0), "not-refuted", "{scoring}");
    }
}

/// A rule of scoring that is chosen after the run shows what its author wants.
#[test]
fn a_changed_manifest_is_not_the_published_one() {
    let folder = one_run(COPIES);
    let planned = folder.run(&format!("{ROWS} {FRESH}").replace("--out one", "--out other"));
    let digest = planned
        .exits(0)
        .stdout
        .split_whitespace()
        .find(|word| word.len() == 64)
        .unwrap()
        .to_owned();
    let note = |name: &str, exit: i32| {
        let audit = folder.run(&format!("audit generator {name} --json")).exits(exit);
        let digest = audit.stderr.split([' ', ';']).find(|word| word.len() == 64);
        (digest.unwrap().to_owned(), audit.json())
    };
    let (first, report) = note("one", 3);
    let is_second = |report: &serde_json::Value| {
        report["findings"].to_string().contains("other scores of this plan were audited before")
    };
    assert!(!is_second(&report), "{report}");
    folder.run("audit generator one").exits(3);
    let manifest = String::from_utf8(folder.read("one/manifest.toml")).unwrap();
    let changed = manifest.replace("scoring = \"nearest\"", "scoring = \"count\"");
    assert!(changed != manifest, "{manifest}");
    folder.write("one/manifest.toml", changed);
    let audit = folder.run("audit generator one --json");
    assert!(
        !audit.stderr.contains(&first) && audit.stderr.contains("whose digest is"),
        "{audit:?}"
    );
    assert!(is_second(&audit.json()), "{}", audit.json());
    // what was to be published is what the audit names
    let mut program = dpscope(folder.path());
    let words = ["generator", "run", "other", "--command", COPIES];
    CommandResult::from(program.args(words).output().unwrap()).exits(0);
    assert_eq!(note("other", 3).0, digest);
}

#[test]
fn files_that_the_seed_did_not_draw_are_refused() {
    let folder = one_run(BLIND);
    let refuses = |parts: &[&str]| {
        folder.run("audit generator one").refuses(2, parts);
    };
    let data = folder.read("one/data/with.csv");
    folder.write("one/data/with.csv", folder.read("data.csv"));
    refuses(&["with.csv", "lacks canary", "dpscope canaries rows"]);
    folder.write("one/data/with.csv", data);
    let canaries = String::from_utf8(folder.read("one/canaries.csv")).unwrap();
    let fewer: Vec<&str> = canaries.lines().take(10).collect();
    folder.write("one/canaries.csv", fewer.join("\n"));
    refuses(&["canaries.csv", "differs from what the seed"]);
    folder.write("one/canaries.csv", canaries);
    let manifest = String::from_utf8(folder.read("one/manifest.toml")).unwrap();
    folder.write("one/manifest.toml", manifest.replace("null_draws = 8000", "null_draws = 80"));
    refuses(&["manifest.toml", "null_draws"]);
    let other = ROWS.replace("--out one", "--out other");
    for (options, parts) in [
        ("--poisson 40 --null-draws 3e3", ["--null-draws", "100 times"]),
        ("--poisson 0 --null-draws 3e3", ["--poisson", "above 0"]),
        ("--null-draws 8e3", ["--poisson", "required"]),
        ("--poisson 40", ["--count", "required"]),
        ("--poisson 4 --count 50 --null-draws 8e3", ["--count", "--null-draws"]),
    ] {
        folder.run(&format!("{other} {options}")).refuses(2, &parts);
    }
}
