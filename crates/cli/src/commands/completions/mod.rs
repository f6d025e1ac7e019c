//! `dpscope completions`: prints shell completion scripts.

mod args;

pub(crate) use args::CompletionsArgs;

use dpscope_report::record::Completions;

use crate::failure::{CommandResult, Exit};
use crate::output::{print_json, print_unchanged};

/// Prints the completion script of `command_line`.
pub(crate) fn run(args: &CompletionsArgs, mut command_line: clap::Command) -> CommandResult {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command_line, "dpscope", &mut script);
    let script = String::from_utf8_lossy(&script);
    if args.json {
        print_json(&Completions {
            schema: "dpscope.completions/1",
            shell: args.shell.to_string(),
            script: script.into_owned(),
        })?;
    } else {
        print_unchanged(&script)?;
    }
    Ok(Exit::Done)
}
