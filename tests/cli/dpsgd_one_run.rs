//! `dpscope audit dpsgd --protocol one-run`.

use dpscope_engine::Artefact;
use dpscope_formats::{Array, write_npz};
use dpscope_tests::cli::{number, text};
use dpscope_train::one_run::OneRunPlan;
use serde_json::Value;

use crate::{Folder, dpscope};

const SMALL: &str = "audit dpsgd --protocol one-run --canaries 40 --records 400 --batch-size 40 \
    --noise-multiplier 0.5 --repeats 3 --reference-models 2 --seed 7";

/// A training without enough noise for its claim, and canaries that are recognised.
const LEAKY: &str = "audit dpsgd --protocol one-run --canaries 100 --records 400 --batch-size 10 \
    --noise-multiplier 0.3 --epochs 5 --learning-rate 0.3 --repeats 2 --score white-box --seed 1";

/// The parts of a report that do not depend on how it was computed.
fn result(report: &Value) -> [&Value; 4] {
    ["/bounds", "/ranking", "/training/repeats", "/training/description"]
        .map(|pointer| report.pointer(pointer).unwrap())
}

#[test]
fn shards_and_resumed_runs_equal_the_undivided_run() {
    let folder = Folder::new();
    let whole = folder.run(&format!("{SMALL} --json")).exits(0).json();
    assert_eq!(number(&whole, "/design/canaries"), 120.0);
    assert_eq!(text(&whole, "/design/coins"), "drawn");
    for shard in ["1/2", "2/2"] {
        let name = shard.replace('/', "-");
        let run = folder.run(&format!("{SMALL} --shard {shard} --out {name}.json")).exits(0);
        assert!(run.stderr.contains("a result needs all of them"), "{}", run.stderr);
    }
    let merged = folder.run("merge 2-2.json 1-2.json --out all.json --json").exits(0).json();
    assert_eq!(result(&merged), result(&whole));
    assert_eq!(text(&merged, "/training/seed_source"), "artefact");
    let resumed = folder.run("resume all.json --json").exits(0).json();
    assert_eq!(result(&resumed), result(&whole));
    // the rest of a run that was saved in part
    let saved = folder.run("merge 1-2.json --allow-gaps --out part.json");
    saved.refuses(2, &["--allow-gaps has no effect"]);
    let checkpoint = format!("{SMALL} --checkpoint all.json --json");
    assert_eq!(result(&folder.run(&checkpoint).exits(0).json()), result(&whole));
    folder.run("merge 1-2.json").refuses(5, &["models 2..5 are missing"]);
    let other = folder.run(&format!("{SMALL} --guesses 30 --shard 2/2 --out other.json"));
    other.exits(0);
    folder.run("merge 1-2.json other.json").refuses(5, &["other.json"]);
}

#[test]
fn counts_of_records_that_no_data_have_are_refused() {
    let folder = Folder::new();
    folder.run(&format!("{SMALL} --out all.json")).exits(0);
    let mut state = Artefact::<OneRunPlan>::from_bytes(&folder.read("all.json")).unwrap();
    folder.write("same.json", state.to_bytes());
    folder.run("merge same.json").exits(0);
    for model in &mut state.evidence.models {
        (model.evaluated, model.correct) = (u64::MAX, 0);
    }
    folder.write("counts.json", state.to_bytes());
    folder.run("merge counts.json").refuses(5, &["counts.json", "counts impossible"]);
}

#[test]
fn too_little_noise_is_refuted_and_enough_is_not() {
    let refuted = dpscope(&format!("{LEAKY} --claim 1 --json")).exits(3).json();
    assert!(number(&refuted, "/bounds/0/epsilon") > 1.0);
    assert_eq!(number(&refuted, "/training/summary/above_claim"), 2.0);
    let accounted = number(&refuted, "/training/theory/upper/epsilon");
    assert!(number(&refuted, "/bounds/0/epsilon") < accounted, "a bound above what is proven");
    let private = LEAKY.replace("multiplier 0.3", "multiplier 10");
    let report = dpscope(&format!("{private} --claim 1 --json")).exits(0).json();
    assert!(number(&report, "/bounds/0/epsilon") < 1.0);
    let shown = dpscope(&private).exits(0).stdout;
    for part in ["zero-out adjacency", "accountant", "power", "ceiling", "repeats", "more data"] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
}

#[test]
fn slots_that_stay_certify_zero_out() {
    let report = dpscope(&format!("{SMALL} --json")).exits(0).json();
    assert_eq!(text(&report, "/design/adjacency"), "zero-out");
    assert!(report.pointer("/training/theory/upper").is_some(), "proven for a shuffle");
    let poisson = dpscope(&format!("{SMALL} --sampler poisson --json")).exits(0).json();
    assert_eq!(text(&poisson, "/design/adjacency"), "add-remove");
    dpscope(&format!("{SMALL} --sampler poisson --claim 2 --claim-adjacency replace"))
        .refuses(2, &["--claim-adjacency is replace"]);
}

#[test]
fn canaries_of_a_file_are_inserted() {
    let folder = Folder::new();
    let inputs: Vec<f64> = (0..6 * 600).map(|place| f64::from(place * 7 % 11 < 5)).collect();
    let file = |labels: &[f64], inputs: &[f64]| {
        let (rows, width) = (labels.len(), inputs.len() / 6);
        let inputs = Array::new(vec![6, width], inputs.to_vec()).unwrap();
        let labels = Array::new(vec![rows], labels.to_vec()).unwrap();
        write_npz(&[("inputs", &inputs), ("labels", &labels)]).unwrap()
    };
    let labels = [0.0, 1.0, 2.0, 3.0, 4.0, 99.0];
    folder.write("canaries.npz", file(&labels, &inputs));
    let words = "audit dpsgd --protocol one-run --records 400 --batch-size 40 --repeats 4 --seed 1 \
                 --noise-multiplier 0.5 --canary-file canaries.npz";
    let report = folder.run(&format!("{words} --checkpoint c --json")).exits(0).json();
    assert_eq!(number(&report, "/design/canaries"), 24.0);
    let again = folder.run("resume c --canary-file canaries.npz --json").exits(0).json();
    assert_eq!(result(&again), result(&report));
    folder.run("resume c").refuses(2, &["canaries.npz", "--canary-file"]);
    folder.run(&format!("{words} --canaries 7")).refuses(2, &["has 6 canaries"]);
    folder.write("canaries.npz", file(&[0.0, 1.0, 2.0, 3.0, 4.0, 100.0], &inputs));
    folder.run(words).refuses(2, &["canaries.npz", "label 100 at index 5", "0 to 99"]);
    folder.write("canaries.npz", file(&labels, &inputs[..6 * 500]));
    folder.run(words).refuses(2, &["canaries.npz", "600 values for each canary"]);
    let mut equal = inputs.clone();
    equal.copy_within(0..600, 600);
    folder.write("canaries.npz", file(&[3.0; 6], &equal));
    folder.run(words).refuses(2, &["canaries.npz", "0", "1"]);
}

#[test]
fn bad_input_of_protocol_one_run_is_refused_by_name() {
    let cases = [
        ("--runs 100", "--runs has no effect"),
        ("--fixed-canary", "--fixed-canary has no effect"),
        ("--metrics", "--metrics has no effect"),
        ("--debias-records 5", "unless --score is white-box"),
        ("--learning-rate search", "--learning-rate search is not available"),
        ("--threat-model worst-case", "uses target-canary"),
        ("--guesses 121", "--guesses is 121"),
        ("--guesses 1", "even if all are correct"),
        ("--delta 0", "--delta is 0"),
        ("--momentum 1", "--momentum is 1"),
        ("--pretrain-records 10", "--pretrain-records is 10; it must be at least the batch size"),
        ("--plot report.txt", "must end in .svg"),
    ];
    for (options, problem) in cases {
        dpscope(&format!("{SMALL} {options}")).refuses(2, &[problem]);
    }
    dpscope(&format!("{SMALL} --device none")).refuses(4, &["no device `none`"]);
    let debiased = format!("{SMALL} --score white-box --debias-records 5 --device gpu");
    dpscope(&debiased).refuses(4, &["--debias-records is implemented on the CPU only"]);
    let canaries = |number: &str| SMALL.replace("--canaries 40", number);
    dpscope(&canaries("--canaries 4")).refuses(2, &["at least 5"]);
    dpscope(&canaries("--canaries 400")).refuses(2, &["fewer than 400"]);
    dpscope(&canaries("")).refuses(2, &["--canaries is missing"]);
    let two_worlds = "audit dpsgd --batch-size 40 --noise-multiplier 1";
    dpscope(&format!("{two_worlds} --runs 100 --repeats 2"))
        .refuses(2, &["--repeats has no effect without --protocol one-run"]);
    dpscope(&format!("{two_worlds} --protocol two-worlds")).exits(2);
}
