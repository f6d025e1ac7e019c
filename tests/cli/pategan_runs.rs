//! Files of runs of PATE-GAN: shards, checkpoints, and what they belong to.

use serde_json::Value;

use crate::Folder;

const AUDIT: &str = "audit pategan --runs 60 --iterations 20 --fault E1,S1 --seed 5";

/// A report without the facts of its execution.
fn report(folder: &Folder, words: &str, exit: i32) -> Value {
    let mut report = folder.run(&format!("{words} --json")).exits(exit).json();
    report["elapsed_ms"] = Value::Null;
    report["seed_source"] = Value::Null;
    report
}

fn shards() -> Folder {
    let folder = Folder::new();
    for shard in 1..=3 {
        let run = folder.run(&format!("{AUDIT} --shard {shard}/3 --out {shard}.json")).exits(0);
        assert!(run.stdout.is_empty(), "{}", run.stdout);
        assert!(
            run.stderr.contains("all 60 runs of each world, and 20 are done"),
            "{}",
            run.stderr
        );
    }
    folder
}

#[test]
fn shards_in_any_order_equal_the_undivided_audit() {
    let folder = shards();
    let whole = report(&folder, AUDIT, 3);
    assert_eq!(report(&folder, "merge 3.json 1.json 2.json", 3), whole);
    folder.run("merge 1.json 3.json --allow-gaps --out sum.json").exits(0);
    assert_eq!(report(&folder, "resume sum.json", 3), whole);
    assert_eq!(report(&folder, "merge sum.json", 3), whole);
    folder.run("merge sum.json --plot scores.svg").exits(3);
    assert!(String::from_utf8(folder.read("scores.svg")).unwrap().contains("AUC"));
}

#[test]
fn files_of_other_audits_are_refused() {
    let folder = shards();
    folder
        .run(&format!("{AUDIT} --seed 6 --shard 2/3 --out seed.json").replace("--seed 5 ", ""))
        .exits(0);
    let good = folder.read("2.json");
    let text = String::from_utf8(good.clone()).unwrap();
    folder.write("cut.json", &good[..good.len() / 2]);
    folder.write("edited.json", text.replacen("\"iterations\":20", "\"iterations\":21", 1));
    folder
        .run("audit gaussian --noise-multiplier 1 --dimension 1e4 --seed 5 --out gaussian.json")
        .exits(0);
    for (files, parts) in [
        ("1.json 1.json", ["1.json: ", "0..20", "merge each shard once"]),
        ("1.json seed.json", ["seed.json: ", "seed: 5 here, 6 there", "one plan"]),
        ("1.json cut.json", ["cut.json: ", "not a dpscope artefact", "name a file"]),
        ("1.json edited.json", ["edited.json: ", "checksum", "copy it again"]),
        ("1.json gaussian.json", ["gaussian.json: ", "noisy-sums/1", "pategan-runs/1"]),
    ] {
        folder.run(&format!("merge {files} --allow-gaps")).refuses(5, &parts);
    }
    folder
        .run(&format!("{AUDIT} --fault N1 --checkpoint 1.json").replace("--fault E1,S1 ", ""))
        .refuses(5, &["1.json", "faults"]);
    for (options, part) in [
        ("--claim 1", "--claim"),
        ("--canary-file c.npz", "--canary-file"),
        ("--data rows.csv --columns rows.toml", "--data"),
        ("--device gpu", "--device"),
    ] {
        let code = if part == "--device" { 4 } else { 2 };
        folder.run(&format!("resume 1.json {options}")).refuses(code, &[part]);
    }
    folder.run("merge gaussian.json --data a.csv --columns a.toml").refuses(2, &["--data"]);
}

#[test]
fn runs_of_a_table_need_the_same_table_again() {
    let folder = Folder::new();
    let column = |name: &str| {
        format!("[[columns]]\nname = \"{name}\"\nkind = \"integer\"\nlow = 0\nhigh = 1\n")
    };
    folder.write("bits.toml", ["a", "b"].map(column).concat());
    folder.write("bits.csv", "a,b\n0,0\n0,0\n0,1\n1,1\n");
    let audit = "audit pategan --data bits.csv --columns bits.toml --rows 3 --runs 40 --iterations 5 \
                 --seed 5 --candidates 3 --candidate-runs 20";
    let whole = report(&folder, audit, 0);
    folder.run(&format!("{audit} --shard 1/2 --out half.json")).exits(0);
    folder.run("resume half.json").refuses(2, &["--data", "--columns"]);
    let unused = ["--canary-file has no effect", "`audit pategan`"];
    folder.run("resume half.json --canary-file x.npz").refuses(2, &unused);
    folder.write("other.csv", "a,b\n0,0\n0,0\n0,1\n1,0\n");
    folder
        .run("resume half.json --data other.csv --columns bits.toml")
        .refuses(2, &["other.csv", "started with"]);
    folder.write("wide.toml", ["a", "b"].map(column).concat().replace("high = 1", "high = 2"));
    folder
        .run("resume half.json --data bits.csv --columns wide.toml")
        .refuses(2, &["wide.toml", "started with"]);
    folder.run(&format!("{audit} --shard 2/2 --out rest.json")).exits(0);
    let files = "--data bits.csv --columns bits.toml";
    assert_eq!(report(&folder, &format!("merge rest.json half.json {files}"), 0), whole);
    // a finished checkpoint prints its report again
    assert_eq!(report(&folder, &format!("{audit} --checkpoint done.json"), 0), whole);
    assert_eq!(report(&folder, &format!("resume done.json {files}"), 0), whole);
    assert_eq!(report(&folder, &format!("{audit} --checkpoint done.json"), 0), whole);
    folder
        .run(&format!("{audit} --fault S1 --out large.json").replace("--runs 40", "--runs 1e5"))
        .refuses(2, &["MiB", "--runs", "--out"]);
}
