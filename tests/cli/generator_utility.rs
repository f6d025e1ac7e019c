//! `dpscope generator utility`.
#![cfg(unix)]

use dpscope_tests::cli::{CommandResult, dpscope, number};

use crate::Folder;

const COLUMNS: &str = "[[columns]]\nname = \"x\"\nkind = \"number\"\nlow = 0.0\nhigh = 10.0\n\n\
                       [[columns]]\nname = \"ill\"\nkind = \"category\"\nnames = [\"no\", \"yes\"]\n";
/// Releases the rows of the data, over and over.
const COPIES: &str = "awk -v n={rows} 'NR == 1 { print; next } { row[NR - 2] = $0 } \
                      END { for (i = 0; i < n; i++) print row[i % (NR - 1)] }' {data} > {out}; : {seed}";
/// Looks at nothing but the seed.
const BLIND: &str = "awk -v s={seed} 'BEGIN { srand(s); print \"x,ill\"; for (i = 0; i < {rows}; i++) \
                     print int(rand() * 10) \",\" (rand() < 0.5 ? \"no\" : \"yes\") }' {data} > {out}";

fn label(x: f64) -> &'static str {
    if x > 5.0 { "yes" } else { "no" }
}

fn rows(count: u32, shift: f64) -> String {
    let x = |at: u32| f64::from(at * 3 % 10) + shift;
    let row = |at: u32| format!("{},{}\n", x(at), label(x(at)));
    "x,ill\n".to_owned() + &(0..count).map(row).collect::<String>()
}

fn executed(folder: &Folder, name: &str, command: &str) {
    let plan = "plan generator --claim 0.5 --delta 0 --data data.csv --columns columns.toml --target-cells \
                9.5,no --rows 30 --runs 60 --seed 5 --allow-duplicates";
    folder.run(&format!("{plan} --out {name}")).exits(0);
    let mut program = dpscope(folder.path());
    let words = ["generator", "run", name, "--quiet", "--command", command];
    CommandResult::from(program.args(words).output().unwrap()).exits(0);
}

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("columns.toml", COLUMNS);
    folder.write("data.csv", rows(20, 0.0));
    folder.write("held_out.csv", rows(20, 0.25));
    folder
}

#[test]
fn copies_are_useful_and_leak_and_blind_rows_are_neither() {
    let folder = folder();
    executed(&folder, "copies", COPIES);
    executed(&folder, "blind", BLIND);
    let words = "generator utility copies blind --test-data held_out.csv --label ill";
    let report = folder.run(&format!("{words} --json")).exits(0).json();
    let of = |at: usize, path: &str| number(&report["utility"]["generators"][at], path);
    assert_eq!(report["utility"]["generators"][1]["name"], "blind");
    assert!(of(0, "/auroc/mean") > 0.9 && of(0, "/auprc/mean") > 0.9, "{report:#}");
    assert!(of(1, "/auroc/mean") < 0.8, "{report:#}");
    assert_eq!([of(0, "/claimed_epsilon"), of(1, "/measured_epsilon")], [0.5, 0.0]);
    assert!(of(0, "/measured_epsilon") > 0.4, "{report:#}");
    assert_eq!(of(0, "/runs"), 25.0);
    assert!(number(&report, "/utility/real/auroc/mean") > 0.9);
    let text = folder.run(&format!("{words} --runs 3 --plot utility.svg")).exits(0).stdout;
    assert!(text.contains("classifiers and 3 runs") && text.contains("real rows"), "{text}");
    assert!(String::from_utf8(folder.read("utility.svg")).unwrap().contains("copies"));
    // failed runs are left out
    folder.write("blind/with/0001.failed", "exit status: 1\n");
    std::fs::remove_file(folder.at("blind/with/0001.csv")).unwrap();
    let report = folder.run(&format!("{words} --json")).exits(0).json();
    assert_eq!(report["utility"]["generators"][1]["runs"], 24);
}

#[test]
fn tests_that_show_nothing_are_refused() {
    let folder = folder();
    executed(&folder, "blind", BLIND);
    let words = "generator utility blind --test-data held_out.csv --label ill";
    let refuses = |words: &str, parts: &[&str]| folder.run(words).refuses(2, parts);
    refuses(&words.replace("ill", "x"), &["--label", "`x`", "categorical"]);
    refuses(&format!("{words} --positive maybe"), &["--positive", "no category `maybe`"]);
    refuses(
        &words.replace("held_out", "data"),
        &["data.csv", "all its rows are in", "hold out rows"],
    );
    folder.write("one.csv", "x,ill\n0.5,no\n");
    refuses(
        &words.replace("held_out", "one"),
        &["one.csv", "0 of 1 examples", "with the category"],
    );
    folder.write("other.csv", "x,sick\n0.5,no\n");
    refuses(&words.replace("held_out", "other"), &["other.csv", "`sick`"]);
    folder.write("narrow/manifest.toml", {
        let manifest = String::from_utf8(folder.read("blind/manifest.toml")).unwrap();
        manifest.replace("high = 10.0", "high = 11.0")
    });
    refuses(&words.replace("blind", "blind narrow"), &["narrow", "not those of blind"]);
}
