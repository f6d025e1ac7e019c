//! Do the kernels on a GPU give what their CPU twins give?
//!
//! Any adapter will do, one in software included (Debian: mesa-vulkan-drivers). Without one the
//! tests show as ignored, with the reason; with `REQUIRE_GPU=1` they fail. `DPSCOPE_TEST_DEVICE=NAME`
//! picks the first adapter whose name holds NAME.

mod audits;
mod cli;
mod comparison;
mod device;
mod exact;
mod faults;
mod kernels;
mod limits;
mod stages;
mod twins;

use std::process::ExitCode;

use libtest_mimic::{Arguments, Failed, Trial};

fn main() -> ExitCode {
    // One line a file.
    let files = [
        stages::trials(),
        exact::trials(),
        twins::trials(),
        limits::trials(),
        faults::trials(),
        cli::trials(),
    ];
    let needing_a_gpu = files.into_iter().flatten();
    let missing = device::gpu().err();
    let required = std::env::var("REQUIRE_GPU").is_ok_and(|v| !["", "0", "false"].contains(&&*v));
    let mut trials: Vec<Trial> = match &missing {
        None => needing_a_gpu.collect(),
        Some(reason) => needing_a_gpu.map(|trial| unable(&trial, reason, required)).collect(),
    };
    trials.push(Trial::test("comparisons_tell_right_from_wrong", comparison::self_check));
    if let Ok(gpu) = device::gpu() {
        println!("on {}", gpu.name);
    }
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

/// A test of that name that fails with the reason; ignored unless it is required.
fn unable(trial: &Trial, reason: &str, required: bool) -> Trial {
    let message = reason.to_string();
    Trial::test(trial.name(), move || Err(Failed::from(message)))
        .with_kind(reason)
        .with_ignored_flag(!required)
}
