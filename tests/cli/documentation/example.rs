//! Commands of pages, as a shell would run them.

use std::path::Path;

use dpscope_tests::cli::{CommandResult, dpscope};

/// Exit codes of commands that did what they say: done, refused, refuted, no device, inconclusive.
const EXPECTED: [i32; 5] = [0, 2, 3, 4, 6];

/// What a command prints in `folder`; its output may be cut by `head -n N` or `grep -A N TEXT`.
pub(super) fn output(folder: &Path, command: &str) -> Result<String, String> {
    let words = words(command)?;
    let mut stages = words.split(|word| word == "|");
    let program = stages.next().unwrap_or_default();
    let arguments = program.strip_prefix(&["dpscope".to_owned()]);
    let arguments = arguments.ok_or("it does not start with `dpscope`")?;
    let ended = dpscope(folder).args(arguments).output().map_err(|error| error.to_string())?;
    let ended = CommandResult::from(ended);
    if !ended.code.is_some_and(|code| EXPECTED.contains(&code)) {
        return Err(format!("exit code {:?}: {}", ended.code, ended.stderr));
    }
    // how long a run takes depends on the machine
    let is_estimate = |line: &&str| line.starts_with("this run is estimated to take ");
    let stderr: String =
        ended.stderr.split_inclusive('\n').filter(|line| !is_estimate(line)).collect();
    stages.try_fold(ended.stdout + &stderr, |text, stage| cut(&text, stage))
}

/// The words of a command; those in quotes may contain blanks.
pub(super) fn words(command: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    let mut rest = command.trim();
    while let Some(first) = rest.chars().next() {
        let (word, after) = match first {
            '\'' | '"' => rest[1..].split_once(first).ok_or("a quote is not closed")?,
            _ => rest.split_once(' ').unwrap_or((rest, "")),
        };
        words.push(word.to_owned());
        rest = after.trim_start();
    }
    Ok(words)
}

fn cut(text: &str, stage: &[String]) -> Result<String, String> {
    let stage: Vec<&str> = stage.iter().map(String::as_str).collect();
    let number = |word: &str| word.parse::<usize>().map_err(|error| format!("{word}: {error}"));
    let lines: Vec<&str> = match stage[..] {
        ["head", "-n", count] => text.lines().take(number(count)?).collect(),
        ["grep", "-A", after, start] => {
            let start = start.strip_prefix('^').ok_or("grep: only starts of lines, ^TEXT")?;
            let found = text.lines().skip_while(|line| !line.starts_with(start));
            found.take(1 + number(after)?).collect()
        }
        _ => return Err(format!("`{}` is not supported here", stage.join(" "))),
    };
    match lines[..] {
        [] => Err(format!("`{}` leaves nothing of\n{text}", stage.join(" "))),
        _ => Ok(lines.iter().map(|line| format!("{line}\n")).collect()),
    }
}

#[test]
fn words_in_quotes_are_one() {
    let found = words("dpscope check --loader \"A(b, c=1)\" | grep -A 2 '^a b'");
    let expected = ["dpscope", "check", "--loader", "A(b, c=1)", "|", "grep", "-A", "2", "^a b"];
    assert_eq!(found.unwrap(), expected);
    assert!(words("a 'b").is_err());
}

#[test]
fn outputs_are_cut_as_by_a_shell() {
    let cut = |stage: &str| cut("a\nb 1\nb 2\nc\n", &words(stage).unwrap());
    assert_eq!(cut("head -n 2").unwrap(), "a\nb 1\n");
    assert_eq!(cut("grep -A 1 '^b 1'").unwrap(), "b 1\nb 2\n");
    for refused in ["grep -A 1 ^d", "grep -A 1 b", "head -n x", "sort"] {
        assert!(cut(refused).is_err(), "{refused}");
    }
}

#[test]
fn commands_that_fail_are_reported() {
    let folder = crate::Folder::new();
    let shown = output(folder.path(), "dpscope --version").unwrap();
    assert!(shown.starts_with("dpscope "), "{shown}");
    assert!(output(folder.path(), "dpscope bound --no").unwrap().contains("error: "));
    assert!(output(folder.path(), "cargo build").is_err());
}
