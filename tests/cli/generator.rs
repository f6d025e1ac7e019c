//! `dpscope plan generator`, `dpscope generator run`, `dpscope audit generator`.
#![cfg(unix)]

use std::collections::BTreeSet;
use std::fs;

use dpscope_tests::cli::{CommandResult, dpscope};
use serde_json::Value;

use crate::Folder;

const COLUMNS: &str = "[[columns]]\nname = \"x\"\nkind = \"integer\"\nlow = 0\nhigh = 1000000\n\n\
                       [[columns]]\nname = \"c\"\nkind = \"category\"\nnames = [\"a\", \"b\"]\n";
const DATA: &str = "x,c\n1,a\n2,a\n3,b\n";
const PLAN: &str = "plan generator --claim 0.5 --delta 0 --data data.csv --columns columns.toml \
                    --target-row 2 --rows 4 --runs 60 --seed 5 --out audit";
/// Looks at nothing but the seed.
const FAITHFUL: &str = "awk -v s={seed} 'BEGIN { srand(s); print \"x,c\"; \
                        for (i = 0; i < {rows}; i++) print int(rand() * 1000000) \",a\" }' {data} > {out}";

fn planned(options: &str) -> Folder {
    let folder = Folder::new();
    folder.write("columns.toml", COLUMNS);
    folder.write("data.csv", DATA);
    folder.run(&format!("{PLAN} {options}")).exits(0);
    folder
}

fn execute(folder: &Folder, command: &str, options: &[&str]) -> CommandResult {
    let mut program = dpscope(folder.path());
    program.args(["generator", "run", "audit", "--quiet", "--command", command]).args(options);
    program.output().unwrap().into()
}

/// A planned folder whose runs this command made.
fn executed(command: &str) -> Folder {
    let folder = planned("");
    execute(&folder, command, &[]).exits(0);
    folder
}

fn report(folder: &Folder, exit: i32) -> Value {
    folder.run("audit generator audit --json").exits(exit).json()
}

/// A faithful run, except that `with` is executed where the data have the target row.
fn where_target(with: &str) -> String {
    format!("if grep -q 3,b {{data}}; then {with}; else {FAITHFUL}; fi")
}

#[test]
fn a_generator_without_access_to_the_data_shows_nothing() {
    let folder = executed(FAITHFUL);
    let report = report(&folder, 0);
    assert_eq!(
        (&report["verdict"], &report["failed"]),
        (&"not-refuted".into(), &[0, 0][..].into())
    );
    assert_eq!(report["checked_data"], true);
    assert_eq!(report["findings"], Value::Array(Vec::new()));
    let text = folder.run("audit generator audit --plot scores.svg").exits(0).stdout;
    assert!(text.contains("no proof of privacy"), "{text}");
    assert!(String::from_utf8(folder.read("scores.svg")).unwrap().contains("claimed"));
    // finished runs are kept
    let again = execute(&folder, "false {data} {seed} {out}", &[]).exits(0);
    assert!(again.stdout.starts_with("0 runs executed"), "{}", again.stdout);
}

#[test]
fn a_generator_that_copies_the_target_is_refuted() {
    let copies = FAITHFUL.replace(",a\\\"", ",b\\\"").replace(",a\" }", ",b\" }");
    let report = report(&executed(&where_target(&copies)), 3);
    assert_eq!(report["verdict"], "refuted");
    let number = |name: &str| report["attack"][name].as_f64().unwrap();
    assert!(number("epsilon") > 0.5 && number("epsilon") <= number("ceiling"), "{report}");
}

#[test]
fn what_cannot_refute_the_claim_is_inconclusive() {
    // runs that all fail
    let folder = executed(&where_target("exit 7"));
    for run in 0..60 {
        let file = folder.at(&format!("audit/without/{run:04}.csv"));
        fs::remove_file(file).unwrap();
        folder.write(&format!("audit/without/{run:04}.failed"), "exit status: 7\n");
    }
    let text = folder.run("audit generator audit").exits(6).stdout;
    let failed = "INCONCLUSIVE: ε = 0.5 is claimed, and 60 of 60 runs of a world failed";
    assert!(text.starts_with(failed), "{text}");
    assert_eq!(report(&folder, 6)["verdict"], "inconclusive");
    // a claim above the ceiling
    let folder = executed(FAITHFUL);
    let manifest = String::from_utf8(folder.read("audit/manifest.toml")).unwrap();
    let above = manifest.replace("epsilon = 0.5", "epsilon = 5.0");
    assert_ne!(above, manifest);
    folder.write("audit/manifest.toml", above);
    let text = folder.run("audit generator audit").exits(6).stdout;
    assert!(text.contains("so few runs cannot show more than ε = 5"), "{text}");
    assert!(text.contains("not tested") && !text.contains("Not refuted"), "{text}");
}

#[test]
fn failures_that_depend_on_the_target_are_a_leak() {
    let cases = [
        ("echo broken >&2; exit 7", "exit status: 7"),
        (": {seed} {out}", "wrote nothing"),
        ("echo {seed} > {out}", "column 1 is"),
        (
            "printf 'x,c\\nNaN,a\\n1,a\\n1,a\\n1,a\\n' > {out}; : {seed}",
            "`NaN` is not a finite number",
        ),
        ("printf 'x,c\\n1,z\\n1,a\\n1,a\\n1,a\\n' > {out}; : {seed}", "`z` is not one of"),
        ("printf 'x,c\\n1,a\\n' > {out}; : {seed}", "has 1 rows, and the manifest says 4"),
    ];
    for (with, reason) in cases {
        let folder = executed(&where_target(with));
        let report = report(&folder, 3);
        assert_eq!(report["failed"], serde_json::json!([60, 0]), "{with}: {report}");
        let says = report["findings"][0]["says"].as_str().unwrap();
        assert!(says.contains("with/0000") && says.contains(reason), "{with}: {says}");
    }
    let folder = executed(&where_target("echo broken >&2; exit 7"));
    assert_eq!(folder.read("audit/with/0003.stderr"), b"broken\n");
}

#[test]
fn runs_that_hang_or_flood_the_disk_are_ended() {
    let folder = planned("");
    // a child of the shell hangs: its whole group is ended
    execute(
        &folder,
        &where_target("sh -c 'tail -f /dev/null'; :"),
        &["--timeout", "1", "--jobs", "60"],
    )
    .exits(0);
    let reason = String::from_utf8(folder.read("audit/with/0000.failed")).unwrap();
    assert!(reason.contains("longer than --timeout 1"), "{reason}");
    let flood = where_target("yes {seed} > {out}");
    let folder = planned("");
    execute(&folder, &flood, &["--max-bytes", "100000"]).exits(0);
    let reason = String::from_utf8(folder.read("audit/with/0000.failed")).unwrap();
    assert!(reason.contains("wrote more than --max-bytes 100000"), "{reason}");
    assert!(fs::metadata(folder.at("audit/with/0000.invalid.csv")).unwrap().len() <= 100_000);
    report(&folder, 3);
}

#[test]
fn retries_have_seeds_of_their_own_and_are_counted() {
    let folder = planned("--retries 2");
    let flaky = format!(
        "echo {{out}} >> outputs; once=$(echo {{out}} | cut -d. -f1).once; \
         if test -e $once; then {FAITHFUL}; else touch $once; exit 1; fi"
    );
    let ended = execute(&folder, &flaky, &[]).exits(0);
    assert!(ended.stdout.contains("60 done, 0 failed, 60 after retries"), "{}", ended.stdout);
    // two attempts in each world and the check of the seed, each with a file of its own
    let outputs = String::from_utf8(folder.read("outputs")).unwrap();
    let names: BTreeSet<&str> = outputs.lines().collect();
    assert_eq!((names.len(), outputs.lines().count()), (240, 240));
    let report = report(&folder, 0);
    assert_eq!(report["findings"][0]["name"], "retried-runs", "{report}");
}

#[test]
fn an_interrupted_execution_continues_to_the_same_report() {
    let whole = report(&executed(FAITHFUL), 0);
    let folder = planned("");
    // the command of one run interrupts the program, which is the parent of its shell
    folder.write("stop", "");
    let interrupts =
        "case {out} in *0007*) if test -e stop; then rm stop; kill -INT $PPID; fi;; esac";
    let command = format!("{interrupts}; {FAITHFUL}");
    let stopped = execute(&folder, &command, &["--jobs", "1"]).exits(130);
    assert!(!folder.at("stop").exists(), "{}", stopped.stderr);
    let finished = || {
        let files = fs::read_dir(folder.at("audit/with")).unwrap().map(|file| file.unwrap());
        let csv = files.filter(|file| file.file_name().to_string_lossy().ends_with(".csv"));
        csv.map(|file| (file.file_name(), file.metadata().unwrap().modified().unwrap()))
            .collect::<std::collections::BTreeMap<_, _>>()
    };
    let before = finished();
    assert!(!before.is_empty() && before.len() < 60, "{before:?}");
    folder.run("audit generator audit").refuses(2, &["is missing", "dpscope generator run audit"]);
    execute(&folder, &command, &[]).exits(0);
    let after = finished();
    assert!(before.iter().all(|(name, modified)| after.get(name) == Some(modified)));
    let mut continued = report(&folder, 0);
    continued["elapsed_ms"] = whole["elapsed_ms"].clone();
    assert_eq!(continued, whole);
    let nothing = execute(&folder, "exit 1; : {data} {seed} {out}", &[]).exits(0);
    assert!(nothing.stdout.contains("60 done"), "{}", nothing.stdout);
}

#[test]
fn a_generator_that_ignores_its_seed_is_named() {
    let folder = executed(
        &FAITHFUL
            .replace("{seed}", "1; : {seed}")
            .replace("-v s=1; : {seed}", "-v s=1 -v t={seed}"),
    );
    let refused = folder.run("audit generator audit");
    refused.refuses(2, &["with/0001.csv", "rows of with/0000", "ignores its seed", "duplicates"]);
    // other rows for an equal seed
    let counted = FAITHFUL.replace(
        "srand(s)",
        "srand(s); getline n < \"count\"; print n + 1 > \"count\"; for (k = 0; k <= n; k++) rand()",
    );
    let folder = planned("");
    folder.write("count", "0\n");
    execute(&folder, &counted, &["--jobs", "1"]).exits(0);
    assert_eq!(report(&folder, 0)["findings"][0]["name"], "seed-ignored");
}

#[test]
fn files_that_do_not_fit_the_plan_are_refused_by_name() {
    let folder = executed(FAITHFUL);
    let refuses = |parts: &[&str]| {
        folder.run("audit generator audit").refuses(2, parts);
    };
    let file = "audit/without/0007.csv";
    let old = folder.read(file);
    folder.write(file, "x,c\n1,a\n2,a\n3,a\n");
    refuses(&["without/0007.csv", "3 rows", "manifest says 4"]);
    folder.write(file, "x,d\n1,a\n");
    refuses(&["without/0007.csv", "column 2 is `d`"]);
    folder.write(file, "x,c\n1,a\n2,a\n3,a\n1000001,a\n");
    refuses(&["line 5", "within the public bounds"]);
    folder.write(file, folder.read("audit/without/0006.csv"));
    refuses(&["without/0007.csv", "rows of without/0006"]);
    fs::remove_file(folder.at(file)).unwrap();
    refuses(&["without/0007.csv", "is missing", "dpscope generator run audit"]);
    folder.write(file, &old);
    folder.write("audit/without/0007.failed", "why\n");
    refuses(&["0007.failed", "both done and failed"]);
    fs::remove_file(folder.at("audit/without/0007.failed")).unwrap();
    folder.write("audit/with/0060.csv", &old);
    refuses(&["with/0060.csv", "one run more than the 60"]);
    fs::remove_file(folder.at("audit/with/0060.csv")).unwrap();
    let data = folder.read("audit/data/without.csv");
    folder.write("audit/data/without.csv", DATA);
    refuses(&["without.csv", "contains the target row"]);
    folder.write("audit/data/without.csv", "x,c\n1,a\n");
    refuses(&["with.csv", "must differ by this row alone"]);
    folder.write("audit/data/without.csv", data);
    report(&folder, 0);
}

#[test]
fn bounds_from_the_data_give_no_epsilon() {
    let folder = Folder::new();
    folder.write("data.csv", DATA);
    let plan = PLAN.replace("--columns columns.toml", "--bounds-from-data");
    folder.run(&plan).exits(0);
    let copy = "cp {data} {out}; echo 1,a >> {out}; : {seed}";
    execute(
        &folder,
        &format!("if grep -q 3,b {{data}}; then {copy}; else {copy}; echo 1,a >> {{out}}; fi"),
        &[],
    )
    .exits(0);
    let report = report(&folder, 0);
    assert!(report.get("attack").is_none() && report.get("verdict").is_none(), "{report}");
    assert_eq!(report["indicative"]["copied_share"], 1.0);
    assert_eq!(report["findings"][0]["name"], "bounds-from-data");
    assert!(report["headline"].as_str().unwrap().starts_with("No ε"));
}

#[test]
fn plans_are_refused_with_their_options() {
    let folder = planned("");
    folder.run(PLAN).refuses(2, &["manifest.toml", "never overwritten"]);
    let other = PLAN.replace("--out audit", "--out other");
    let plan = |from: &str, to: &str| folder.run(&other.replace(from, to));
    plan("--columns columns.toml ", "").refuses(2, &["--columns is missing", "--bounds-from-data"]);
    plan("--target-row 2", "--target-row 3").refuses(2, &["--target-row 3", "3 rows"]);
    plan("--target-row 2", "").refuses(2, &["--target-row is missing"]);
    plan("--target-row 2", "--target-cells 1,a").refuses(2, &["contains the target row"]);
    plan("--target-row 2", "--target-cells 1,q").refuses(2, &["target", "`q` is not one of"]);
    plan("--runs 60", "--runs 19").refuses(2, &["--runs 19", "at least 20"]);
    folder.run("plan generator --claim 1 --epsilon 50").refuses(2, &["--epsilon"]);
    execute(&folder, "cat {data} {out}", &[]).refuses(2, &["--command lacks {seed}"]);
    let stopped = execute(&folder, "exit 1; {data} {seed} {out}", &[]);
    stopped.refuses(2, &["no run succeeded", "the first 3 runs", "--allow-failures"]);
    assert!(!folder.at("audit/with/0000.failed").exists());
    folder.write("audit/manifest.toml", "format = 1\n");
    folder.run("audit generator audit").refuses(2, &["manifest.toml", "format"]);
    folder.run("audit generator absent").refuses(2, &["absent"]);
}

const ROWS: &str =
    "canaries rows --data data.csv --columns columns.toml --rows 200 --claim 1 --out one";
/// Releases the rows of the data, over and over.
const COPIES: &str = "awk -v n={rows} 'NR == 1 { print; next } { row[NR - 2] = $0 } \
                      END { for (i = 0; i < n; i++) print row[i % (NR - 1)] }' {data} > {out}; : {seed}";

fn one_run(options: &str, command: &str) -> Folder {
    let folder = Folder::new();
    folder.write("columns.toml", COLUMNS);
    folder.write("data.csv", DATA);
    folder.run(&format!("{ROWS} {options}")).exits(0);
    let mut program = dpscope(folder.path());
    let ended: CommandResult =
        program.args(["generator", "run", "one", "--command", command]).output().unwrap().into();
    ended.exits(0);
    folder
}

#[test]
fn one_run_that_copies_its_data_is_refuted_and_a_blind_one_is_not() {
    for options in ["--count 100", "--count 2000 --poisson 40", "--count 100 --scoring count"] {
        let is_exact = !options.contains("scoring");
        let blind = one_run(options, FAITHFUL).run("audit generator one --json").exits(0).json();
        assert_eq!(blind["verdict"]["outcome"], "not-refuted", "{options}: {blind}");
        if is_exact {
            let copied = one_run(options, COPIES).run("audit generator one --json").exits(3).json();
            assert_eq!(copied["verdict"]["outcome"], "refuted", "{options}: {copied}");
        }
    }
}

#[test]
fn canaries_that_do_not_match_their_coins_are_refused() {
    let folder = one_run("--count 100", FAITHFUL);
    let refuses = |parts: &[&str]| {
        folder.run("audit generator one").refuses(2, parts);
    };
    let data = folder.read("one/data/with.csv");
    folder.write("one/data/with.csv", DATA);
    refuses(&["with.csv", "lacks it, and its coin is 1", "canary"]);
    let canaries = String::from_utf8(folder.read("one/canaries.csv")).unwrap();
    let all = String::from_utf8(data.clone()).unwrap() + canaries.split_once('\n').unwrap().1;
    folder.write("one/data/with.csv", all);
    refuses(&["with.csv", "contains it, and its coin is 0"]);
    folder.write("one/data/with.csv", data);
    folder.write("one/canaries.csv", canaries.lines().take(50).collect::<Vec<_>>().join("\n"));
    refuses(&["canaries.csv", "49 rows", "100 coins"]);
    folder.run(&format!("{ROWS} --count 100")).refuses(2, &["manifest.toml", "never overwritten"]);
    let other = ROWS.replace("--out one", "--out other");
    folder.run(&format!("{other} --count 4")).refuses(2, &["--count"]);
    folder
        .run(&format!("{other} --count 9 --poisson 10"))
        .refuses(2, &["--poisson", "larger pool"]);
    folder.write(
        "columns.toml",
        "[[columns]]\nname = \"x\"\nkind = \"integer\"\nlow = 0\nhigh = 3\n",
    );
    folder.write("data.csv", "x\n1\n");
    folder.run(&format!("{other} --count 5")).refuses(2, &["--count 5", "too few rows"]);
}
