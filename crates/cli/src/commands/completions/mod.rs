//! `dpscope completions`: scripts for shells.

mod args;

pub(crate) use args::CompletionsArgs;

use clap::CommandFactory;

use crate::Cli;
use crate::failure::{Done, Exit};
use crate::output::{print, print_json};

pub(crate) fn run(args: &CompletionsArgs) -> Done {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "dpscope", &mut script);
    let script = String::from_utf8_lossy(&script);
    if args.json {
        let shell = args.shell.to_string();
        print_json(&serde_json::json!({
            "schema": "dpscope.completions/1", "shell": shell, "script": script,
        }))?;
    } else {
        print(&script)?;
    }
    Ok(Exit::Done)
}
