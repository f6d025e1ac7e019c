//! `dpscope`: shows how much privacy a differentially private training run really leaks.

mod args;
mod commands;
mod device;
mod failure;
mod files;
mod output;
mod plot_files;
mod progress;
mod seed;
mod simulated_report;
mod training_file;

use std::process::ExitCode;

use dpscope_engine::backend::gpu::CAUGHT_PANIC;

use crate::args::{Cli, Command};
use crate::failure::Done;

/// Leaves to the engine's warning what it catches and tells in better words.
fn silence_caught_panics() {
    let shown = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        let is_caught = |message: &str| message.starts_with(CAUGHT_PANIC);
        if !panic.payload_as_str().is_some_and(is_caught) {
            shown(panic);
        }
    }));
}

/// Without a desktop, Mesa's layer that picks the desktop's GPU writes an error of its own to stderr;
/// `--device` picks here.
fn silence_device_select() {
    let is_set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let speaks = ["XDG_RUNTIME_DIR", "MESA_VK_DEVICE_SELECT", "DRI_PRIME"].iter().any(is_set);
    if cfg!(target_os = "linux") && !speaks {
        // SAFETY: the program has no other thread yet.
        unsafe { std::env::set_var("NODEVICE_SELECT", "1") };
    }
}

fn run(cli: Cli) -> Done {
    match cli.command {
        Command::Audit(audit) => match audit {
            args::Audit::Bgm(args) => commands::bgm::run(&args),
            args::Audit::Dpsgd(args) => commands::dpsgd::run(&args),
            args::Audit::Outputs(args) => commands::outputs::run(&args),
            args::Audit::Scores(args) => commands::scores::run(&args),
            args::Audit::Counts(args) => commands::counts::run(&args),
        },
        Command::Bound(args) => commands::bound::run(&args),
        Command::Calibrate(args) => commands::calibrate::run(&args),
        Command::Compare(args) => commands::compare::run(&args),
        Command::Sweep(args) => commands::sweep::run(&args),
        Command::Plan(args) => commands::plan::run(&args),
        Command::Merge(args) => commands::merge::run(&args),
        Command::Resume(args) => commands::resume::run(&args),
        Command::Reproduce(args) => commands::reproduce::run(&args),
        Command::Devices(args) => commands::devices::run(&args),
        Command::Bench(args) => commands::bench::run(&args),
        Command::Check(args) => commands::check::run(&args),
        Command::Serve(args) => commands::serve::run(&args),
        Command::Completions(args) => commands::completions::run(&args),
    }
}

fn main() -> ExitCode {
    silence_caught_panics();
    silence_device_select();
    match args::parse().and_then(run) {
        Ok(code) => ExitCode::from(code as u8),
        Err(failure) => {
            output::tell(&format!("error: {:#}", failure.error));
            ExitCode::from(failure.code as u8)
        }
    }
}
