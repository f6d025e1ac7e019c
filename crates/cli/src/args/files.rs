//! Rejects files that a command would write twice, or both read and write.

use std::path::{Path, PathBuf, absolute};

use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Command};

use crate::failure::Failure;
use crate::files::part_of;

/// How a command uses a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FileUse {
    Read,
    Write,
    ReadCounts,
    WriteCounts,
}

impl FileUse {
    /// The use of an argument by its name; none if it names no file.
    fn of(argument: &Arg) -> Option<FileUse> {
        match argument.get_id().as_str() {
            "checkpoint" | "out" => Some(FileUse::WriteCounts),
            "files" => Some(FileUse::ReadCounts),
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
            | "import" => is_path(argument).then_some(FileUse::Read),
            _ => None,
        }
    }

    fn reads(self) -> bool {
        matches!(self, FileUse::Read | FileUse::ReadCounts)
    }

    /// Whether one file can be used in both ways: counts of one plan may replace each other.
    fn is_compatible(self, other: FileUse) -> bool {
        let counts = |used| matches!(used, FileUse::ReadCounts | FileUse::WriteCounts);
        (self.reads() && other.reads()) || (counts(self) && counts(other))
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
    /// The same for all paths to one file.
    canonical: PathBuf,
    used: FileUse,
}

impl FileArgument {
    fn new(argument: &Arg, path: &Path, used: FileUse) -> Self {
        let name = match argument.get_long() {
            Some(long) => format!("--{long}"),
            None => argument.get_value_names().unwrap_or_default().join(" "),
        };
        FileArgument {
            argument: name,
            path: path.to_owned(),
            canonical: canonical_path(path),
            used,
        }
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

/// The canonical path of a file, whether it exists or not.
fn canonical_path(path: &Path) -> PathBuf {
    let in_folder = || {
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        let folder = parent.unwrap_or(Path::new(".")).canonicalize().ok()?;
        Some(folder.join(path.file_name()?))
    };
    let known = path.canonicalize().ok().or_else(in_folder).or_else(|| absolute(path).ok());
    known.unwrap_or_else(|| path.to_owned())
}

/// Rejects a file that a command would write twice, or write and read.
pub(crate) fn check_apart(command: &Command, matches: &ArgMatches) -> Result<(), Failure> {
    let (mut command, mut matches) = (command, matches);
    let mut seen: Vec<FileArgument> = Vec::new();
    loop {
        for named in
            command.get_arguments().flat_map(|argument| FileArgument::all_of(argument, matches))
        {
            let clash = seen.iter().find(|other| {
                other.canonical == named.canonical && !other.used.is_compatible(named.used)
            });
            if let Some(other) = clash {
                return Err(refusal(other, &named).about(&named.path));
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

    #[test]
    fn paths_to_one_file_are_equal() {
        let there = canonical_path(Path::new("Cargo.toml"));
        assert_eq!(canonical_path(Path::new("./src/../Cargo.toml")), there);
        assert_eq!(
            canonical_path(Path::new("src/absent")),
            canonical_path(Path::new("./src/./absent"))
        );
        assert_ne!(canonical_path(Path::new("absent")), canonical_path(Path::new("src/absent")));
    }
}
