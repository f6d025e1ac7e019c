//! The options of a command line, as words again.

use std::ffi::OsString;
use std::sync::OnceLock;

use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Command};

use crate::failure::{CommandResult, Exit, Failure, Refusal};
use crate::shell::arguments as own_arguments;

/// The program as a command of `clap`, and what it reads in a command line.
pub(crate) type Matched = Result<(Command, ArgMatches), Refusal>;

/// The whole program, for commands that read or check a command line: it depends on each of them, so
/// it names itself to them when it starts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Program {
    /// Parses the arguments after the name of the program.
    pub(crate) matched: fn(Vec<OsString>) -> Matched,
    /// Runs them on this thread.
    pub(crate) execute: fn(Vec<OsString>) -> CommandResult,
}

static PROGRAM: OnceLock<Program> = OnceLock::new();

pub(crate) fn set_program(program: Program) {
    PROGRAM.get_or_init(|| program);
}

/// The program that runs.
pub(crate) fn program() -> Result<Program, Failure> {
    PROGRAM.get().copied().ok_or_else(|| Failure::with(Exit::Internal, "no program runs"))
}

/// Parses the words of a command line.
pub(crate) fn matched(words: impl IntoIterator<Item = String>) -> Matched {
    let program = program().map_err(Refusal::Input)?;
    (program.matched)(words.into_iter().map(OsString::from).collect())
}

/// The innermost command, such as `audit bgm`, with its names.
pub(crate) fn innermost<'a>(
    command: &'a Command,
    matches: &'a ArgMatches,
) -> (Vec<&'a str>, &'a Command, &'a ArgMatches) {
    let (mut names, mut command, mut matches) = (Vec::new(), command, matches);
    while let Some((name, inner)) = matches.subcommand() {
        let Some(subcommand) = command.find_subcommand(name) else { break };
        names.push(name);
        (command, matches) = (subcommand, inner);
    }
    (names, command, matches)
}

/// An option of a command line.
pub(crate) struct GivenOption<'a> {
    pub(crate) argument: &'a Arg,
    pub(crate) values: Vec<String>,
    /// The option and its values.
    pub(crate) words: Vec<String>,
}

impl GivenOption<'_> {
    pub(crate) fn id(&self) -> &str {
        self.argument.get_id().as_str()
    }

    /// Whether the values are those of an option that is left out: 1e-05 is 1e-5.
    pub(crate) fn is_default(&self) -> bool {
        let defaults = self.argument.get_default_values();
        let is_same = |value: &str, default: &str| {
            let number = |text: &str| text.parse::<f64>().ok();
            value == default || number(value).is_some_and(|found| number(default) == Some(found))
        };
        let mut pairs = self.values.iter().zip(defaults);
        defaults.len() == self.values.len()
            && !defaults.is_empty()
            && pairs.all(|(value, default)| default.to_str().is_some_and(|it| is_same(value, it)))
    }
}

/// The options that are on the command line, in the order of the help.
pub(crate) fn given_options<'a>(
    command: &'a Command,
    matches: &'a ArgMatches,
) -> Vec<GivenOption<'a>> {
    command.get_arguments().filter_map(|argument| given(argument, matches)).collect()
}

/// Whether an option is on the command line, rather than in the environment, with another value than
/// its default.
pub(crate) fn is_given(id: &str) -> bool {
    let Ok((program, matches)) = matched(own_arguments()) else { return false };
    let (_, command, matches) = innermost(&program, &matches);
    let options = given_options(command, matches);
    options.iter().any(|option| option.id() == id && !option.is_default())
}

fn given<'a>(argument: &'a Arg, matches: &ArgMatches) -> Option<GivenOption<'a>> {
    let id = argument.get_id().as_str();
    let long = argument.get_long()?;
    let is_present = matches.try_contains_id(id).unwrap_or(false)
        && matches.value_source(id) == Some(ValueSource::CommandLine);
    if !is_present {
        return None;
    }
    if !argument.get_action().takes_values() {
        let times = match argument.get_action() {
            ArgAction::Count => matches.get_count(id),
            _ => 1,
        };
        let words = (0..times).map(|_| format!("--{long}")).collect();
        return Some(GivenOption { argument, values: Vec::new(), words });
    }
    let mut option = GivenOption { argument, values: Vec::new(), words: Vec::new() };
    for occurrence in matches.get_raw_occurrences(id)? {
        let mut values: Vec<String> =
            occurrence.map(|value| value.to_string_lossy().into_owned()).collect();
        option.values.extend(values.iter().cloned());
        if let Some(delimiter) = argument.get_value_delimiter() {
            values = vec![values.join(&delimiter.to_string())];
        }
        match &values[..] {
            [value] if value.starts_with('-') => option.words.push(format!("--{long}={value}")),
            _ => {
                option.words.push(format!("--{long}"));
                option.words.extend(values);
            }
        }
    }
    Some(option)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        set_program(crate::program::PROGRAM);
        let Ok((command, matches)) = matched(line.split(' ').map(str::to_owned)) else {
            panic!("{line} is not parsed");
        };
        let (names, command, matches) = innermost(&command, &matches);
        let names = names.into_iter().map(str::to_owned);
        let options = given_options(command, matches).into_iter().flat_map(|option| option.words);
        names.chain(options).collect()
    }

    #[test]
    fn words_give_the_same_command() {
        for line in [
            "audit bgm --noise-multiplier 1 --steps 100 --observations 1e4 --delta 1e-6 --json",
            "audit pategan --runs 40 --fault U1,S4 --seed 3",
            "audit federated --cosines c.npy --dimension 100 --control-client included --control-cosine=-0.1",
        ] {
            let once = words(line);
            assert_eq!(once.len(), line.split(' ').count(), "{once:?}");
            assert_eq!(words(&once.join(" ")), once);
            let sorted = |mut words: Vec<String>| {
                words.sort();
                words
            };
            assert_eq!(sorted(once), sorted(line.split(' ').map(str::to_owned).collect()));
        }
    }

    #[test]
    fn defaults_are_no_words() {
        let line = "audit bgm --noise-multiplier=1 --steps=5 --observations 8";
        let expected = ["audit", "bgm", "--noise-multiplier", "1", "--steps", "5"];
        assert_eq!(words(line)[..6], expected);
        assert_eq!(words(line).len(), 8);
    }

    #[test]
    fn values_that_are_defaults_are_recognised() {
        set_program(crate::program::PROGRAM);
        let line = "audit bgm --noise-multiplier 1 --steps 5 --observations 8";
        for (option, expected) in [
            ("--delta 1e-05", true),
            ("--delta 1e-6", false),
            ("--sampler shuffle", true),
            ("--sampler poisson", false),
        ] {
            let Ok((command, matches)) =
                matched(format!("{line} {option}").split(' ').map(str::to_owned))
            else {
                panic!("{option} is not parsed");
            };
            let (_, command, matches) = innermost(&command, &matches);
            let name = option.split(' ').next().unwrap().trim_start_matches('-');
            let options = given_options(command, matches);
            let given = options.iter().find(|given| given.id() == name).unwrap();
            assert_eq!(given.is_default(), expected, "{option}");
        }
    }
}
