//! Files that a command writes: apart from each other, and from those that it reads.

use std::path::{Path, PathBuf, absolute};

use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Command};

use crate::failure::Failure;
use crate::files::part_of;

/// What a command does with a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Use {
    Read,
    Write,
    ReadCounts,
    WriteCounts,
}

impl Use {
    /// By the name of the argument, if it names a file.
    fn of(argument: &Arg) -> Option<Use> {
        match argument.get_id().as_str() {
            "checkpoint" | "out" => Some(Use::WriteCounts),
            "files" => Some(Use::ReadCounts),
            "plot" | "curves" | "csv" | "outputs_to" => Some(Use::Write),
            // a name that is built in, or a file
            "data" | "model" => Some(Use::Read),
            "target" | "zero_out" | "labels" | "settings" | "file" | "runs" => {
                is_path(argument).then_some(Use::Read)
            }
            _ => None,
        }
    }

    fn reads(self) -> bool {
        matches!(self, Use::Read | Use::ReadCounts)
    }

    /// Whether one file can be used in both ways. Counts of one plan may take each other's place.
    fn goes_with(self, other: Use) -> bool {
        let counts = |used| matches!(used, Use::ReadCounts | Use::WriteCounts);
        (self.reads() && other.reads()) || (counts(self) && counts(other))
    }
}

fn is_path(argument: &Arg) -> bool {
    argument.get_value_parser().type_id() == std::any::TypeId::of::<PathBuf>()
}

/// A file that an argument names.
struct Named {
    argument: String,
    path: PathBuf,
    /// The same for all names of a file.
    place: PathBuf,
    used: Use,
}

impl Named {
    fn new(argument: &Arg, path: &Path, used: Use) -> Self {
        let name = match argument.get_long() {
            Some(long) => format!("--{long}"),
            None => argument.get_value_names().unwrap_or_default().join(" "),
        };
        Named { argument: name, path: path.to_owned(), place: place(path), used }
    }

    /// All files of an argument that was given.
    fn all_of(argument: &Arg, matches: &ArgMatches) -> Vec<Named> {
        let id = argument.get_id().as_str();
        let is_given = || matches.value_source(id) == Some(ValueSource::CommandLine);
        let Some(used) = Use::of(argument).filter(|_| is_given()) else { return Vec::new() };
        let values = matches.try_get_raw(id).ok().flatten().into_iter().flatten();
        let values = values.map(PathBuf::from);
        let paths: Vec<PathBuf> = if used.reads() {
            values.filter(|path| path.exists()).collect() // what is not there is not replaced
        } else if id == "outputs_to" {
            values.flat_map(|path| [part_of(&path), path]).collect()
        } else {
            values.collect()
        };
        paths.iter().map(|path| Named::new(argument, path, used)).collect()
    }
}

/// A file's one path, whether it is there or not.
fn place(path: &Path) -> PathBuf {
    let in_folder = || {
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        let folder = parent.unwrap_or(Path::new(".")).canonicalize().ok()?;
        Some(folder.join(path.file_name()?))
    };
    let known = path.canonicalize().ok().or_else(in_folder).or_else(|| absolute(path).ok());
    known.unwrap_or_else(|| path.to_owned())
}

/// Refuses a file that a command would write twice, or write and read.
pub(crate) fn check_apart(command: &Command, matches: &ArgMatches) -> Result<(), Failure> {
    let (mut command, mut matches) = (command, matches);
    let mut seen: Vec<Named> = Vec::new();
    loop {
        for named in command.get_arguments().flat_map(|argument| Named::all_of(argument, matches)) {
            let clash = seen
                .iter()
                .find(|other| other.place == named.place && !other.used.goes_with(named.used));
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

fn refusal(one: &Named, other: &Named) -> Failure {
    let says = |writes: &Named, reads: &Named| {
        format!("{} would replace what {} reads", writes.argument, reads.argument)
    };
    let says = match (one.used.reads(), other.used.reads()) {
        (true, _) => says(other, one),
        (_, true) => says(one, other),
        _ => format!("{} and {} would both write it", one.argument, other.argument),
    };
    Failure::input(format!("{says}; name another file"))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::Cli;

    fn unused(command: &Command) -> Vec<String> {
        let paths = command.get_arguments().filter(|argument| is_path(argument));
        let unknown = paths.filter(|argument| Use::of(argument).is_none());
        let own = unknown.map(|argument| argument.get_id().to_string());
        own.chain(command.get_subcommands().flat_map(unused)).collect()
    }

    #[test]
    fn the_use_of_every_file_is_known() {
        assert_eq!(unused(&Cli::command()), ["dir"]); // a folder that is served
    }

    #[test]
    fn a_file_has_one_place() {
        let there = place(Path::new("Cargo.toml"));
        assert_eq!(place(Path::new("./src/../Cargo.toml")), there);
        assert_eq!(place(Path::new("src/absent")), place(Path::new("./src/./absent")));
        assert_ne!(place(Path::new("absent")), place(Path::new("src/absent")));
    }
}
