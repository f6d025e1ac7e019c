//! The program: its command line, and how it ends.

use std::error::Error;
use std::ffi::OsString;
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue};
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use dpscope_core::foreign_text::ForeignText;
use dpscope_engine::gpu::CAUGHT_PANIC;

use crate::commands::Command;
#[cfg(feature = "native")]
use crate::commands::{
    completions::{self, CompletionsArgs},
    man_pages::{self, ManPagesArgs},
};
use crate::failure::{CommandResult, Exit, Failure, Refusal, error_report};
use crate::given::{Matched, Program, set_program};
use crate::{args, host, output};

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

/// Ignores SIGXFSZ, which would end the program: a write beyond the limit on file sizes is then an error,
/// as on a full disk.
fn ignore_file_size_signal() {
    #[cfg(unix)]
    {
        use nix::sys::signal::{SigHandler, Signal, signal};
        // SAFETY: the signal is ignored, so no handler runs.
        let _ = unsafe { signal(Signal::SIGXFSZ, SigHandler::SigIgn) };
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
    /// Start runs that are estimated to take more than an hour without asking.
    #[arg(long, global = true, display_order = 901)]
    yes: bool,
    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    #[command(flatten)]
    Command(Box<Command>),
    /// Print a shell completion script.
    #[cfg(feature = "native")]
    Completions(CompletionsArgs),
    /// Write a manual page for each command.
    #[cfg(feature = "native")]
    ManPages(ManPagesArgs),
}

fn run(cli: Cli) -> CommandResult {
    let result = match cli.task {
        Task::Command(command) => command.run(),
        #[cfg(feature = "native")]
        Task::Completions(args) => completions::run(&args, Cli::command()),
        #[cfg(feature = "native")]
        Task::ManPages(args) => man_pages::run(&args, Cli::command()),
    };
    // a refused run is an error, whatever the command returned
    host::consent().refusal().map_or(result, |message| Err(Failure::input(message)))
}

/// Parses the arguments after the name of the program and rejects files that they name twice.
fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Cli, Refusal> {
    set_program(PROGRAM);
    let words: Vec<OsString> = arguments.into_iter().collect();
    let cli = parsed(words.clone()).map_err(|refusal| match refusal {
        Refusal::Usage(error) => {
            Refusal::Usage(with_values_once(without_foreign_words(error, &words)))
        }
        refusal => refusal,
    })?;
    if cli.ascii {
        output::use_ascii();
    }
    if cli.yes {
        host::consent().give();
    }
    Ok(cli)
}

fn parsed(words: Vec<OsString>) -> Result<Cli, Refusal> {
    let (_, matches) = matched(words)?;
    Cli::from_arg_matches(&matches).map_err(Refusal::Usage)
}

/// The error with the words of the command line shown as foreign text.
///
/// clap has formatted the words already, so the escaped command line is parsed again.
fn without_foreign_words(error: clap::Error, words: &[OsString]) -> clap::Error {
    let shown = words.iter().map(|word| ForeignText::new(word).as_str().into());
    match parsed(shown.collect()) {
        Err(Refusal::Usage(shown)) if shown.kind() == error.kind() => shown,
        _ => error,
    }
}

/// The error with the refused value once: in clap's message for the option, in that of the parser, or in
/// a tip.
fn with_values_once(mut error: clap::Error) -> clap::Error {
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.clone()),
        _ => None,
    };
    let (option, value) = (text(ContextKind::InvalidArg), text(ContextKind::InvalidValue));
    if let (Some(option), Some(value), Some(source)) = (&option, value, error.source()) {
        let problem = source.to_string();
        let has_value =
            problem.contains(&format!("`{value}`")) || problem.starts_with(&format!("{value} "));
        let message = format!(
            "invalid value for '{option}': {problem}\n\nFor more information, try '--help'.\n"
        );
        return if has_value { clap::Error::raw(error.kind(), message) } else { error };
    }
    if let (Some(option), Some(ContextValue::StyledStrs(mut tips))) =
        (option, error.remove(ContextKind::Suggested))
    {
        tips.retain(|tip| !tip.to_string().contains(&option));
        if !tips.is_empty() {
            error.insert(ContextKind::Suggested, ContextValue::StyledStrs(tips));
        }
    }
    error
}

/// What commands may do with the whole program.
pub(crate) const PROGRAM: Program = Program { matched, execute };

/// Parses the arguments after the name of the program and runs their command.
pub(crate) fn execute(words: Vec<OsString>) -> CommandResult {
    match parse(words) {
        Ok(cli) => run(cli),
        Err(refusal) => Err(refusal.into()),
    }
}

/// The program, and the arguments after its name as [`parse`] reads them. Negative numbers are values, so
/// that the error names the domain.
fn matched(arguments: Vec<OsString>) -> Matched {
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
    let text = error.render().to_string();
    if has_argument("--ascii") {
        output::use_ascii();
    }
    if output::shown(&text) != text {
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
    silence_caught_panics();
    silence_device_select();
    ignore_file_size_signal();
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

    #[test]
    fn refused_values_are_shown_once_and_shortened() {
        for line in [
            "bound VALUE",
            "bound poisson --noise-multiplier VALUE",
            "bound poisson --delta VALUE",
            "audit counts --claim=VALUE",
            "audit counts --significance VALUE",
            "audit bgm --observations VALUE",
            "audit bgm --shard VALUE",
            "audit bgm --sampler VALUE",
            "plan federated --design VALUE",
            "serve --port VALUE",
            "recompute --VALUE",
            "recompute report.html VALUE",
        ] {
            for (value, mark) in [("q7q", "q7q"), (&*"q".repeat(4_000), "…")] {
                let words = line.split(' ').map(|word| word.replace("VALUE", value).into());
                let shown = match parse(words) {
                    Err(Refusal::Usage(error)) => error.render().to_string(),
                    _ => panic!("{line} is accepted"),
                };
                assert_eq!(shown.matches(mark).count(), 1, "{shown}");
                assert!(shown.starts_with("error: ") && shown.len() < 1_000, "{shown}");
            }
        }
    }

    fn options(command: &clap::Command) -> Vec<clap::Arg> {
        let below = command.get_subcommands().flat_map(options);
        command.get_arguments().cloned().chain(below).collect()
    }

    fn accepts(option: &clap::Arg, value: &str) -> bool {
        let parser = option.get_value_parser().clone();
        let alone = clap::Arg::new("value").long("value").value_parser(parser);
        let command = clap::Command::new("test").arg(alone);
        command.try_get_matches_from(["test".to_owned(), format!("--value={value}")]).is_ok()
    }

    #[test]
    fn every_claim_limit_and_target_has_one_domain() {
        const NAMES: [&str; 4] = ["claim", "fail_above", "epsilon", "poisson_epsilon"];
        let is_epsilon = |option: &clap::Arg| {
            let name = option.get_value_names().and_then(|names| names.first());
            name.is_some_and(|name| name == "EPS") || NAMES.contains(&option.get_id().as_str())
        };
        let mut found = options(&Cli::command());
        found.retain(is_epsilon);
        assert!(found.len() > 30, "{}", found.len());
        for option in &found {
            for value in ["0", "0.5", "1e-5", "8"] {
                assert!(accepts(option, value), "{option} {value}");
            }
            for value in ["nan", "NaN", "-1", "-1e-9", "inf", "-inf", "infinity", "1e400", "", "x"]
            {
                assert!(!accepts(option, value), "{option} {value}");
            }
        }
    }
}
