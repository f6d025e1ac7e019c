//! The options of every command as data, from which bindings to other languages make their functions.

use std::any::TypeId;
use std::path::PathBuf;

use clap::builder::PossibleValue;
use clap::{Arg, ArgAction, Command, CommandFactory};
use serde::Serialize;

use crate::args::{reads_file, writes_file};
use crate::program::Cli;

/// Values that show what the parser of a type of this program accepts.
const NUMBERS: [&str; 2] = ["0.75", "1.5"];
const INTEGERS: [&str; 3] = ["1", "64", "2000000"];
const WORD: &str = "word";
const PERCENTAGE: &str = "75%";

/// The types of numbers. One of another type may also be a word, such as `search`.
const INTEGER_TYPES: [TypeId; 5] = [
    TypeId::of::<u8>(),
    TypeId::of::<u16>(),
    TypeId::of::<u32>(),
    TypeId::of::<u64>(),
    TypeId::of::<usize>(),
];
const NUMBER_TYPES: [TypeId; 1] = [TypeId::of::<f64>()];

/// A command of the program.
#[derive(Debug, Serialize)]
struct CommandEntry {
    /// Its words, such as `audit bgm`.
    name: String,
    /// What it does.
    about: String,
    options: Vec<OptionEntry>,
}

/// An option or an argument of a command.
#[derive(Debug, Serialize)]
struct OptionEntry {
    /// The name of the option with underscores, or the id of the argument.
    name: String,
    kind: ValueKind,
    /// Whether it is an argument, without the name of an option.
    is_positional: bool,
    is_required: bool,
    /// Whether it takes several values, as a list or repeated.
    is_list: bool,
    /// Whether words are accepted beside numbers.
    takes_words: bool,
    /// Whether the option may stand without a value.
    is_value_optional: bool,
    default: Option<String>,
    choices: Vec<Choice>,
    /// What stands for its value in the help, such as `FILE` or `DIR`.
    value_name: Option<String>,
    /// Options that it excludes, by their names.
    conflicts: Vec<String>,
    help: String,
}

/// A value of an option with a few values.
#[derive(Debug, Serialize)]
struct Choice {
    name: String,
    help: String,
}

/// What the value of an option is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum ValueKind {
    /// An option without a value.
    Flag,
    /// `true` or `false`.
    Boolean,
    Integer,
    Number,
    Choice,
    Path,
    Text,
}

/// The options of every command that the help lists, as a JSON document.
///
/// # Errors
/// Only if the document cannot be written, which is a mistake of this program.
pub fn option_table() -> serde_json::Result<String> {
    let mut program = Cli::command().disable_help_subcommand(true);
    program.build(); // with the options of all commands
    let mut entries = Vec::new();
    add_commands(&program, &[], &mut entries);
    serde_json::to_string(&entries)
}

fn add_commands(command: &Command, names: &[&str], entries: &mut Vec<CommandEntry>) {
    for below in command.get_subcommands() {
        let names = [names, &[below.get_name()]].concat();
        let options = below.get_arguments().filter(|argument| is_listed(argument));
        let options = options.map(|argument| OptionEntry::of(below, argument)).collect();
        let about = below.get_about().map(ToString::to_string).unwrap_or_default();
        entries.push(CommandEntry { name: names.join(" "), about, options });
        add_commands(below, &names, entries);
    }
}

fn is_listed(argument: &Arg) -> bool {
    !argument.is_hide_set()
        && !matches!(
            argument.get_action(),
            ArgAction::Help | ArgAction::HelpShort | ArgAction::HelpLong | ArgAction::Version
        )
}

impl OptionEntry {
    fn of(command: &Command, argument: &Arg) -> OptionEntry {
        let help = argument.get_long_help().or(argument.get_help());
        let default = argument.get_default_values().first();
        let is_shown = |value: &PossibleValue| !value.is_hide_set();
        let values: Vec<PossibleValue> =
            argument.get_possible_values().into_iter().filter(is_shown).collect();
        let kind = ValueKind::of(argument, &values);
        let choices = values.iter().filter(|_| kind == ValueKind::Choice).map(Choice::of).collect();
        let is_number = matches!(kind, ValueKind::Integer | ValueKind::Number);
        let is_plain = has_type(argument, &INTEGER_TYPES) || has_type(argument, &NUMBER_TYPES);
        let numbers = argument.get_num_args();
        OptionEntry {
            name: name_of(argument),
            kind,
            is_positional: argument.is_positional(),
            is_required: argument.is_required_set(),
            is_list: matches!(argument.get_action(), ArgAction::Append)
                || numbers.is_some_and(|numbers| numbers.max_values() > 1),
            takes_words: is_number && (!is_plain || accepts(argument, PERCENTAGE)),
            is_value_optional: argument.get_action().takes_values()
                && numbers.is_some_and(|numbers| numbers.min_values() == 0),
            default: default.map(|value| value.to_string_lossy().into_owned()),
            choices,
            value_name: argument
                .get_value_names()
                .and_then(|names| names.first())
                .map(ToString::to_string),
            conflicts: conflicts_of(command, argument),
            help: help.map(ToString::to_string).unwrap_or_default(),
        }
    }
}

/// The name of the option with underscores, or the id of the argument.
fn name_of(argument: &Arg) -> String {
    match argument.get_long() {
        Some(option) => option.replace('-', "_"),
        None => argument.get_id().to_string(),
    }
}

/// The options that exclude this one, whichever of the two says so.
fn conflicts_of(command: &Command, argument: &Arg) -> Vec<String> {
    let excludes = |one: &Arg, other: &Arg| {
        command.get_arg_conflicts_with(one).iter().any(|found| found.get_id() == other.get_id())
    };
    let listed = command.get_arguments().filter(|other| is_listed(other));
    listed
        .filter(|other| excludes(argument, other) || excludes(other, argument))
        .map(name_of)
        .collect()
}

impl Choice {
    fn of(value: &PossibleValue) -> Choice {
        let help = value.get_help().map(ToString::to_string).unwrap_or_default();
        Choice { name: value.get_name().to_owned(), help }
    }
}

impl ValueKind {
    fn of(argument: &Arg, choices: &[PossibleValue]) -> ValueKind {
        let accepts_any = |values: &[&str]| values.iter().any(|value| accepts(argument, value));
        if !argument.get_action().takes_values() {
            ValueKind::Flag
        } else if has_type(argument, &[TypeId::of::<bool>()]) {
            ValueKind::Boolean
        } else if !choices.is_empty() {
            ValueKind::Choice
        } else if has_type(argument, &[TypeId::of::<PathBuf>()])
            || reads_file(argument)
            || writes_file(argument)
        {
            ValueKind::Path
        } else if has_type(argument, &INTEGER_TYPES) {
            ValueKind::Integer
        } else if has_type(argument, &NUMBER_TYPES) {
            ValueKind::Number
        } else if accepts(argument, WORD) {
            ValueKind::Text
        } else if accepts_any(&NUMBERS) {
            ValueKind::Number
        } else if accepts_any(&INTEGERS) {
            ValueKind::Integer
        } else {
            ValueKind::Text
        }
    }
}

/// Whether the values of an option are of one of these types.
fn has_type(argument: &Arg, types: &[TypeId]) -> bool {
    let of_parser = argument.get_value_parser().type_id();
    types.iter().any(|one| of_parser == *one)
}

/// Whether an option takes a value, whatever else is on the command line.
fn accepts(argument: &Arg, value: &str) -> bool {
    let parser = argument.get_value_parser().clone();
    let alone = Arg::new("value").long("value").value_parser(parser);
    let words = ["dpscope".to_owned(), format!("--value={value}")];
    Command::new("dpscope").arg(alone).try_get_matches_from(words).is_ok()
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    fn option(command: &str, name: &str) -> Value {
        let table: Value = serde_json::from_str(&option_table().unwrap()).unwrap();
        let command = table.as_array().unwrap().iter().find(|entry| entry["name"] == command);
        let options = command.unwrap()["options"].as_array().unwrap();
        options.iter().find(|option| option["name"] == name).unwrap().clone()
    }

    #[test]
    fn options_have_kind_default_and_choices() {
        let rule = option("audit scores", "threshold_rule");
        assert_eq!((&rule["kind"], &rule["default"]), (&"choice".into(), &"split".into()));
        let choices = rule["choices"].as_array().unwrap().iter().map(|choice| &choice["name"]);
        assert_eq!(choices.collect::<Vec<_>>(), ["split", "simultaneous", "max-uncorrected"]);
        for (command, name, kind) in [
            ("audit scores", "target", "path"),
            ("audit scores", "count_non_finite", "flag"),
            ("audit scores", "seed", "integer"),
            ("audit scores", "delta", "number"),
            ("audit gaussian", "design", "text"),
            ("check", "drop_last", "boolean"),
            ("bound", "subject", "choice"),
        ] {
            assert_eq!(option(command, name)["kind"], kind, "{command} {name}");
        }
    }

    #[test]
    fn lists_words_and_optional_values_are_noted() {
        assert_eq!(option("audit one-run", "scores")["is_list"], true);
        assert_eq!(option("audit scores", "target")["is_list"], false);
        assert_eq!(option("audit scores", "confidence")["takes_words"], true);
        assert_eq!(option("audit scores", "delta")["takes_words"], false);
        assert_eq!(option("audit pategan", "utility")["is_value_optional"], true);
        assert_eq!(option("bound", "subject")["is_positional"], true);
        assert_eq!(option("audit bgm", "noise_multiplier")["is_required"], true);
        assert_eq!(option("audit bgm", "yes")["kind"], "flag");
    }
}
