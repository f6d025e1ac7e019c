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
        let mut report = report(&format!("--runs 40 --threads {threads} --fault E1"), 0);
        report["elapsed_ms"] = Value::Null;
        report
    };
    assert_eq!(of(1), of(3));
}

#[test]
fn refusals_name_their_options() {
    let folder = Folder::new();
    folder.run("audit pategan --fault E8").refuses(2, &["--epsilon", "--fault E8"]);
    folder.run("audit pategan --fault X9").refuses(2, &["X9"]);
    folder.run("audit pategan --runs 19").refuses(2, &["19 runs"]);
    folder.run("audit pategan --gamma 1 --epsilon 1").refuses(2, &["--epsilon", "--gamma"]);
}
