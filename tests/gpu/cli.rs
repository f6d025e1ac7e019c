//! The program on every adapter that it lists, as a user runs it.

use std::fs;

use dpscope_tests::cli::{CommandResult, run};
use libtest_mimic::Trial;
use serde_json::Value;
use tempfile::TempDir;

const AUDIT: &str = "audit bgm --noise-multiplier 1 --steps 10 --observations 3e4 --seed 7";

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        Trial::test("exact_histograms_equal_those_of_the_cpu", || Ok(exact_histograms()?)),
        Trial::test("reports_name_device_and_float_mode", || Ok(reports()?)),
        Trial::test("software_rasterisers_are_used_only_when_named", || Ok(rasterisers()?)),
        Trial::test("resumed_runs_use_their_saved_float_mode", || Ok(resumed_runs()?)),
        Trial::test("bench_measures_every_float_mode", || Ok(benches()?)),
        Trial::test("audits_train_models_on_the_device", || Ok(trainings()?)),
        Trial::test("one_run_audits_train_models_on_the_device", || Ok(one_run()?)),
        Trial::test("federated_audits_train_clients_on_the_device", || Ok(federated()?)),
        Trial::test("canaries_are_optimised_on_the_device", || Ok(optimisations()?)),
        Trial::test("full_noisy_sums_do_not_depend_on_the_device", || Ok(noisy_sums()?)),
    ]
}

/// Bounds and cosines are those of the CPU, and others with another seed.
fn noisy_sums() -> Result<(), String> {
    let folder = folder()?;
    let written = |words: &str| -> Result<Value, String> {
        done(&folder, &format!("{words} --out runs"), 0)?;
        let bytes = fs::read(folder.path().join("runs")).map_err(|error| error.to_string())?;
        let artefact: Value = serde_json::from_slice(&bytes).map_err(|error| error.to_string())?;
        fs::remove_file(folder.path().join("runs")).map_err(|error| error.to_string())?;
        Ok(artefact["histograms"].clone())
    };
    let words = "audit gaussian --noise-multiplier 0.5 --dimension 9000 --design poisson:40 --delta 1e-6 \
                 --full --seed 7";
    let cpu = written(&format!("{words} --device cpu"))?;
    ensure(cpu.is_object(), || format!("no evidence: {cpu}"))?;
    for adapter in adapters()? {
        let found = written(&format!("{words} --device {}", adapter.index))?;
        ensure(found == cpu, || format!("{}: {found}, {cpu}", adapter.name))?;
    }
    let other = written(&format!("{words} --device cpu").replace("--seed 7", "--seed 8"))?;
    ensure(other != cpu, || "another seed has the same cosines".to_owned())
}

/// The program's histograms are those of the CPU in exact mode, and others with another seed.
fn exact_histograms() -> Result<(), String> {
    let folder = folder()?;
    let written = |name: &str, words: &str| -> Result<Value, String> {
        done(&folder, &format!("{words} --out {name}"), 0)?;
        let bytes = fs::read(folder.path().join(name)).map_err(|error| error.to_string())?;
        let artefact: Value = serde_json::from_slice(&bytes).map_err(|error| error.to_string())?;
        Ok(serde_json::json!([artefact["layout"], artefact["histograms"]]))
    };
    let cpu = written("cpu", &format!("{AUDIT} --device cpu"))?;
    for adapter in adapters()? {
        let exact = format!("{AUDIT} --device {} --float-mode exact", adapter.index);
        let name = &adapter.name;
        ensure(written("exact", &exact)? == cpu, || format!("{name}: not the CPU's histograms"))?;
        let other = written("other", &exact.replace("--seed 7", "--seed 8"))?;
        ensure(other != cpu, || format!("{name}: another seed has the same histograms"))?;
    }
    Ok(())
}

/// The report names device, float mode and fallback.
fn reports() -> Result<(), String> {
    let folder = folder()?;
    for adapter in adapters()? {
        let fast = format!("{AUDIT} --device {} --float-mode fast", adapter.index);
        let report = json(&done(&folder, &format!("{fast} --json"), 0)?)?;
        let device = report["device"].as_str().unwrap_or_default();
        ensure(device.contains(&adapter.name), || format!("{} is called {device}", adapter.name))?;
        ensure(report["float_mode"] == "fast", || format!("{}", report["float_mode"]))?;
        ensure(report["fallback_shards"] == 0, || format!("{}", report["fallback_shards"]))?;
        let shown = done(&folder, &fast, 0)?.stdout;
        ensure(shown.contains("float mode fast"), || shown.clone())?;
    }
    Ok(())
}

/// `--device gpu` takes hardware or nothing, `auto` hardware or the CPU.
fn rasterisers() -> Result<(), String> {
    let folder = folder()?;
    if adapters()?.iter().any(|adapter| adapter.hardware) {
        return done(&folder, &format!("{AUDIT} --device gpu"), 0).map(drop);
    }
    let refused = done(&folder, &format!("{AUDIT} --device gpu"), 4)?.stderr;
    for part in ["no hardware GPU", "software", "install"] {
        ensure(refused.contains(part), || format!("`{part}` is missing in: {refused}"))?;
    }
    let report = json(&done(&folder, &format!("{AUDIT} --device auto --json"), 0)?)?;
    let device = report["device"].as_str().unwrap_or_default();
    ensure(device.starts_with("cpu ("), || format!("auto took {device}"))
}

/// A run of the CPU resumes in exact mode, never in fast mode.
fn resumed_runs() -> Result<(), String> {
    let folder = folder()?;
    let digest = |ended: &CommandResult| -> Result<Value, String> {
        Ok(json(ended)?["histogram_digest"].clone())
    };
    let whole = digest(&done(&folder, &format!("{AUDIT} --json"), 0)?)?;
    done(&folder, &format!("{AUDIT} --shard 2/3 --out part"), 0)?;
    for adapter in adapters()? {
        let state = format!("state-{}", adapter.index);
        let resume = format!("resume {state} --device {}", adapter.index);
        let begin = format!("merge part --allow-gaps --out {state}");
        done(&folder, &begin, 0)?;
        let refused = done(&folder, &format!("{resume} --float-mode fast"), 5)?.stderr;
        for part in [&state, "--float-mode exact"] {
            ensure(refused.contains(part), || format!("`{part}` is missing in: {refused}"))?;
        }
        let exact = done(&folder, &format!("{resume} --json"), 0)?;
        ensure(digest(&exact)? == whole, || format!("{}: other counts", adapter.name))?;
    }
    Ok(())
}

/// Rates of both modes are printed beside the CPU's.
fn benches() -> Result<(), String> {
    let folder = folder()?;
    for adapter in adapters()? {
        let words = format!("bench --device {} --seconds 0.1 --json", adapter.index);
        let report = json(&done(&folder, &words, 0)?)?;
        let rows = report["rows"].as_array().ok_or("no rows")?;
        let modes: Vec<&Value> = rows.iter().map(|row| &row["float_mode"]).collect();
        ensure(modes == ["exact", "fast", "exact"], || format!("{modes:?}"))?;
        for row in rows {
            let rate = row["rate"]["normals_per_second"].as_f64();
            let measured = rate.is_some_and(|rate| rate > 0.0) != row["problem"].is_string();
            ensure(measured, || format!("{row:#}"))?;
        }
    }
    Ok(())
}

/// Canaries are optimised where `--device` says, with the same result each time; a state of another
/// device is resumed with a warning.
fn optimisations() -> Result<(), String> {
    const OPTIMISE: &str = "canaries optimise --model tiny.toml --data tiny.csv --count 8 --steps 2 \
                            --batch-size 20 --metasteps 2 --validation-splits 2 --seed 1 \
                            --out c.npz --json";
    let folder = folder()?;
    let model = "input = { channels = 3 }\nlayers = [{ kind = \"linear\", outputs = 4 }, \
                 { kind = \"tanh\" }, { kind = \"linear\", outputs = 2 }]";
    let rows: String = (0..60).map(|i| format!("{},{},0.5,{}\n", i % 2, i % 7, i % 5)).collect();
    for (name, text) in [("tiny.toml", model), ("tiny.csv", &rows)] {
        fs::write(folder.path().join(name), text).map_err(|error| error.to_string())?;
    }
    let optimised = |words: &str| {
        let _ = fs::remove_file(folder.path().join("c.npz")); // canaries are not overwritten
        done(&folder, words, 0)
    };
    let on_cpu = json(&optimised(&format!("{OPTIMISE} --device cpu"))?)?;
    ensure(on_cpu["devices"] == serde_json::json!(["cpu"]), || on_cpu["devices"].to_string())?;
    for adapter in adapters()? {
        let state = format!("optimised-{}", adapter.index);
        let optimise = format!("{OPTIMISE} --device {}", adapter.index);
        let saved = format!("{optimise} --checkpoint {state}");
        let whole = json(&optimised(&saved)?)?;
        let device = whole["devices"][0].as_str().unwrap_or_default();
        ensure(device.contains(&adapter.name), || format!("{} is called {device}", adapter.name))?;
        let again = json(&optimised(&optimise)?)?;
        ensure(again["objectives"] == whole["objectives"], || "objectives differ".to_owned())?;
        ensure(again["canaries_digest"] == whole["canaries_digest"], || {
            "other canaries".to_owned()
        })?;
        let [found, expected] = [&whole, &on_cpu].map(|report| report["objectives"][1].as_f64());
        let away = (found.unwrap_or(f64::NAN) - expected.unwrap_or(0.0)).abs();
        ensure(away <= 1e-3, || format!("{}: objective {away} from the CPU's", adapter.name))?;
        let resumed = optimised(&format!("{OPTIMISE} --device cpu --checkpoint {state}"))?;
        ensure(resumed.stderr.contains("not to the bit"), || resumed.stderr.clone())?;
        let devices = &json(&resumed)?["devices"];
        ensure(devices[1] == "cpu", || devices.to_string())?;
    }
    Ok(())
}

/// Models are trained where `--device` says, into outputs that another audit reads, or it says why
/// not.
fn trainings() -> Result<(), String> {
    const TRAIN: &str = "audit dpsgd --batch-size 20 --records 100 --noise-multiplier 1 --runs 60 \
                         --seed 7 --outputs-to o.npz";
    let folder = folder()?;
    let on_cpu = json(&done(&folder, &format!("{TRAIN} --device cpu --json"), 0)?)?;
    for adapter in adapters()? {
        let words = format!("{TRAIN} --device {}", adapter.index);
        let report = json(&done(&folder, &format!("{words} --device-memory 64 --json"), 0)?)?;
        let device = report["device"].as_str().unwrap_or_default();
        let named = device.starts_with(&adapter.name) && device.ends_with(", training)");
        ensure(named, || format!("{} is called {device}", adapter.name))?;
        ensure(report["fallback_shards"] == 0, || format!("{report:#}"))?;
        ensure(report["plan"] == on_cpu["plan"], || format!("{:#}", report["plan"]))?;
        let variance = |report: &Value| report["training"]["residual_variance"].as_f64();
        let [found, expected] = [&report, &on_cpu].map(|report| variance(report).unwrap_or(9.0));
        ensure((found - expected).abs() < 0.02, || format!("{found}, and {expected} on the CPU"))?;
        done(&folder, "audit outputs o.npz --threat-model partially-informed", 0)?;
        for (option, code, part) in [
            ("--debias-records 9", 4, "--debias-records is implemented on the CPU only"),
            ("--float-mode exact", 4, "--float-mode"),
            ("--device-memory 1", 4, "may be used"),
        ] {
            let refused = done(&folder, &format!("{words} {option}"), code)?.stderr;
            ensure(refused.contains(part), || format!("`{part}` is missing in: {refused}"))?;
            let is_left = folder.path().join("o.npz.part").exists();
            ensure(!is_left, || format!("{option} leaves a file without outputs"))?;
        }
    }
    Ok(())
}

/// Trainings with many canaries have the scores of the CPU, wherever they started.
fn one_run() -> Result<(), String> {
    const TRAIN: &str = "audit dpsgd --protocol one-run --canaries 20 --batch-size 20 --records 100 \
                         --noise-multiplier 0.5 --momentum 0.5 --score white-box --repeats 3 \
                         --reference-models 1 --seed 7 --json";
    let folder = folder()?;
    let on_cpu = json(&done(&folder, &format!("{TRAIN} --device cpu"), 0)?)?;
    let ranking = |report: &Value| report["ranking"].clone();
    for adapter in adapters()? {
        let words = format!("{TRAIN} --device {}", adapter.index);
        let checkpoint = format!("{words} --device-memory 64 --checkpoint c{}", adapter.index);
        let report = json(&done(&folder, &checkpoint, 0)?)?;
        let device = report.pointer("/training/device").or(report.get("device"));
        let device = device.and_then(Value::as_str).unwrap_or_default();
        let named = device.starts_with(&adapter.name) && device.ends_with(", training)");
        ensure(named, || format!("{} is called {device}", adapter.name))?;
        ensure(report["bounds"] == on_cpu["bounds"], || format!("{:#}", report["bounds"]))?;
        let resumed = format!("resume c{0} --device {0} --device-memory 64 --json", adapter.index);
        let resumed = json(&done(&folder, &resumed, 0)?)?;
        ensure(ranking(&resumed) == ranking(&report), || format!("{:#}", ranking(&resumed)))?;
        for (option, part) in [
            ("--debias-records 9", "--debias-records is implemented on the CPU only"),
            ("--float-mode exact", "--float-mode"),
            ("--device-memory 1 --model cnn --learning-rate 1", "one model needs"),
        ] {
            let refused = done(&folder, &format!("{words} {option}"), 4)?.stderr;
            ensure(refused.contains(part), || format!("`{part}` is missing in: {refused}"))?;
        }
    }
    Ok(())
}

/// Clients of federated trainings train on the device, and a resumed audit is the same.
fn federated() -> Result<(), String> {
    const TRAIN: &str = "audit fedavg --noise-multiplier 0.3 --delta 1e-6 --seed 4 --clients 40 \
                         --records-per-client 4 --rounds 6 --participation epochs:2 \
                         --local-epochs 1 --design poisson:30 --json";
    let folder = folder()?;
    let on_cpu = json(&done(&folder, &format!("{TRAIN} --device cpu"), 0)?)?;
    let attacks = |report: &Value| report["training"]["attacks"].as_array().cloned();
    for adapter in adapters()? {
        let words = format!("{TRAIN} --device {} --device-memory 64", adapter.index);
        let report = json(&done(&folder, &format!("{words} --checkpoint f{}", adapter.index), 0)?)?;
        let device = report.pointer("/training/device").and_then(Value::as_str).unwrap_or_default();
        let named = device.starts_with(&adapter.name) && device.ends_with(", training)");
        ensure(named, || format!("{} is called {device}", adapter.name))?;
        let means = |report: &Value| -> Vec<f64> {
            let attacks = attacks(report).unwrap_or_default();
            attacks.iter().filter_map(|attack| attack["mean_score"].as_f64()).collect()
        };
        let (found, expected) = (means(&report), means(&on_cpu));
        let are_near = found.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-3);
        ensure(found.len() == expected.len() && !found.is_empty() && are_near, || {
            format!("{found:?}, but {expected:?} on the CPU")
        })?;
        let resumed = format!("resume f{0} --device {0} --device-memory 64 --json", adapter.index);
        let resumed = json(&done(&folder, &resumed, 0)?)?;
        ensure(attacks(&resumed) == attacks(&report), || "a resumed audit differs".to_owned())?;
        let refused = done(&folder, &format!("{words} --float-mode exact"), 2)?.stderr;
        ensure(refused.contains("--float-mode"), || refused)?;
    }
    Ok(())
}

struct Adapter {
    index: u64,
    name: String,
    hardware: bool,
}

fn adapters() -> Result<Vec<Adapter>, String> {
    let list = json(&done(&folder()?, "devices --json", 0)?)?;
    let devices = list["devices"].as_array().ok_or("no devices")?;
    let adapter = |device: &Value| {
        Some(Adapter {
            index: device["index"].as_u64()?,
            name: device["name"].as_str()?.to_owned(),
            hardware: device["kind"] == "hardware",
        })
    };
    let adapters: Vec<Adapter> = devices.iter().filter_map(adapter).collect();
    if adapters.is_empty() { Err("no adapter is listed".to_owned()) } else { Ok(adapters) }
}

fn folder() -> Result<TempDir, String> {
    tempfile::tempdir().map_err(|error| error.to_string())
}

fn done(folder: &TempDir, words: &str, code: i32) -> Result<CommandResult, String> {
    let ended = run(folder.path(), words);
    if ended.code == Some(code) { Ok(ended) } else { Err(format!("{words}: {ended:?}")) }
}

fn json(ended: &CommandResult) -> Result<Value, String> {
    serde_json::from_str(&ended.stdout).map_err(|error| format!("{error} in {}", ended.stdout))
}

fn ensure(holds: bool, otherwise: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(otherwise()) }
}
