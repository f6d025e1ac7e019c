//! Pages in Markdown: their blocks of commands, and the numbers of their prose.

use std::iter::Peekable;
use std::str::Lines;

const FENCE: &str = "```";
const CONSOLE: &str = "```console";

/// A page of the documentation.
#[derive(Debug, Clone)]
pub(super) struct Page {
    /// Its path below the folder of all pages.
    pub(super) name: String,
    pub(super) text: String,
}

/// A fenced block of text, with the words after its fence.
struct Block<'a> {
    about: &'a str,
    lines: Vec<&'a str>,
}

impl Page {
    /// The page with what its commands print now, and the problems of those that cannot be run.
    pub(super) fn with_outputs(
        &self,
        mut run: impl FnMut(&str) -> Result<String, String>,
    ) -> (Self, Vec<String>) {
        let (mut text, mut problems) = (String::new(), Vec::new());
        let mut lines = self.text.lines().peekable();
        let mut is_run = false;
        while let Some(line) = lines.next() {
            text += &format!("{line}\n");
            is_run = line == CONSOLE || (is_run && line != FENCE);
            let Some(command) = line.strip_prefix("$ ").filter(|_| is_run) else { continue };
            let command = whole_command(command, &mut lines, &mut text);
            let stored = skipped_output(&mut lines);
            match run(&command) {
                Ok(output) => text += &output,
                Err(problem) => {
                    problems.push(format!("{}: {command}: {problem}", self.name));
                    text += &stored;
                }
            }
        }
        (Self { name: self.name.clone(), text }, problems)
    }

    /// Commands that are shown without being run.
    pub(super) fn commands_not_run(&self) -> Vec<&str> {
        let blocks = self.blocks().into_iter().filter(|block| block.about == "console no-run");
        blocks.flat_map(|block| block.lines).filter(|line| line.starts_with("$ ")).collect()
    }

    /// Blocks of commands that would be neither run nor named.
    pub(super) fn unclear_blocks(&self) -> Vec<String> {
        let is_clear = |block: &Block<'_>| match block.about {
            "console" => block.lines.first().is_some_and(|line| line.starts_with("$ dpscope ")),
            about => about == "console no-run" || !about.starts_with("console"),
        };
        let unclear = self.blocks().into_iter().filter(|block| !is_clear(block));
        let first = |block: Block<'_>| block.lines.first().copied().unwrap_or_default().to_owned();
        unclear.map(|block| format!("{}: `{}`", self.name, first(block))).collect()
    }

    fn blocks(&self) -> Vec<Block<'_>> {
        let mut blocks = Vec::new();
        let mut lines = self.text.lines();
        while let Some(line) = lines.next() {
            if let Some(about) = line.strip_prefix(FENCE) {
                let lines = lines.by_ref().take_while(|line| *line != FENCE).collect();
                blocks.push(Block { about, lines });
            }
        }
        blocks
    }

    /// The names of findings whose value is shown.
    pub(super) fn shown_findings(&self) -> Vec<&str> {
        let parts = self.text.split("{{ findings.").skip(1);
        parts.filter_map(|part| part.split_once(".value }}").map(|(name, _)| name)).collect()
    }

    /// Numbers that the front matter says are quoted, each with its source.
    pub(super) fn quoted(&self) -> Vec<&str> {
        let (front_matter, _) = self.parts();
        let list = front_matter.lines().skip_while(|line| *line != "quoted:").skip(1);
        let list = list.map_while(|line| line.strip_prefix("  - \"")?.strip_suffix('"'));
        list.filter_map(|quoted| quoted.split_once(": ").map(|(number, _)| number)).collect()
    }

    /// Numbers with a decimal point or a percent sign that are typed in the prose.
    pub(super) fn typed_numbers(&self) -> Vec<String> {
        let (_, body) = self.parts();
        let mut is_code = false;
        let mut prose = String::new();
        for line in body.lines() {
            is_code ^= line.starts_with(FENCE);
            if !is_code {
                prose += &without("`", "`", &without("{{", "}}", &without("](", ")", line)));
                prose.push('\n');
            }
        }
        numbers(&prose)
    }

    /// Front matter and body.
    fn parts(&self) -> (&str, &str) {
        let parts = self.text.strip_prefix("---\n").and_then(|text| text.split_once("\n---\n"));
        parts.unwrap_or(("", &self.text))
    }
}

/// A command with its continued lines, which are added to the text as they are.
fn whole_command(first: &str, lines: &mut Peekable<Lines<'_>>, text: &mut String) -> String {
    let mut command = first.to_owned();
    while command.ends_with('\\') {
        command.pop();
        let next = lines.next().unwrap_or_default();
        *text += &format!("{next}\n");
        command += next.trim_start();
    }
    command
}

/// The stored output of a command.
fn skipped_output(lines: &mut Peekable<Lines<'_>>) -> String {
    let mut stored = String::new();
    while let Some(line) = lines.next_if(|line| *line != FENCE && !line.starts_with("$ ")) {
        stored += &format!("{line}\n");
    }
    stored
}

/// The line without everything between two marks.
fn without(open: &str, close: &str, line: &str) -> String {
    let mut left = String::new();
    let mut rest = line;
    while let Some((before, inside)) = rest.split_once(open) {
        let Some((_, after)) = inside.split_once(close) else { break };
        left += before;
        left.push(' ');
        rest = after;
    }
    left + rest
}

/// Numbers with a decimal point, and those in percent; no versions of papers such as 2411.10614.
fn numbers(prose: &str) -> Vec<String> {
    let is_of_number = |character: char| character.is_ascii_digit() || ".,".contains(character);
    let mut found = Vec::new();
    let mut rest = prose;
    while let Some(start) = rest.find(|character: char| character.is_ascii_digit()) {
        let end = rest[start..].find(|c| !is_of_number(c)).map_or(rest.len(), |end| start + end);
        let number = rest[start..end].trim_end_matches(['.', ',']);
        let is_percent = rest[start + number.len()..].starts_with(" %");
        let (whole, decimals) = number.split_once('.').unwrap_or((number, ""));
        let is_paper = whole.len() == 4 && decimals.len() == 5;
        if is_percent {
            found.push(format!("{number} %"));
        } else if !decimals.is_empty() && !is_paper {
            found.push(number.to_owned());
        }
        rest = &rest[end..];
    }
    found
}

const TEXT: &str = "---\ntitle: A\nquoted:\n  - \"1.5: Table 1\"\n---\n\
                    Text of 1.5, 20 % and `2.5`, [3.5](4.5), arXiv 2411.10614 and 1,000.\n\
                    Then {{ findings.one.value }}.\n\n\
                    ```console\n$ dpscope a \\\n  --b\nold\n$ dpscope c\n```\n\n\
                    ```console no-run\n$ dpscope long\n9.9\n```\n";

fn page() -> Page {
    Page { name: "a.md".to_owned(), text: TEXT.to_owned() }
}

#[test]
fn outputs_replace_what_is_stored() {
    let (new, problems) = page().with_outputs(|command| Ok(format!("<{command}>\n")));
    assert_eq!(problems, Vec::<String>::new());
    let expected = TEXT.replace("old\n", "<dpscope a --b>\n");
    assert_eq!(new.text, expected.replace("c\n```", "c\n<dpscope c>\n```"));
    let (kept, problems) = page().with_outputs(|_| Err("refused".to_owned()));
    assert_eq!((kept.text.as_str(), problems.len()), (TEXT, 2));
}

#[test]
fn numbers_and_names_of_the_prose_are_found() {
    let page = page();
    assert_eq!(page.quoted(), ["1.5"]);
    assert_eq!(page.typed_numbers(), ["1.5", "20 %", "3.5"]);
    assert_eq!(page.shown_findings(), ["one"]);
    assert_eq!(page.commands_not_run(), ["$ dpscope long"]);
}

#[test]
fn blocks_that_would_never_run_are_reported() {
    assert_eq!(page().unclear_blocks(), Vec::<String>::new());
    for (good, bad) in [("$ dpscope a", "dpscope a"), ("no-run", "norun")] {
        let text = TEXT.replace(good, bad);
        assert_eq!(Page { text, ..page() }.unclear_blocks().len(), 1, "{bad}");
    }
}
