//! `dpscope`: shows how much privacy a differentially private training run really leaks.

mod args;
mod commands;
mod device;
mod failure;
mod files;
mod progress;
mod report;
mod seed;

use std::process::ExitCode;

use crate::args::Command;

fn main() -> ExitCode {
    let cli = args::parse();
    let done = match cli.command {
        Command::Audit(audit) => match audit {
            args::Audit::Bgm(args) => commands::bgm::run(&args),
            args::Audit::Outputs(args) => commands::outputs::run(&args),
            args::Audit::Scores(args) => commands::scores::run(&args),
            args::Audit::Counts(args) => commands::counts::run(&args),
        },
        Command::Plan(args) => commands::plan::run(&args),
        Command::Merge(args) => commands::merge::run(&args),
        Command::Resume(args) => commands::resume::run(&args),
        Command::Reproduce(args) => commands::reproduce::run(&args),
        Command::Devices(args) => commands::devices::run(&args),
        Command::Bench(args) => commands::bench::run(&args),
        Command::Completions(args) => commands::completions::run(&args),
    };
    match done {
        Ok(code) => ExitCode::from(code as u8),
        Err(failure) => {
            report::tell(&format!("error: {:#}", failure.error));
            ExitCode::from(failure.code as u8)
        }
    }
}
