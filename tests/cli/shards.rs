//! `--shard`, `--out` and `dpscope merge`.

use std::fs;

use dpscope_tests::cli::{number, text};

use crate::{Folder, SMALL};

/// Three shards of one plan, and one of another.
fn shards() -> Folder {
    let folder = Folder::new();
    for i in 1..=3 {
        folder.run(&format!("{SMALL} --shard {i}/3 --out {i}.json")).exits(0);
    }
    folder.run(&format!("{SMALL} --delta 1e-6 --shard 2/3 --out other.json")).exits(0);
    folder
}

#[test]
fn shards_in_any_order_equal_the_undivided_run() {
    let folder = shards();
    let whole = folder.run(&format!("{SMALL} --json")).exits(0).json();
    for order in ["1 2 3", "3 1 2", "2 3 1"] {
        let files = order.replace(' ', ".json ");
        let merged = folder.run(&format!("merge {files}.json --json")).exits(0).json();
        for field in ["result", "histogram_digest", "uncorrected_maximum", "observations", "plan"] {
            assert_eq!(merged[field], whole[field], "{order}: {field}");
        }
        assert_eq!(text(&merged, "/seed_source"), "artefact");
    }
    // Merged in two steps.
    folder.run("merge 3.json 1.json --allow-gaps --out 13.json").exits(0);
    let merged = folder.run("merge 2.json 13.json --json").exits(0).json();
    assert_eq!(merged["result"], whole["result"]);
    // Shards of another division, and the claim.
    folder.run(&format!("{SMALL} --shard 1/2 --out a.json")).exits(0);
    folder.run(&format!("{SMALL} --shard 2/2 --out b.json")).exits(0);
    let merged = folder.run("merge a.json b.json --json --claim 0.1").exits(3).json();
    assert_eq!(merged["histogram_digest"], whole["histogram_digest"]);
}

#[test]
fn a_shard_alone_is_an_estimate() {
    let folder = shards();
    let alone = folder.run(&format!("{SMALL} --shard 1/3 --json --claim 20")).exits(6).json();
    assert_eq!(text(&alone, "/result/kind"), "estimate");
    assert!(
        text(&alone, "/findings/0/sentence").starts_with("10000 of 30000 planned observations")
    );

    folder.run("merge 1.json 3.json").refuses(5, &["5000..10000", "missing", "--allow-gaps"]);
    let merged = folder.run("merge 1.json 3.json --allow-gaps --json --claim 20").exits(6).json();
    assert_eq!(text(&merged, "/verdict/reason"), "coverage_lost");
    assert_eq!(text(&merged, "/result/kind"), "estimate");
    assert_eq!(number(&merged, "/observations/target"), 10_000.0);
}

/// Its options are those of the merge: a job that passes when they are ignored says nothing.
#[test]
fn shards_without_a_result_refuse_its_options() {
    let folder = Folder::new();
    let fedavg = "audit fedavg --noise-multiplier 1 --clients 40 --records-per-client 4 --rounds 6 \
                  --participation epochs:2 --local-epochs 1 --design poisson:30 --repeats 2 --seed 1";
    let one_run = "audit dpsgd --protocol one-run --noise-multiplier 1 --records 100 --batch-size 10 \
                   --canaries 20 --repeats 2 --seed 1";
    let gaussian = "audit gaussian --noise-multiplier 1 --dimension 1e3 --design poisson:50 \
                    --repeats 4 --seed 1";
    let pategan = "audit pategan --runs 40 --iterations 2 --seed 1";
    let of_all = [
        "--json",
        "--format junit",
        "--plot p.svg",
        "--report r.html",
        "--sarif s.sarif",
        "--fail-above 1",
        "--fail-on-finding",
    ];
    for words in [fedavg, one_run, gaussian, pategan] {
        let of_claim: &[&str] = if words == pategan { &[] } else { &["--claim 1", "--brief"] };
        for options in of_all.iter().chain(of_claim) {
            let option = options.split(' ').next().unwrap();
            let shard = folder.run(&format!("{words} --shard 2/2 {options}"));
            shard.refuses(2, &[option, "pass it to `dpscope merge`"]);
        }
    }
    assert!(folder.names().is_empty());
    folder.run(&format!("{pategan} --shard 2/2 --out 2.json")).exits(0);
    folder.run("merge 2.json --allow-gaps --json").refuses(2, &["--json", "`dpscope merge`"]);
    // a result of the part that is here
    let first = folder.run(&format!("{gaussian} --shard 1/2 --claim 90 --json")).exits(0).json();
    assert_eq!(number(&first, "/simulation/repeats"), 2.0);
}

#[test]
fn resuming_completes_a_merge_with_gaps() {
    let folder = shards();
    folder.run("merge 1.json 3.json --allow-gaps --out sum.json").exits(0);
    let filled = folder.run("resume sum.json --json").exits(0).json();
    let whole = folder.run(&format!("{SMALL} --json")).exits(0).json();
    assert_eq!(filled["result"], whole["result"]);
    assert_eq!(filled["histogram_digest"], whole["histogram_digest"]);
    assert_eq!(number(&filled, "/resumed_from"), 20_000.0);
}

#[test]
fn mismatched_shards_are_named() {
    let folder = shards();
    let good = folder.read("2.json");
    let text = String::from_utf8(good.clone()).unwrap();
    folder.write("schema.json", text.replacen("histograms/1", "histograms/9", 1));
    folder
        .write("edited.json", text.replacen("\"observations\":30000", "\"observations\":30002", 1));
    folder.write("cut.json", &good[..good.len() / 2]);
    folder.write("empty.json", "");
    folder.write("notes.txt", "observations: many\n");
    folder.write("report.json", folder.run(&format!("{SMALL} --json")).stdout);
    folder.run(&format!("{SMALL} --shard 1/2 --out half.json")).exits(0);
    for (files, parts) in [
        ("1.json 2.json 2.json 3.json", ["2.json: ", "5000..10000", "merge each shard once"]),
        ("half.json 2.json 3.json", ["2.json: ", "5000..7500", "merge each shard once"]),
        (
            "1.json other.json 3.json",
            ["other.json: ", "delta: 0.00001 here, 1e-6 there", "one plan"],
        ),
        ("1.json schema.json", ["schema.json: ", "dpscope.histograms/9", "use the version"]),
        ("1.json edited.json", ["edited.json: ", "checksum", "copy it again"]),
        ("cut.json", ["cut.json: ", "not a dpscope artefact", "name a file"]),
        ("empty.json", ["empty.json: ", "not a dpscope artefact", "name a file"]),
        ("notes.txt", ["notes.txt: ", "not a dpscope artefact", "--out"]),
        ("report.json", ["report.json: ", "dpscope.report/2", "dpscope.histograms/1"]),
    ] {
        folder.run(&format!("merge {files}")).refuses(5, &parts);
        folder.run(&format!("merge {files} --allow-gaps --allow-mixed --json")).refuses(5, &parts);
    }
    folder.run("merge 1.json absent.json").refuses(2, &["absent.json: ", "cannot be read"]);
    folder.run("merge 1.json .").refuses(2, &[".: ", "directory"]);
    folder.run("merge").refuses(2, &["<FILE>"]);
}

#[test]
fn invalid_shards_are_rejected() {
    let folder = Folder::new();
    let without_seed = SMALL.trim_end_matches(" --seed 7");
    folder.run(&format!("{without_seed} --shard 1/3")).refuses(2, &["--seed"]);
    for shard in ["0/3", "4/3", "1", "a/b", "1/0", "1/15001", "1/99999999999999999999"] {
        let refused = folder.run(&format!("{SMALL} --shard {shard}"));
        refused.refuses(2, &["shard", "1 <= i <= N"]);
    }
}

#[test]
fn results_overwrite_only_counts_that_they_include() {
    let folder = shards();
    folder.write("notes.txt", "mine\n");
    fs::create_dir(folder.at("folder")).unwrap();
    let before: Vec<_> = ["1.json", "other.json", "notes.txt"].map(|n| folder.read(n)).into();
    for (words, code, parts) in [
        (format!("{SMALL} --shard 2/3 --out 1.json"), 5, ["1.json: ", "0..5000", "5000..10000"]),
        (format!("{SMALL} --out other.json"), 5, ["other.json: ", "another plan", "delta"]),
        (
            "merge 1.json 2.json 3.json --out other.json".to_owned(),
            5,
            ["other.json: ", "plan", "delta"],
        ),
        (format!("{SMALL} --out notes.txt"), 5, ["notes.txt: ", "not a dpscope artefact", "name"]),
        (format!("{SMALL} --out folder"), 2, ["folder: ", "regular file", "choose another"]),
        (format!("{SMALL} --out absent/x.json"), 2, ["absent/x.json: ", "cannot be", "written"]),
    ] {
        folder.run(&words).refuses(code, &parts);
    }
    let after: Vec<_> = ["1.json", "other.json", "notes.txt"].map(|n| folder.read(n)).into();
    assert!(before == after);
    // A shard may be replaced by itself, but no part of a sum by the sum.
    folder.run(&format!("{SMALL} --shard 1/3 --out 1.json")).exits(0);
    let replaced = folder.run("merge 1.json 2.json 3.json --out 1.json");
    replaced.refuses(2, &["1.json: ", "--out would overwrite the input of FILE"]);
    folder.run("merge 1.json --allow-gaps").exits(0);
    let left = ["1.json", "2.json", "3.json", "folder", "notes.txt", "other.json"];
    assert_eq!(folder.names(), left);
}
