//! The program: its command line, and how it ends.

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{ArgMatches, CommandFactory, FromArgMatches, Parser, Subcommand};
use dpscope_engine::gpu::CAUGHT_PANIC;

use crate::commands::Command;
use crate::commands::completions::{self, CompletionsArgs};
use crate::commands::man_pages::{self, ManPagesArgs};
use crate::failure::{CommandResult, Exit, Failure, error_report};
use crate::{args, output};

/// Hides the message of panics that the engine catches and reports as a warning.
pub(crate) fn silence_caught_panics() {
    let default_hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        let is_caught = |message: &str| message.starts_with(CAUGHT_PANIC);
        if !panic.payload_as_str().is_some_and(is_caught) {
            default_hook(panic);
        }
    }));
}

/// Disables Mesa's device-select layer, which prints an error to stderr on machines without a desktop;
/// devices are selected with `--device`.
fn silence_device_select() {
    let is_set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let is_configured =
        ["XDG_RUNTIME_DIR", "MESA_VK_DEVICE_SELECT", "DRI_PRIME"].iter().any(is_set);
    if cfg!(target_os = "linux") && !is_configured {
        // SAFETY: the program has no other thread yet.
        unsafe { std::env::set_var("NODEVICE_SELECT", "1") };
    }
}

/// Measure how much privacy a differentially private training run leaks.
#[derive(Debug, Parser)]
#[command(
    version,
    after_help = "Example:\n  dpscope audit bgm --noise-multiplier 1.0 --steps 100 --observations 1e7\n\n\
        Exit codes: 0 done, 1 internal error, 2 bad input, 3 claim refuted (only with --claim or \
        --fail-above), 4 no such device, 5 artefact of another run, \
        6 inconclusive (no bound that could decide --claim or --fail-above), 130 interrupted."
)]
pub(crate) struct Cli {
    /// Print text in ASCII: eps for the Greek letter, >= for its sign.
    #[arg(long, global = true, display_order = 900)]
    ascii: bool,
    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    #[command(flatten)]
    Command(Box<Command>),
    /// Print a shell completion script.
    Completions(CompletionsArgs),
    /// Write a manual page for each command.
    ManPages(ManPagesArgs),
}

pub(crate) fn run(cli: Cli) -> CommandResult {
    match cli.task {
        Task::Command(command) => command.run(),
        Task::Completions(args) => completions::run(&args, Cli::command()),
        Task::ManPages(args) => man_pages::run(&args, Cli::command()),
    }
}

/// Why a command line is not run.
pub(crate) enum Refusal {
    /// It asks for help, or cannot be parsed.
    Usage(clap::Error),
    Input(Failure),
}

impl From<Refusal> for Failure {
    /// What is wrong, without advice on the use of the command.
    fn from(refusal: Refusal) -> Self {
        let error = match refusal {
            Refusal::Input(failure) => return failure,
            Refusal::Usage(error) => error.render().to_string(),
        };
        let problem = ["\n\nUsage:", "\n\nFor more information"]
            .iter()
            .fold(error.as_str(), |text, end| text.split(end).next().unwrap_or(text));
        Failure::input(problem.trim().trim_start_matches("error: "))
    }
}

/// Parses the arguments after the name of the program and rejects files that they name twice.
pub(crate) fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Cli, Refusal> {
    let (_, matches) = matched(arguments)?;
    let cli = Cli::from_arg_matches(&matches).map_err(Refusal::Usage)?;
    if cli.ascii {
        output::use_ascii();
    }
    Ok(cli)
}

/// The program, and the arguments after its name as [`parse`] reads them. Negative numbers are values, so
/// that the error names the domain.
pub(crate) fn matched(
    arguments: impl IntoIterator<Item = OsString>,
) -> Result<(clap::Command, ArgMatches), Refusal> {
    fn negative_numbers(command: clap::Command) -> clap::Command {
        command
            .mut_args(|arg| if takes_value(&arg) { arg.allow_negative_numbers(true) } else { arg })
            .mut_subcommands(negative_numbers)
    }
    fn takes_value(arg: &clap::Arg) -> bool {
        !arg.is_positional() && arg.get_action().takes_values()
    }
    let mut command = negative_numbers(Cli::command());
    let arguments = [OsString::from("dpscope")].into_iter().chain(arguments);
    let matches = command.try_get_matches_from_mut(arguments).map_err(Refusal::Usage)?;
    args::check_apart(&command, &matches).map_err(Refusal::Input)?;
    Ok((command, matches))
}

/// Whether errors are documents, also those of a command line that cannot be parsed.
fn is_json() -> bool {
    let arguments: Vec<_> = std::env::args_os().collect();
    let is_format = arguments.windows(2).any(|pair| pair[0] == "--format" && pair[1] == "json");
    is_format || has_argument("--json") || has_argument("--format=json")
}

fn has_argument(name: &str) -> bool {
    std::env::args_os().any(|argument| argument == name)
}

/// Prints the help, the version, or an error of the command line.
fn exit_with_usage(error: &clap::Error) -> ! {
    if error.use_stderr() && is_json() {
        let message = error.render().to_string();
        let message = message.trim().trim_start_matches("error: ").to_owned();
        output::print_error(&error_report(Exit::Input, message));
    }
    if has_argument("--ascii") {
        output::use_ascii();
        let text = error.render().to_string();
        if error.use_stderr() {
            output::print_note(text.trim_end());
        } else {
            let _ = output::print(&text); // as clap does
        }
        std::process::exit(error.exit_code());
    }
    error.exit()
}

/// Runs the program on the arguments of this process.
#[must_use]
pub fn main() -> ExitCode {
    #[cfg(feature = "parquet")]
    if let Some(code) = crate::table_file::decode_if_asked() {
        return code;
    }
    silence_caught_panics();
    silence_device_select();
    let cli = match parse(std::env::args_os().skip(1)) {
        Ok(cli) => Ok(cli),
        Err(Refusal::Usage(error)) => exit_with_usage(&error),
        Err(Refusal::Input(failure)) => Err(failure),
    };
    match cli.and_then(run) {
        Ok(code) => ExitCode::from(code as u8),
        Err(failure) => {
            if is_json() {
                output::print_error(&failure.report());
            }
            output::print_note(&format!("error: {:#}", failure.error));
            ExitCode::from(failure.code as u8)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }
}
