//! Does a GPU count what the CPU counts, whatever its limits and faults?
//!
//! Without an adapter the tests show as ignored, with the reason; with `REQUIRE_GPU=1` they fail.

mod audits;
mod faults;
mod limits;

use std::process::ExitCode;

use libtest_mimic::{Arguments, Failed, Trial};

fn main() -> ExitCode {
    let mut trials: Vec<Trial> = faults::trials().into_iter().chain(limits::trials()).collect();
    if audits::adapter().is_none() {
        let required = std::env::var("REQUIRE_GPU").is_ok_and(|value| value == "1");
        trials = trials.iter().map(|trial| unable(trial, required)).collect();
    }
    let arguments = Arguments { test_threads: Some(1), ..Arguments::from_args() };
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// A test of that name that fails for want of an adapter; ignored unless it is required.
fn unable(trial: &Trial, required: bool) -> Trial {
    let reason = "no GPU adapter";
    Trial::test(trial.name(), move || Err(Failed::from(reason)))
        .with_kind(reason)
        .with_ignored_flag(!required)
}
