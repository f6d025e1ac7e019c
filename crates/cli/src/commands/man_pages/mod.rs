//! `dpscope man-pages`: writes a manual page for each command.

mod args;

pub(crate) use args::ManPagesArgs;

use std::fs;

use crate::failure::{CommandResult, Exit, Failure};

/// Writes the pages of `command_line`.
pub(crate) fn run(args: &ManPagesArgs, command_line: clap::Command) -> CommandResult {
    let folder = &args.folder;
    fs::create_dir_all(folder)
        .and_then(|()| clap_mangen::generate_to(command_line, folder))
        .map_err(|error| Failure::input(error).about(folder))?;
    Ok(Exit::Done)
}
