//! Rejects files that a command would write twice, or both read and write.

use std::path::{Path, PathBuf};

use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Command};

use crate::failure::Failure;
use crate::file_id::FileId;
use crate::files::part_of;

/// How a command uses a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FileUse {
    Read,
    Write,
    /// Counts of one plan: `--checkpoint` and `--out` may name the same file.
    WriteCounts,
}

impl FileUse {
    /// The use of an argument by its name; none if it names no file.
    fn of(argument: &Arg) -> Option<FileUse> {
        match argument.get_id().as_str() {
            "checkpoint" | "out" => Some(FileUse::WriteCounts),
            "plot" | "report" | "sarif" | "utility_plot" | "curves" | "csv" | "outputs_to" => {
                Some(FileUse::Write)
            }
            // a built-in name, or a file
            "data" | "model" => Some(FileUse::Read),
            "target" | "zero_out" | "labels" | "settings" | "file" | "runs" | "scores"
            | "coins" | "sets" | "baseline" | "seed" | "plan" | "cosines" | "unseen"
            | "trained" | "updates" | "models" | "participation" | "replies" | "initial"
            | "like" | "control" | "canary_file" | "vote_counts" | "base_data" | "null_scores"
            | "pool_scores" | "strategy_file" | "columns" | "folder" | "folders" | "test_data"
            | "import" | "files" | "projections" | "members" | "non_members" | "synthetic"
            | "member_strata" | "non_member_strata" | "ranks" | "candidates" | "drawn"
            | "guessed" | "priors" => is_path(argument).then_some(FileUse::Read),
            _ => None,
        }
    }

    fn reads(self) -> bool {
        self == FileUse::Read
    }

    /// Whether one file may have both uses.
    fn is_compatible(self, other: FileUse) -> bool {
        self == other && self != FileUse::Write
    }
}

/// Whether commands write to the files that an argument names.
pub(crate) fn writes_file(argument: &Arg) -> bool {
    FileUse::of(argument).is_some_and(|used| !used.reads())
}

/// Whether commands read the files that an argument names.
pub(crate) fn reads_file(argument: &Arg) -> bool {
    FileUse::of(argument).is_some_and(FileUse::reads)
}

fn is_path(argument: &Arg) -> bool {
    argument.get_value_parser().type_id() == std::any::TypeId::of::<PathBuf>()
}

/// A file named by an argument.
struct FileArgument {
    argument: String,
    path: PathBuf,
    id: FileId,
    used: FileUse,
}

impl FileArgument {
    fn new(argument: &Arg, path: &Path, used: FileUse) -> Self {
        let name = match argument.get_long() {
            Some(long) => format!("--{long}"),
            None => argument.get_value_names().unwrap_or_default().join(" "),
        };
        FileArgument { argument: name, path: path.to_owned(), id: FileId::of(path), used }
    }

    /// The files of an argument on the command line.
    fn all_of(argument: &Arg, matches: &ArgMatches) -> Vec<FileArgument> {
        let id = argument.get_id().as_str();
        let is_present = || matches.value_source(id) == Some(ValueSource::CommandLine);
        let Some(used) = FileUse::of(argument).filter(|_| is_present()) else { return Vec::new() };
        let values = matches.try_get_raw(id).ok().flatten().into_iter().flatten();
        let values = values.map(PathBuf::from);
        let paths: Vec<PathBuf> = if used.reads() {
            values.filter(|path| path.exists()).collect() // an absent file cannot be overwritten
        } else if id == "outputs_to" {
            values.flat_map(|path| [part_of(&path), path]).collect()
        } else {
            values.collect()
        };
        paths.iter().map(|path| FileArgument::new(argument, path, used)).collect()
    }
}

/// Rejects a file that a command would write twice, or write and read.
pub(crate) fn check_apart(command: &Command, matches: &ArgMatches) -> Result<(), Failure> {
    let (mut command, mut matches) = (command, matches);
    let mut seen: Vec<FileArgument> = Vec::new();
    loop {
        for named in
            command.get_arguments().flat_map(|argument| FileArgument::all_of(argument, matches))
        {
            if let Some(failure) = clash(&seen, &named) {
                return Err(failure.about(&named.path));
            }
            seen.push(named);
        }
        let inner = matches.subcommand();
        let Some((inner, command_of_it)) =
            inner.and_then(|(name, inner)| Some((inner, command.find_subcommand(name)?)))
        else {
            return Ok(());
        };
        (command, matches) = (command_of_it, inner);
    }
}

/// Why a file conflicts with those named before; none if it does not.
fn clash(seen: &[FileArgument], named: &FileArgument) -> Option<Failure> {
    let mut same = seen.iter().filter(|other| other.id == named.id);
    let other = same.find(|other| !other.used.is_compatible(named.used))?;
    Some(refusal(other, named))
}

fn refusal(one: &FileArgument, other: &FileArgument) -> Failure {
    let overwrites = |writes: &FileArgument, reads: &FileArgument| {
        format!("{} would overwrite the input of {}", writes.argument, reads.argument)
    };
    let problem = match (one.used.reads(), other.used.reads()) {
        (true, _) => overwrites(other, one),
        (_, true) => overwrites(one, other),
        _ => format!("{} and {} would both write this file", one.argument, other.argument),
    };
    Failure::input(format!("{problem}; choose another file"))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::program::Cli;

    fn unused(command: &Command) -> Vec<String> {
        let paths = command.get_arguments().filter(|argument| is_path(argument));
        let unknown = paths.filter(|argument| FileUse::of(argument).is_none());
        let own = unknown.map(|argument| argument.get_id().to_string());
        own.chain(command.get_subcommands().flat_map(unused)).collect()
    }

    #[test]
    fn every_path_argument_has_a_known_use() {
        assert_eq!(unused(&Cli::command()), ["dir"]); // a folder to serve
    }

    /// Calls `check` with every command.
    fn for_each_command(command: &Command, check: &mut impl FnMut(&Command)) {
        check(command);
        command.get_subcommands().for_each(|command| for_each_command(command, check));
    }

    #[test]
    fn no_output_of_any_command_replaces_an_input() {
        let mut pairs = 0;
        for_each_command(&Cli::command(), &mut |command| {
            for input in command.get_arguments().filter(|argument| reads_file(argument)) {
                for output in command.get_arguments().filter(|argument| writes_file(argument)) {
                    let [input, output] = [input, output].map(|argument| {
                        let used = FileUse::of(argument).unwrap();
                        FileArgument::new(argument, Path::new("Cargo.toml"), used)
                    });
                    let clash = clash(&[input], &output).map(|failure| failure.error.to_string());
                    let clash = clash.unwrap_or_default();
                    assert!(
                        clash.contains("would overwrite the input"),
                        "{}: {clash}",
                        command.get_name()
                    );
                    pairs += 1;
                }
            }
        });
        assert!(pairs > 100, "{pairs}");
    }
}
