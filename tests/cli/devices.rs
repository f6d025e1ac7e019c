//! `--device`, `devices` and `bench`, on machines with any adapters.

use dpscope_tests::cli::{CommandResult, dpscope as program, number, text};
use serde_json::Value;

use crate::{Folder, SMALL, dpscope};

/// Devices that `dpscope devices` lists, the CPU first.
fn listed() -> Vec<Value> {
    let list = dpscope("devices --json").exits(0).json();
    assert_eq!(text(&list, "/schema"), "dpscope.devices/1");
    list["devices"].as_array().unwrap().clone()
}

#[test]
fn devices_are_listed() {
    let devices = listed();
    let cpu = &devices[0];
    assert_eq!([text(cpu, "/name"), text(cpu, "/kind")], ["cpu"; 2]);
    assert_eq!(text(cpu, "/float_mode"), "exact");
    assert!(number(cpu, "/threads") >= 1.0 && cpu["index"].is_null());
    for (index, adapter) in devices[1..].iter().enumerate() {
        assert_eq!(number(adapter, "/index"), index as f64);
        assert!(["hardware", "software"].contains(&text(adapter, "/kind")), "{adapter:#}");
        assert!(number(adapter, "/max_storage_binding_bytes") > 0.0);
        assert!(!text(adapter, "/driver").is_empty() && !text(adapter, "/backend").is_empty());
    }
}

#[test]
fn auto_selects_one_device_and_no_rasteriser() {
    let devices = listed();
    let taken: Vec<&Value> = devices.iter().filter(|device| device["auto"] == true).collect();
    assert_eq!(taken.len(), 1, "{devices:#?}");
    let has_hardware = devices.iter().any(|device| device["kind"] == "hardware");
    assert_eq!(taken[0]["kind"], if has_hardware { "hardware" } else { "cpu" });
    let shown = dpscope("devices").exits(0).stdout;
    assert_eq!(shown.contains("No hardware GPU was found: install "), !has_hardware, "{shown}");
    assert_eq!(shown.matches(" yes ").count(), 1, "{shown}");
}

#[test]
fn absent_devices_exit_with_code_4() {
    let beyond = listed().len() - 1;
    for device in ["no-such-gpu", "cuda:0", &format!("{beyond}"), "-1"] {
        let device = format!("--device {device}");
        for command in [SMALL, "reproduce figure-3 --observations 400", "bench --seconds 0.01"] {
            let parts = [&device[9..], "`dpscope devices`", "--device auto"];
            dpscope(&format!("{command} {device}")).refuses(4, &parts);
        }
    }
    if listed().iter().all(|device| device["kind"] != "hardware") {
        dpscope(&format!("{SMALL} --device gpu")).refuses(4, &["no hardware GPU", "install"]);
    }
}

#[test]
fn the_cpu_is_exact_in_every_float_mode() {
    let report = |words: &str| dpscope(&format!("{SMALL} --json {words}")).exits(0).json();
    let plain = report("");
    for words in ["--device cpu", "--device CPU --float-mode fast", "--float-mode exact"] {
        let other = report(words);
        assert_eq!(text(&other, "/float_mode"), "exact", "{words}");
        for path in ["/histogram_digest", "/device"] {
            assert_eq!(text(&other, path), text(&plain, path), "{words}");
        }
    }
    assert_eq!(number(&plain, "/fallback_shards"), 0.0);
    assert!(text(&plain, "/device").starts_with("cpu ("));
}

#[test]
fn options_override_the_environment() {
    let folder = Folder::new();
    let from_environment = |more: &[&str]| -> CommandResult {
        let mut command = program(folder.path());
        command.env("DPSCOPE_DEVICE", "no-such-gpu").args(SMALL.split(' ')).args(more);
        command.output().unwrap().into()
    };
    from_environment(&[]).refuses(4, &["`no-such-gpu`"]);
    from_environment(&["--device", "cpu"]).exits(0);
    let mut command = program(folder.path());
    command.env("DPSCOPE_DEVICE", "").args(SMALL.split(' '));
    CommandResult::from(command.output().unwrap()).exits(0);
}

#[test]
fn drivers_print_nothing_without_a_desktop() {
    let folder = Folder::new();
    let mut command = program(folder.path());
    command.env_remove("XDG_RUNTIME_DIR").arg("devices");
    assert_eq!(CommandResult::from(command.output().unwrap()).exits(0).stderr, "");
}

#[test]
fn bench_rates_are_positive() {
    let words = "bench --seconds 0.05 --device cpu --steps 20 --sampler poisson";
    let report = dpscope(&format!("{words} --json")).exits(0).json();
    assert_eq!(text(&report, "/schema"), "dpscope.bench/1");
    assert_eq!(text(&report, "/mechanism/sampler"), "poisson");
    assert_eq!(number(&report, "/normals_per_observation"), 20.0);
    assert_eq!(report["rows"].as_array().map(Vec::len), Some(1));
    let cpu = &report["rows"][0];
    assert_eq!([text(cpu, "/device"), text(cpu, "/float_mode")], ["cpu", "exact"]);
    let [observations, normals, ratio] =
        ["observations_per_second", "normals_per_second", "ratio_to_cpu"]
            .map(|name| number(cpu, &format!("/rate/{name}")));
    assert!(observations > 0.0 && (normals / observations - 20.0).abs() < 1e-9 && ratio == 1.0);
    let shown = dpscope(words).exits(0);
    assert_eq!(shown.stderr, "");
    assert!(shown.stdout.contains("normals/s"), "{}", shown.stdout);
}

#[test]
fn bad_bench_options_are_rejected() {
    for (words, part) in [
        ("--seconds 0", "--seconds"),
        ("--seconds 1e9", "up to 600"),
        ("--steps 0", "--steps is 0"),
        ("--noise-multiplier nan", "--noise-multiplier = NaN"),
        ("--sampler sliding-buffer", "--buffer-examples is missing"),
    ] {
        dpscope(&format!("bench {words}")).refuses(2, &[part]);
    }
}
