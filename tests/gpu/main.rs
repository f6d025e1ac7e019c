//! Does a GPU compute what the CPU twins compute, whatever its limits and faults?
//!
//! Any adapter will do, one in software included (Debian: mesa-vulkan-drivers). Without one the
//! tests show as ignored, with the reason; with `REQUIRE_GPU=1` they fail.
//! `DPSCOPE_TEST_DEVICE=NAME` picks the first adapter whose name contains NAME.

mod audits;
mod cli;
mod comparison;
mod derivatives;
mod device;
mod directions;
mod exact;
mod fast;
mod faults;
mod federated;
mod kernels;
mod limits;
#[allow(clippy::unwrap_used, reason = "helpers of tests")]
#[path = "../../crates/train/tests/models/mod.rs"]
mod models;
mod one_run;
mod outcomes;
mod pair;
#[path = "../../shaders/tests/reference/mod.rs"]
mod reference;
mod stages;
mod training;
mod training_kernels;
mod training_runs;
mod twins;
mod wave;

use std::process::ExitCode;

use libtest_mimic::{Arguments, Failed, Trial};

fn main() -> ExitCode {
    // One line per file.
    let files = [
        stages::trials(),
        exact::trials(),
        fast::trials(),
        twins::trials(),
        faults::trials(),
        limits::trials(),
        outcomes::trials(),
        pair::trials(),
        directions::trials(),
        training::trials(),
        training_kernels::trials(),
        derivatives::trials(),
        one_run::trials(),
        federated::trials(),
        cli::trials(),
    ];
    let mut trials: Vec<Trial> = files.into_iter().flatten().collect();
    // A software adapter runs one thread per core itself.
    let arguments = Arguments { test_threads: Some(1), ..Arguments::from_args() };
    match device::gpu() {
        Ok(_) if arguments.list => {} // other programs read the list
        Ok(gpu) => println!("on {}", gpu.name),
        Err(reason) => trials = trials.iter().map(|trial| unable(trial, &reason)).collect(),
    }
    trials.push(Trial::test("comparisons_detect_differences", comparison::self_check));
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// A test of that name that fails with the reason; ignored unless it is required.
fn unable(trial: &Trial, reason: &str) -> Trial {
    let required = std::env::var("REQUIRE_GPU").is_ok_and(|value| value == "1");
    let message = reason.to_string();
    Trial::test(trial.name(), move || Err(Failed::from(message)))
        .with_kind(reason)
        .with_ignored_flag(!required)
}
