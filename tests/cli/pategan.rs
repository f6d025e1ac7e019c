//! `dpscope audit pategan`.

use serde_json::Value;

use crate::Folder;

fn report(arguments: &str, exit: i32) -> Value {
    let run = Folder::new().run(&format!("audit pategan --seed 1 --json {arguments}")).exits(exit);
    serde_json::from_str(&run.stdout).unwrap()
}

fn fired(report: &Value) -> Vec<String> {
    let checks = report["checks"].as_array().unwrap().iter();
    let names = checks.flat_map(|check| check["faults"].as_array().unwrap());
    names.map(|name| name.as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_faithful_mechanism_leaks_nothing() {
    let report = report("", 0);
    let auc = |name: &str| report["auc"][name].as_f64().unwrap();
    assert!(auc("lower") < 0.5 && auc("upper") > 0.5, "{report}");
    assert!(report["epsilon"].as_f64().unwrap() < 1.0);
    assert_eq!(report["verdict"], "not-refuted");
    assert!(fired(&report).is_empty());
}

#[test]
fn rows_and_bounds_from_the_data_show_in_the_attack() {
    for (fault, auc) in [("E1", 0.8), ("O3", 0.99)] {
        let report = report(&format!("--fault {fault}"), 3);
        assert!(report["auc"]["value"].as_f64().unwrap() > auc, "{report}");
        assert!(fired(&report).contains(&fault.to_owned()));
    }
    assert_eq!(fired(&report("--harness-faults", 3)), ["E1"]);
}

#[test]
fn every_fault_runs_and_a_silent_attack_is_no_proof() {
    let report = report("--fault U1,U3,S1 --runs 40", 0);
    assert_eq!(fired(&report), ["U1", "S1", "U3"]);
    assert!(report["says"].as_str().unwrap().contains("no proof"));
    let folder = Folder::new();
    let faults = "O6,O4,E3,E10,E11,T5".to_owned();
    folder.run(&format!("audit pategan --runs 20 --iterations 2 --fault {faults}")).exits(0);
    folder.run("audit pategan --runs 20 --iterations 2 --fault U1 --fail-on-finding").exits(3);
}

#[test]
fn threads_change_nothing() {
    let of = |threads| {
        let mut report = report(&format!("--runs 40 --threads {threads} --fault E1"), 3);
        report["elapsed_ms"] = Value::Null;
        report
    };
    assert_eq!(of(1), of(3));
}

const BITS: &str = "a,b,c\n0,0,0\n0,0,0\n0,0,0\n0,0,0\n1,1,1\n";

fn integer(name: &str, high: u32) -> String {
    format!("[[columns]]\nname = \"{name}\"\nkind = \"integer\"\nlow = 0\nhigh = {high}\n")
}

/// The worst case as a file.
fn with_worst_case() -> Folder {
    let folder = Folder::new();
    folder.write("bits.csv", BITS);
    folder.write("bits.toml", ["a", "b", "c"].map(|name| integer(name, 1)).concat());
    folder
}

const OF_BITS: &str = "audit pategan --data bits.csv --columns bits.toml --rows 4 --seed 1";

#[test]
fn the_worst_case_from_a_file_is_the_built_in_one() {
    for (options, exit) in [("", 0), ("--fault E1", 3), ("--fault E2,O2,S1", 0)] {
        let options = &format!("--runs 60 {options}");
        let mut built_in = report(options, exit);
        let folder = with_worst_case();
        let run = folder.run(&format!("{OF_BITS} --json --target-row 4 {options}"));
        let mut found = run.exits(exit).json();
        let data = found.as_object_mut().unwrap().remove("data").unwrap();
        assert_eq!((&data["target_row"], &data["target_choice"]), (&4.into(), &"stated".into()));
        assert_eq!(data.get("candidates"), None);
        assert_eq!(data["digest"].as_str().unwrap().len(), 64);
        // the rows of the answer say where the data are from
        for of_this_run in ["elapsed_ms", "answer"] {
            built_in[of_this_run] = Value::Null;
            found[of_this_run] = Value::Null;
        }
        assert_eq!(built_in, found);
    }
}

#[test]
fn the_exposed_row_is_found_and_the_report_is_called_private() {
    let folder = with_worst_case();
    let search = "--runs 40 --fault O3 --candidates 5 --candidate-runs 40";
    let found = folder.run(&format!("{OF_BITS} --json {search}")).exits(3).json();
    let data = &found["data"];
    assert_eq!((&data["target_row"], &data["target_choice"]), (&4.into(), &"searched".into()));
    assert_eq!((&data["candidates"], &data["candidate_runs"]), (&5.into(), &40.into()));
    let plotted = folder.run(&format!("{OF_BITS} {search} --plot scores.svg --threads 1"));
    let text = plotted.exits(3).stdout;
    assert!(text.contains("row 4 of the data, the most exposed of 5 candidates"), "{text}");
    assert!(text.contains("private data"), "{text}");
    assert!(String::from_utf8(folder.read("scores.svg")).unwrap().contains("AUC"));
    // the number of rows stays unknown
    assert!(data.get("rows").is_none() && !text.contains("5 rows"), "{text}");
}

#[test]
fn wide_tables_are_audited() {
    let folder = Folder::new();
    let numbers: Vec<String> = (0..29).map(|at| format!("x{at}")).collect();
    let columns = numbers.iter().map(|name| {
        let bounds = "low = -10.0\nhigh = 10.0";
        format!("[[columns]]\nname = \"{name}\"\nkind = \"number\"\n{bounds}\n")
    });
    let names: Vec<String> = (0..50).map(|at| format!("\"n{at}\"")).collect();
    let names = names.join(", ");
    let category = format!("[[columns]]\nname = \"c\"\nkind = \"category\"\nnames = [{names}]\n");
    folder.write("wide.toml", columns.collect::<String>() + &category);
    let row = |row: usize| {
        let value = |at: usize| match row {
            17 => -10.0,
            _ => f64::from(((row * 7 + at * 13) % 21) as u32) / 2.0,
        };
        let cells: String = (0..29).map(|at| format!("{},", value(at))).collect();
        cells + &format!("n{}\n", row % 50)
    };
    let rows: String = (0..60).map(row).collect();
    folder.write("wide.csv", numbers.join(",") + ",c\n" + &rows);
    let command = "audit pategan --data wide.csv --columns wide.toml --rows 10 --runs 20 --seed 1 \
                   --iterations 2 --candidates 2 --candidate-runs 20 --teachers 5 --batch-size 8";
    let found = folder.run(&format!("{command} --json")).exits(0).json();
    assert_eq!(found["data"]["columns"], 30);
    assert_eq!(found["settings"]["rows"], 10);
    folder.run(&format!("{command} --fault O6 --label c")).exits(0);
}

#[test]
fn tables_that_cannot_be_audited_are_refused_with_the_remedy() {
    let folder = with_worst_case();
    let refuses = |options: &str, words: &[&str]| {
        folder
            .run(&format!("audit pategan --columns bits.toml --runs 20 {options}"))
            .refuses(2, words)
    };
    refuses("--data bits.csv", &["--rows"]);
    refuses("--data none.csv --rows 4", &["none.csv"]);
    refuses("--data bits.csv --rows 0", &["rows is 0", "--rows"]);
    refuses("--data bits.csv --rows 4 --target-row 5", &["--target-row 5", "0 to 4"]);
    refuses("--data bits.csv --rows 4 --target-row 0 --candidates 2", &["--candidates"]);
    refuses("--data bits.csv --rows 4 --candidates 65", &["65", "--candidates"]);
    refuses("--data bits.csv --rows 4 --candidate-runs 19", &["19", "--candidate-runs"]);
    refuses("--data bits.csv --rows 4 --fault O6", &["O6", "--label"]);
    refuses("--data bits.csv --rows 4 --label a", &["--label", "bits.toml"]);
    let names: Vec<String> = (0..64).map(|at| format!("\"n{at}\"")).collect();
    let column = |at: usize| {
        let names = names.join(",");
        format!("[[columns]]\nname = \"c{at}\"\nkind = \"category\"\nnames = [{names}]\n")
    };
    folder.write("many.toml", (0..64).map(column).collect::<String>());
    let line = |cell: fn(usize) -> String| (0..64).map(cell).collect::<Vec<_>>().join(",") + "\n";
    let rows = [line(|at| format!("c{at}")), line(|_| "n0".to_owned()), line(|_| "n1".to_owned())];
    folder.write("many.csv", rows.concat());
    folder
        .run("audit pategan --columns many.toml --data many.csv --rows 4 --runs 1e5 --threads 1")
        .refuses(2, &["GiB", "--runs", "--rows"]);
    folder.write("far.csv", "a,b,c\n0,0,0\n0,2,0\n");
    refuses("--data far.csv --rows 4", &["far.csv", "line 3", "`b`", "--columns"]);
    folder.write("one.csv", "a,b,c\n0,0,0\n");
    refuses("--data one.csv --rows 4", &["one.csv", "1 rows"]);
    let names: Vec<String> = (0..20_000).map(|at| format!("\"{at}\"")).collect();
    let names = names.join(",");
    let wide = format!("[[columns]]\nname = \"a\"\nkind = \"category\"\nnames = [{names}]\n");
    folder.write("names.toml", wide);
    folder.write("names.csv", "a\n1\n2\n");
    folder
        .run("audit pategan --data names.csv --columns names.toml --rows 4 --threads 1")
        .refuses(2, &["GiB"]);
    folder.run("audit pategan --columns bits.toml").refuses(2, &["--data"]);
}

#[test]
fn refusals_name_their_options() {
    let folder = Folder::new();
    folder.run("audit pategan --fault E8").refuses(2, &["--epsilon", "--fault E8"]);
    folder.run("audit pategan --fault X9").refuses(2, &["X9"]);
    folder.run("audit pategan --runs 19").refuses(2, &["19 runs"]);
    folder.run("audit pategan --gamma 1 --epsilon 1").refuses(2, &["--epsilon", "--gamma"]);
}
