//! `dpscope audit dpsgd`: models are trained, and what the attacker observes is audited.

use dpscope_tests::cli::{number, text};

use crate::{Folder, dpscope};

/// 60 runs of a small model, a second or less.
const SMALL: &str =
    "audit dpsgd --batch-size 20 --records 200 --noise-multiplier 1 --runs 60 --seed 7";

#[test]
fn reports_of_trained_models_name_model_and_data() {
    let report = dpscope(&format!("{SMALL} --json")).exits(0).json();
    assert_eq!(text(&report, "/subject"), "trained_models");
    assert_eq!(text(&report, "/plan/mechanism/threat_model"), "partially-informed");
    assert_eq!(number(&report, "/plan/mechanism/steps_per_epoch"), 10.0);
    assert_eq!(number(&report, "/observations/target"), 30.0);
    assert_eq!(text(&report, "/training/description/data/name"), "p100-like");
    assert_eq!(text(&report, "/training/description/data/digest").len(), 64);
    assert_eq!(number(&report, "/training/failed"), 0.0);
    let variance = number(&report, "/training/residual_variance");
    let error = number(&report, "/training/residual_variance_error");
    assert!((variance - 1.0).abs() < 5.0 * error + 0.05, "{variance} {error}");
    assert!(number(&report, "/training/correct_share") > 0.0);
    assert!(number(&report, "/training/idealised/epsilon") >= 0.0);
    assert!(report["normals_per_second"].is_null());
    let folder = Folder::new();
    let output = folder.run(&format!("{SMALL} --plot models.svg")).exits(0).stdout;
    let drawing = String::from_utf8(folder.read("models.svg")).unwrap();
    assert!(drawing.contains("trained models: σ = 1") && !drawing.contains("simulated: "));
    for part in ["trained: shuffle, partially-informed", "p100-like", "residuals", "idealised"] {
        assert!(output.contains(part), "{part}: {output}");
    }
}

#[test]
fn runs_depend_on_the_seed_alone() {
    let digest = |words: &str| {
        let report = dpscope(&format!("{words} --json")).exits(0).json();
        text(&report, "/histogram_digest").to_owned()
    };
    let first = digest(SMALL);
    assert_eq!(digest(&format!("{SMALL} --threads 1")), first);
    for other in [
        SMALL.replace("--seed 7", "--seed 8"),
        format!("{SMALL} --canary dirac"),
        format!("{SMALL} --fixed-canary"),
        format!("{SMALL} --learning-rate 0.5"),
        format!("{SMALL} --clip-norm 0.5"),
        format!("{SMALL} --threat-model target-canary"),
        format!("{SMALL} --sampler balls-in-bins"),
        format!("{SMALL} --sampler poisson"),
        format!("{SMALL} --debias-records 5"),
    ] {
        assert_ne!(digest(&other), first, "{other}");
    }
}

#[test]
fn batches_take_part_of_all_records_unless_they_are_cut_from_an_order() {
    let folder = Folder::new();
    let words =
        "audit dpsgd --records 100 --batch-size 40 --noise-multiplier 1 --runs 20 --seed 7 --json";
    let shuffled = folder.run(words).exits(0);
    assert!(shuffled.stderr.contains("dropped the last 20 of 100 records"), "{}", shuffled.stderr);
    assert_eq!(number(&shuffled.json(), "/training/description/data/records"), 80.0);
    let of_all = |sampler: &str, steps: f64| {
        let checkpoint = sampler.split(' ').next().unwrap();
        let words = format!("{words} --sampler {sampler} --checkpoint {checkpoint}");
        let output = folder.run(&words).exits(0);
        assert!(!output.stderr.contains("dropped"), "{sampler}: {}", output.stderr);
        let report = output.json();
        assert_eq!(number(&report, "/training/description/data/records"), 100.0, "{sampler}");
        assert_eq!(number(&report, "/plan/mechanism/dataset_size"), 100.0, "{sampler}");
        assert_eq!(number(&report, "/plan/mechanism/steps_per_epoch"), steps, "{sampler}");
        let resumed = folder.run(&format!("resume {checkpoint} --json")).exits(0);
        assert_eq!(resumed.json()["histogram_digest"], report["histogram_digest"], "{sampler}");
        (output.stderr.clone(), report)
    };
    for (sampler, steps, mean) in [
        ("balls-in-bins", 3.0, "in 1 of 3 batches per epoch: a batch has 33.33 records"),
        (
            "random-allocation --uses-per-epoch 3",
            8.0,
            "in 3 of 8 batches per epoch: a batch has 37.5",
        ),
    ] {
        let (noted, _) = of_all(sampler, steps);
        assert!(noted.contains(mean), "{noted}");
    }
    for sampler in ["poisson", "fixed-size", "truncated-poisson --max-batch-size 60"] {
        let (_, report) = of_all(sampler, 3.0);
        let bound = format!(
            "bound {sampler} --noise-multiplier 1 --dataset-size 100 --batch-size 40 --json"
        );
        let side = if sampler == "poisson" { "poisson" } else { "upper" };
        let accounted = number(&report, &format!("/theory/{side}/epsilon"));
        let bound = number(&folder.run(&bound).exits(0).json(), "/epsilon");
        assert!((accounted - bound).abs() < 1e-3, "{sampler}: {accounted} {bound}");
    }
    let one_run = "audit dpsgd --protocol one-run --records 100 --batch-size 40 --canaries 20 \
                   --noise-multiplier 1 --seed 7 --score white-box --sampler";
    for sampler in ["poisson", "fixed-size", "balls-in-bins"] {
        let output = folder.run(&format!("{one_run} {sampler} --json")).exits(0);
        assert!(!output.stderr.contains("dropped"), "{sampler}: {}", output.stderr);
    }
}

#[test]
fn worst_case_training_equals_bgm() {
    let worst = "audit dpsgd --batch-size 20 --records 200 --threat-model worst-case \
                 --noise-multiplier 1 --runs 3e4 --seed 7 --device cpu --json";
    let bgm = "audit bgm --batch-size 20 --steps 10 --noise-multiplier 1 --observations 3e4 --seed 7 \
               --device cpu --json";
    let [mut trained, mut simulated] = [worst, bgm].map(|words| dpscope(words).exits(0).json());
    for report in [&mut trained, &mut simulated] {
        for changing in ["elapsed_ms", "normals_per_second"] {
            report[changing] = 0.into();
        }
    }
    assert_eq!(trained, simulated);
    // batches of fixed size that do not divide the records
    let undivided = worst.replace("--records 200", "--records 190 --sampler fixed-size");
    let bgm = bgm.replace("--steps 10", "--dataset-size 190 --sampler fixed-size");
    let [trained, simulated] = [&undivided, &bgm].map(|words| dpscope(words).exits(0).json());
    assert_eq!(trained["histogram_digest"], simulated["histogram_digest"]);
    assert_eq!(trained["plan"], simulated["plan"]);
    assert_eq!(number(&trained, "/plan/mechanism/dataset_size"), 190.0);
    for option in
        "--data p100-like,--learning-rate 1,--outputs-to o.npz,--debias-records 9,--model lenet,\
         --clip-norm 2,--canary dirac,--fixed-canary"
            .split(',')
    {
        let name = option.split(' ').next().unwrap();
        dpscope(&format!("{worst} {option}")).refuses(2, &[name, "no effect", "worst-case"]);
    }
}

#[test]
fn trained_shards_and_checkpoints_equal_the_whole_run() {
    let folder = Folder::new();
    let whole = folder.run(&format!("{SMALL} --json --checkpoint c")).exits(0).json();
    for index in 1..=3 {
        folder.run(&format!("{SMALL} --shard {index}/3 --out part-{index}")).exits(0);
    }
    let merged = folder.run("merge part-3 part-1 part-2 --json").exits(0).json();
    let again = folder.run(&format!("{SMALL} --json --checkpoint c")).exits(0).json();
    for report in [&merged, &again] {
        for field in ["result", "histogram_digest", "training", "observations"] {
            assert_eq!(report[field], whole[field], "{field}");
        }
    }
    let other = SMALL.replace("--noise", "--learning-rate 0.25 --noise");
    folder.run(&format!("{other} --checkpoint c")).refuses(5, &["c: ", "training"]);
    let resumed = folder.run("resume c --json").exits(0).json();
    assert_eq!(resumed["histogram_digest"], whole["histogram_digest"]);
    folder.run("merge part-1 part-2").refuses(5, &["20..30"]);
}

/// Rows of a label and four features.
fn rows(records: usize, shift: usize) -> String {
    let row = |i: usize| format!("{},{},{},1,{}\n", i % 2, i % 3, (i + shift) % 5, i % 2);
    (0..records).map(row).collect()
}

const LINEAR: &str = "input = { channels = 4 }\nlayers = [{ kind = \"linear\", outputs = 2 }]\n";

#[test]
fn checkpoints_resume_only_with_the_same_data() {
    let folder = Folder::new();
    folder.write("model.toml", LINEAR);
    folder.write("rows.csv", rows(215, 0));
    let words = "audit dpsgd --model model.toml --data rows.csv --records 210 --batch-size 20 \
                 --learning-rate 0.5 --noise-multiplier 1 --runs 60 --seed 7 --json --checkpoint c";
    let whole = folder.run(words).exits(0).json();
    assert_eq!(number(&whole, "/training/description/data/records"), 200.0);
    // records that fill no batch are held out
    assert_eq!(number(&whole, "/training/description/data/held_out"), 15.0);
    folder.write("renamed.csv", rows(215, 0));
    let resumed = folder.run("resume c --data renamed.csv --json").exits(0).json();
    for field in ["result", "histogram_digest", "training"] {
        assert_eq!(resumed[field], whole[field], "{field}");
    }
    folder.run("resume c").refuses(2, &["c: ", "rows.csv", "--data"]);
    for (name, text) in [("shifted.csv", rows(215, 1)), ("more.csv", rows(216, 0))] {
        folder.write(name, text);
        let output = folder.run(&format!("resume c --data {name}")).exits(2).stderr;
        assert!(
            output.contains(&format!("{name} contains other records than rows.csv")),
            "{output}"
        );
    }
    folder.run("resume c --data absent.csv").refuses(2, &["absent.csv", "cannot be read"]);
    let output = folder.run("resume c --data renamed.csv --classes 1,0").exits(2).stderr;
    assert!(output.contains("other records"), "{output}");
    let bgm = "audit bgm --noise-multiplier 1 --steps 5 --observations 2000 --seed 1";
    folder.run(&format!("{bgm} --checkpoint b")).exits(0);
    folder.run("resume b --data rows.csv").refuses(2, &["--data", "no effect"]);
}

#[test]
fn data_errors_name_the_file_once() {
    let folder = Folder::new();
    folder.write("rows.csv", "0,1,1\n0,2,1\n");
    let output = folder.run(&format!("{SMALL} --data rows.csv")).refuses(2, &["rows.csv"]).stderr;
    assert_eq!(output.matches("rows.csv").count(), 1, "{output}");
}

#[test]
fn repeating_a_finished_run_changes_no_outputs() {
    let folder = Folder::new();
    let words = format!("{SMALL} --json --checkpoint c --outputs-to o.npz");
    let first = folder.run(&words).exits(0).json();
    let kept = folder.read("o.npz");
    for words in [&words[..], "resume c --json --outputs-to o.npz"] {
        let again = folder.run(words).exits(0).json();
        assert_eq!(again["result"], first["result"]);
        assert_eq!(folder.read("o.npz"), kept);
    }
    let other = SMALL.replace("--seed 7", "--seed 8");
    folder.run(&format!("{other} --outputs-to o.npz")).refuses(2, &["o.npz: ", "another run"]);
    assert_eq!(folder.read("o.npz"), kept);
    folder.run("resume c --outputs-to new.npz").refuses(2, &["new.npz.part: ", "--outputs-to"]);
    assert_eq!(folder.names(), ["c", "o.npz"]);
    folder.run(&format!("{SMALL} --shard 1/2 --checkpoint half")).exits(0);
    folder.run("resume half --outputs-to h.npz").refuses(2, &["--outputs-to", "shards"]);
}

#[test]
fn saved_outputs_have_the_same_scores() {
    let folder = Folder::new();
    let small = SMALL.replace("multiplier 1", "multiplier 0.4").replace("runs 60", "runs 200");
    let train = format!("{small} --threshold-rule max-uncorrected --json --outputs-to o.npz");
    let report = folder.run(&train).exits(0).json();
    assert_eq!(folder.names(), ["o.npz"]);
    let outputs = "audit outputs o.npz --threat-model partially-informed \
                   --threshold-rule max-uncorrected --json";
    let recorded = folder.run(outputs).exits(0).json();
    // bins of the one, sorted scores of the other
    let [trained, recorded] = [&report, &recorded].map(|report| number(report, "/result/epsilon"));
    assert!(recorded > 1.0 && (trained - recorded).abs() < 0.2, "{trained} {recorded}");
    // where batches do not divide the records, their number states the rate
    let undivided = small.replace("--records 200", "--records 190 --sampler fixed-size");
    folder.run(&format!("{undivided} --outputs-to u.npz")).exits(0);
    let outputs = outputs.replace("o.npz", "u.npz") + " --sampler fixed-size --batch-size 20";
    let of_records = folder.run(&format!("{outputs} --dataset-size 190")).exits(0).json();
    let of_steps = folder.run(&outputs).exits(0).json();
    assert_ne!(number(&of_records, "/result/threshold"), number(&of_steps, "/result/threshold"));
    let shuffled = outputs.replace("fixed-size", "shuffle");
    folder
        .run(&format!("{shuffled} --dataset-size 190"))
        .refuses(2, &["--dataset-size", "poisson", "fixed-size"]);
    folder.write("o.npz", "mine");
    folder.run(&train).refuses(2, &["o.npz", "choose another file"]);
}

#[test]
fn files_and_synthetic_data_of_one_name_are_distinct() {
    let folder = Folder::new();
    let row = |row: usize| {
        let bits = (0..600).map(|at| if (row * at).is_multiple_of(7) { ",1" } else { ",0" });
        format!("{}{}\n", row % 100, bits.collect::<String>())
    };
    folder.write("p100-like", (0..300).map(row).collect::<String>());
    let name = |words: &str| {
        let ended = folder.run(&format!("{words} --json")).exits(0);
        let name = text(&ended.json(), "/training/description/data/name").to_owned();
        (name, ended.stderr)
    };
    let (synthetic, output) = name(&format!("{SMALL} --data p100-like --checkpoint synthetic"));
    assert_eq!(synthetic, "p100-like");
    assert!(output.contains("synthetic") && output.contains("--data ./p100-like"), "{output}");
    let (read, _) = name(&format!("{SMALL} --data ./p100-like --checkpoint read"));
    assert_eq!(read, "./p100-like");
    assert_eq!(name("resume synthetic").0, "p100-like");
    assert_eq!(name("resume read --data ./p100-like").0, "./p100-like");
    folder.run("resume read").refuses(2, &["./p100-like", "--data"]);
    for mistaken in ["resume read --data p100-like", "resume synthetic --data ./p100-like"] {
        let refused = folder.run(mistaken).exits(2).stderr;
        assert!(refused.contains("contains other records than"), "{refused}");
    }
}

#[test]
fn existing_files_are_not_overwritten() {
    let folder = Folder::new();
    for (name, option, code) in [("part", "--out part", 5), ("o.npz.part", "--outputs-to o.npz", 2)]
    {
        folder.write(name, "mine");
        folder.run(&format!("{SMALL} {option}")).refuses(code, &[&format!("{name}: ")]);
        assert_eq!(folder.read(name), b"mine");
    }
}

#[test]
fn outputs_and_counts_need_separate_files() {
    let folder = Folder::new();
    for counts in ["--checkpoint o.npz", "--out ./o.npz", "--checkpoint ./o.npz.part"] {
        let name = counts.split(' ').next().unwrap();
        let words = format!("{SMALL} --outputs-to o.npz {counts}");
        folder.run(&words).refuses(2, &["o.npz", name, "--outputs-to"]);
        assert!(folder.names().is_empty(), "{counts}");
    }
}

#[test]
fn unwritable_outputs_are_rejected_before_the_run() {
    let folder = Folder::new();
    let lost = format!("{SMALL} --outputs-to o.npz --out gone/part");
    folder.run(&lost).refuses(2, &["gone"]);
    assert!(folder.names().is_empty());
}

#[test]
fn missing_outputs_of_counted_runs_are_reported() {
    let folder = Folder::new();
    folder.run(&format!("{SMALL} --checkpoint c")).exits(0);
    let state: serde_json::Value = serde_json::from_slice(&folder.read("c")).unwrap();
    let mut kept = format!("dpscope.outputs/1 {}\n", text(&state, "/plan_hash")).into_bytes();
    kept.resize(128, b' ');
    // 60 runs of 10 outputs, none of which was written
    kept.resize(128 + 4 * 60 * 10, 0);
    folder.write("o.npz.part", kept);
    let train = format!("{SMALL} --checkpoint c --outputs-to o.npz");
    folder.run(&train).refuses(2, &["o.npz.part: ", "--outputs-to"]);
    assert_eq!(folder.names(), ["c", "o.npz.part"]);
}

#[test]
fn bad_training_options_are_rejected_with_a_remedy() {
    let folder = Folder::new();
    folder.write("flat.toml", "input = { channels = 600, height = 1, width = 1 }\nlayers = []\n");
    folder.write(
        "image.toml",
        "input = { channels = 1, height = 4, width = 4 }\nlayers = [{ kind = \"linear\", outputs = 2 }]\n",
    );
    for (words, parts) in [
        (SMALL.replace("--batch-size 20", "--batch-size 201"), &["--batch-size", "--records"][..]),
        (SMALL.replace("--batch-size 20", ""), &["--batch-size", "missing"]),
        (SMALL.replace("--noise-multiplier 1", ""), &["--noise-multiplier", "required"]),
        (format!("{SMALL} --poisson-epsilon 1"), &["--poisson-epsilon"]),
        (format!("{SMALL} --model flat.toml --data p100-like"), &["0 layers", "1 to 64"]),
        (format!("{SMALL} --model absent.toml"), &["absent.toml", "mlp"]),
        (format!("{SMALL} --model image.toml"), &["--data", "shape"]),
        (format!("{SMALL} --model image.toml --data p100-like"), &["p100-like", "4"]),
        (format!("{SMALL} --data absent.npz"), &["absent.npz", "cannot be read"]),
        (format!("{SMALL} --data p100-like --labels l"), &["--labels", "no effect", "p100-like"]),
        (format!("{SMALL} --data p100-like --classes 0,1"), &["--classes", "no effect"]),
        (format!("{SMALL} --learning-rate quick"), &["--learning-rate", "search"]),
        (format!("{SMALL} --learning-rate -1"), &["--learning-rate is -1"]),
        (format!("{SMALL} --clip-norm 0"), &["--clip-norm is 0"]),
        (format!("{SMALL} --sampler poisson --threat-model partially-informed"), &["poisson"]),
        (format!("{SMALL} --runs 61"), &["--runs is 61", "even"]),
    ] {
        folder.run(&words.replace("--runs 60 --seed 7 --runs 61", "--runs 61")).refuses(2, parts);
    }
    assert_eq!(folder.names(), ["flat.toml", "image.toml"]);
    let dropped = dpscope(&SMALL.replace("--records 200", "--records 215")).exits(0).stderr;
    assert!(dropped.contains("last 15 of 215 records"), "{dropped}");
}
