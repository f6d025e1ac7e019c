//! `launch`: scripts and manifests, run here as their engines run them.

use serde_json::Value;

use crate::snapshots::assert_shown;
use crate::{Folder, SMALL};

const SHARDS: u64 = 3;

/// What does not depend on the division into shards.
fn counted(report: &Value) -> [&Value; 4] {
    ["result", "histogram_digest", "observations", "plan"].map(|field| &report[field])
}

/// What an engine is given, for words after its name.
fn launch(folder: &Folder, words: &str) -> String {
    folder.run(&format!("launch {words}")).exits(0).stdout
}

#[test]
fn launch_texts_match_their_snapshots() {
    let folder = Folder::new();
    let audit = format!("--shards {SHARDS} -- {SMALL} --claim 0.5");
    assert_shown("launch_slurm.txt", &launch(&folder, &format!("slurm --time-limit 90 {audit}")));
    let image = "kubernetes --image registry.example/dpscope";
    assert_shown("launch_kubernetes.txt", &launch(&folder, &format!("{image} {audit}")));
    assert_shown("launch_ray.txt", &launch(&folder, &format!("ray --storage s3://b/run {audit}")));
    assert_eq!(folder.names(), Vec::<String>::new());
}

/// The arguments of each container of a manifest, as the Pod of an index gets them.
fn arguments(manifest: &str, index: u64) -> Vec<Vec<String>> {
    let lists = manifest.split("          args:\n").skip(1);
    let word = |line: &str| -> Option<String> {
        let word: String = serde_json::from_str(line.strip_prefix("            - ")?).unwrap();
        let words: Vec<String> = word
            .split("$$")
            .map(|part| part.replace("$(JOB_COMPLETION_INDEX)", &index.to_string()))
            .collect();
        Some(words.join("$"))
    };
    lists.map(|list| list.lines().map_while(word).collect()).collect()
}

/// Runs the Pods of a manifest, with these indices, and the merge; the first that fails is the result.
fn run_pods(folder: &Folder, manifest: &str, indices: impl Iterator<Item = u64>) -> (i32, Value) {
    let run = |arguments: &[String]| {
        let ended = dpscope_tests::cli::dpscope(folder.path()).args(arguments).output().unwrap();
        (ended.status.code().unwrap(), ended.stdout)
    };
    for index in indices {
        let (code, _) = run(&arguments(manifest, index)[0]);
        if code != 0 {
            return (code, Value::Null);
        }
    }
    let (code, text) = run(&arguments(manifest, 0)[1]);
    (code, serde_json::from_slice(&text).unwrap_or_default())
}

#[test]
fn pods_of_every_index_are_the_whole_audit() {
    let folder = Folder::new();
    let engine = format!("kubernetes --image i --shards {SHARDS} --");
    let manifest = launch(&folder, &format!("{engine} {SMALL} --claim 0.5 --json"));
    let whole = folder.run(&format!("{SMALL} --claim 0.5 --json")).exits(3).json();
    let (code, merged) = run_pods(&folder, &manifest, 0..SHARDS);
    assert_eq!((code, counted(&merged)), (3, counted(&whole)));
    assert_eq!(merged["claim"], whole["claim"]);
    // Repeated Pods continue from their checkpoints.
    assert_eq!(run_pods(&folder, &manifest, 0..SHARDS).0, 3);

    // Indices that are taken for shards, or count from 1, are no audit.
    let folder = Folder::new();
    let unconverted = manifest.replace("+1/3", "/3");
    assert_eq!(run_pods(&folder, &unconverted, 0..SHARDS).0, 2);
    assert_eq!(run_pods(&folder, &unconverted, 1..SHARDS).0, 2, "two of three files");
    assert_eq!(run_pods(&Folder::new(), &manifest, 1..=SHARDS).0, 2);
}

#[test]
fn kubernetes_replaces_no_variable_in_a_word() {
    let folder = Folder::new();
    let mut command = dpscope_tests::cli::dpscope(folder.path());
    command.args(["launch", "kubernetes", "--image=i", "--"]);
    command.args(SMALL.split(' ')).args(["--plot", "a $(HOME) $$ 'b' \"c\".svg"]);
    let manifest = String::from_utf8(command.output().unwrap().stdout).unwrap();
    let merge = &arguments(&manifest, 0)[1];
    assert_eq!(merge.last().unwrap(), "a $(HOME) $$ 'b' \"c\".svg");
    assert!(manifest.contains("a $$(HOME) $$$$ 'b'"), "{manifest}");
}

/// Runs a script with a `sbatch` that runs jobs at once, one after the other.
#[cfg(unix)]
fn submit(folder: &Folder, script: &str) -> std::process::Output {
    use std::os::unix::fs::{PermissionsExt, symlink};
    const SBATCH: &str = r#"#!/bin/sh
last=0
for word; do
    case "$word" in
    --array=1-*) last=${word#--array=1-} ;;
    --output=*) output=${word#--output=} ;;
    esac
    script=$job
    job=$word
done
if [ "$last" = 0 ]; then exec sh "$script" "$job" > "$output"; fi
for task in $(seq "$last"); do SLURM_ARRAY_TASK_ID=$task sh "$script" "$job" > /dev/null || exit; done
echo '7;cluster'
"#;
    folder.write("bin/sbatch", SBATCH);
    let permissions = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(folder.at("bin/sbatch"), permissions).unwrap();
    let program = dpscope_tests::cli::dpscope(folder.path());
    let _ = symlink(program.get_program(), folder.at("bin/dpscope"));
    folder.write("audit.sh", script);
    let mut shell = std::process::Command::new("sh");
    let path = format!("{}:{}", folder.at("bin").display(), std::env::var("PATH").unwrap());
    shell.arg("audit.sh").current_dir(folder.path()).env("PATH", path).output().unwrap()
}

#[cfg(unix)]
#[test]
fn a_job_array_and_its_merge_are_the_whole_audit() {
    let folder = Folder::new();
    let mut command = dpscope_tests::cli::dpscope(folder.path());
    command.args(["launch", "slurm", "--shards=3"]);
    command.args(["--output-folder", "my $(id) `run`'s", "--"]).args(SMALL.split(' '));
    command.args(["--plot", "it's $(id) \"a\" `b`.svg", "--json"]);
    let script = String::from_utf8(command.output().unwrap().stdout).unwrap();
    let submitted = submit(&folder, &script);
    assert!(submitted.status.success(), "{submitted:?}");
    let merged: Value =
        serde_json::from_slice(&folder.read("my $(id) `run`'s/result.txt")).unwrap();
    let whole = folder.run(&format!("{SMALL} --json")).exits(0).json();
    assert_eq!(counted(&merged), counted(&whole));
    assert!(folder.read("it's $(id) \"a\" `b`.svg").starts_with(b"<svg"));

    // A shard of another run in the folder is refused, and nothing is merged.
    let other = script.replace("--seed 7", "--seed 8");
    let refused = submit(&folder, &other);
    assert!(
        String::from_utf8_lossy(&refused.stderr).contains("seed: \"8\" here, \"7\" there"),
        "{refused:?}"
    );
    // An array from 0 has no first shard.
    let from_zero = script.replace("SLURM_ARRAY_TASK_ID/3", "((SLURM_ARRAY_TASK_ID - 1))/3");
    assert!(!submit(&folder, &from_zero).status.success());
}

#[test]
fn the_audit_of_a_plan_is_launched() {
    let folder = Folder::new();
    let plan =
        "plan bgm --epsilon 2 --noise-multiplier 1 --steps=10 --sampler shuffle --seed 1 --json";
    let plan = folder.run(plan).exits(0);
    folder.write("plan.json", &plan.stdout);
    let report = folder.run("launch ray plan.json --storage s3://b/run --json").exits(0).json();
    let words = |list: &Value| -> Vec<String> { serde_json::from_value(list.clone()).unwrap() };
    let (planned, launched) = (words(&plan.json()["audit"]), words(&report["audit"]));
    let needed = plan.json()["target"]["observations_predicted"].to_string();
    // without the sampler, which is the default
    let audit = format!("audit bgm --noise-multiplier 1 --steps 10 --observations {needed}");
    assert_eq!(planned.join(" "), audit);
    let mut kept: Vec<&String> = launched.iter().filter(|word| planned.contains(word)).collect();
    kept.sort();
    let mut planned: Vec<&String> = planned.iter().collect();
    planned.sort();
    assert_eq!(kept, planned);
    assert!(launched.contains(&"--seed".to_owned()));

    let options = "--plot=-a.svg --claim 3 --claim-adjacency add-remove --brief";
    let audit = format!("launch slurm --json -- {SMALL} {options}");
    let report = folder.run(&audit).exits(0).json();
    let expected = serde_json::json!({
        "plot": ["-a.svg"], "claim": ["3"], "claim-adjacency": ["add-remove"],
        "brief": [],
    });
    assert_eq!(report["merge_options"], expected);

    let training = "--noise-multiplier 1 --steps 10 --seed 1";
    for (plan, names) in [
        ("--epsilon 2".to_owned(), false),
        (format!("{training} --epsilon 8"), false), // no audit reaches it
        (training.to_owned(), false),
        (format!("{training} --observations 2e4"), true),
    ] {
        let plan = folder.run(&format!("plan {plan} --json")).exits(0);
        assert_eq!(plan.json()["audit"].is_array(), names, "{}", plan.stdout);
        folder.write("plan.json", &plan.stdout);
        let launched = folder.run("launch ray plan.json --storage s3://b/run");
        if names {
            launched.exits(0);
        } else {
            launched.refuses(2, &["plan.json: names no audit", "--noise-multiplier"]);
        }
    }
    folder.write("sizes.json", folder.run("plan one-run --canaries 100 --json").exits(0).stdout);
    folder
        .run("launch ray sizes.json --storage s3://b/run")
        .refuses(2, &["dpscope.one_run_sizes/1"]);
    folder.write("text.json", "no plan");
    folder
        .run("launch ray text.json --storage s3://b/run")
        .refuses(2, &["text.json: ", "-- before"]);
    folder
        .run("launch ray absent.json --storage s3://b/run")
        .refuses(2, &["absent.json: cannot be read"]);
}

#[test]
fn audits_are_checked_before_anything_is_printed() {
    let folder = Folder::new();
    let refused = |audit: &str, parts: &[&str]| {
        folder.run(&format!("launch slurm -- {audit}")).refuses(2, parts);
    };
    let sharded = "`audit bgm`, `audit dpsgd`, `audit fedavg`, `audit gaussian`, `audit pategan`";
    refused("bound poisson --noise-multiplier 1 --steps 9", &["`bound` cannot be run", sharded]);
    refused("audit counts --delta 0", &["required", "--false-positives"]);
    refused("audit one-run --canaries 9 --guesses 4 --correct 3", &["`audit one-run`", sharded]);
    refused("audit bgm --noise-multiplier 1 --steps 100", &["required", "--observations"]);
    refused("audit bgm --no-such-option 1", &["--no-such-option"]);
    refused(&SMALL.replace("3e4", "7"), &["--observations is 7", "even"]);
    refused(&SMALL.replace("3e4", "8"), &["shard 1/16", "<= 4"]);
    refused(&format!("{SMALL} --plot x.txt"), &["x.txt", ".svg"]);
    refused(&format!("{SMALL} --claim 3 --claim-delta 0.1"), &["--delta"]);
    refused(&format!("{SMALL} --shard 1/2"), &["leave --shard out", "--shards N"]);
    refused(&format!("{SMALL} --checkpoint c"), &["leave --checkpoint out"]);
    refused(&format!("{SMALL} --out o"), &["leave --out out"]);
    refused(&format!("{SMALL} --threads 2"), &["--cpus-per-shard"]);
    refused(&format!("{SMALL} --device auto"), &["--device is auto", "pass cpu, gpu"]);
    refused(&format!("{SMALL} --plot \u{202e}.svg"), &["characters that scripts cannot hold"]);
    let training = "audit dpsgd --batch-size 10 --records 20 --noise-multiplier 1 --runs 40";
    refused(&format!("{training} --outputs-to o.npz"), &["--outputs-to", "--shard"]);
    folder.run("launch slurm").refuses(2, &["PLAN"]);
    folder.run(&format!("launch slurm --shards 0 -- {SMALL}")).refuses(2, &["smallest value is 1"]);
    assert_eq!(folder.names(), Vec::<String>::new());
}

#[test]
fn shards_on_gpus_reserve_one_each() {
    let folder = Folder::new();
    let script = launch(&folder, &format!("slurm --device gpu -- {SMALL}"));
    assert!(script.contains("an audit in 16 shards, 1 core and 1 GPU each."), "{script}");
    assert!(script.contains("--cpus-per-task=1 --gres=gpu:1 \\"), "{script}");
    assert!(script.contains("--seed 7 --yes --device gpu --threads 1"), "{script}");
    assert_eq!(script.matches("gres").count(), 1, "the merge needs no GPU: {script}");
    // the option of the audit itself
    let of_audit = launch(&folder, &format!("slurm -- {SMALL} --device gpu"));
    assert_eq!(of_audit, script);

    let manifest = "kubernetes --image i --device H100 --gpu-resource";
    let manifest = launch(&folder, &format!("{manifest} amd.com/gpu -- {SMALL}"));
    assert_eq!(manifest.matches("              \"amd.com/gpu\": \"1\"\n").count(), 1, "{manifest}");
    assert!(!manifest.contains("NVIDIA") && manifest.contains("- \"H100\""), "{manifest}");
    let manifest = format!("kubernetes --image i --device gpu -- {SMALL}");
    let manifest = launch(&folder, &manifest);
    assert!(manifest.contains("\"nvidia.com/gpu\": \"1\"\n"), "{manifest}");
    assert!(manifest.contains("value: compute,graphics,utility\n"), "{manifest}");

    let ray = "ray --storage s3://b/run --device gpu --json";
    let ray = folder.run(&format!("launch {ray} -- {SMALL}")).exits(0).json();
    assert_eq!(ray["device"], "gpu");

    for (words, parts) in [
        (
            format!("--device cpu -- {SMALL} --device gpu"),
            &["cpu before the audit and gpu in it"][..],
        ),
        (format!("--device auto -- {SMALL}"), &["--device is auto"]),
    ] {
        folder.run(&format!("launch slurm {words}")).refuses(2, parts);
    }
    let pategan = "launch slurm --device gpu -- audit pategan --runs 40 --fault U1 --seed 1";
    folder.run(pategan).refuses(4, &["PATE-GAN runs on the CPU only"]);
    // what is wrong shows on a machine without a GPU too
    let odd = format!("launch slurm --device gpu -- {}", SMALL.replace("3e4", "7"));
    folder.run(&odd).refuses(2, &["--observations is 7", "even"]);
}

#[test]
fn the_device_of_the_shards_need_not_be_here() {
    let folder = Folder::new();
    let audit = format!("launch slurm --device no-such-gpu --json -- {SMALL}");
    assert_eq!(folder.run(&audit).exits(0).json()["device"], "no-such-gpu");
}

#[test]
fn trainings_are_checked_and_not_run() {
    let folder = Folder::new();
    // so many runs would take days
    let training =
        "audit dpsgd --batch-size 10 --records 20 --noise-multiplier 1 --runs 1e8 --seed 1";
    let words = format!("launch ray --storage s3://b/run --json -- {training}");
    let report = folder.run(&words).exits(0).json();
    assert_eq!(report["merge_options"], serde_json::json!({}));
    assert_eq!(report["reads"], Value::Array(Vec::new()));
}
