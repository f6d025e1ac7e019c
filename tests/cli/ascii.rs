//! `--ascii`: the same text in ASCII, with the same columns.

use crate::{SMALL, dpscope};

const CHECK: &str = "check --dataset-size 60000 --batch-size 256 --epochs 20 --noise-multiplier 0.8 \
                     --loader shuffle --claim 3 --delta 1e-5";
const COMPARE: &str = "compare --noise-multiplier 1 --steps 10 --seed 1";

/// What a command prints, as it is and in ASCII.
fn texts(words: &str) -> [String; 2] {
    ["", " --ascii"].map(|option| dpscope(&format!("{words}{option}")).stdout)
}

/// The characters of a line from this place to the end of the word there.
fn word_at(line: &str, at: usize) -> &str {
    let rest = line.get(at..).unwrap_or_default();
    rest.split(' ').next().unwrap_or_default()
}

#[test]
fn every_text_is_ascii_and_has_the_same_words() {
    let audit = format!("{SMALL} --threshold-rule split --claim 0.5 --metrics");
    for words in [
        audit.as_str(),
        CHECK,
        COMPARE,
        "bound poisson --noise-multiplier 1 --steps 10",
        "bound shuffle --epsilon 1 --noise-multiplier 1 --steps 10",
        "plan --epsilon 9",
        "calibrate noise --epsilon 2 --steps 100",
    ] {
        let [text, ascii] = texts(words);
        assert!(!text.is_ascii() && ascii.is_ascii(), "{words}: {ascii}");
        for (line, converted) in text.lines().zip(ascii.lines()) {
            // Times differ from run to run.
            let count = |line: &str| line.split_whitespace().count();
            assert_eq!(count(line), count(converted), "{words}: {line}: {converted}");
            let start = |line: &str| line.chars().take_while(|&symbol| symbol == ' ').count();
            assert!(line.contains("  ε") || start(line) == start(converted), "{converted}");
        }
        assert_eq!(text.lines().count(), ascii.lines().count(), "{words}");
    }
}

#[test]
fn help_and_errors_of_the_command_line_are_ascii() {
    let help = dpscope("audit bgm --help --ascii").exits(0).stdout;
    assert!(help.is_ascii() && help.contains("--ascii"), "{help}");
    let ended = dpscope("audit ε --ascii").exits(2);
    assert!(ended.stderr.is_ascii() && ended.stderr.contains("'eps'"), "{ended:?}");
    assert_eq!(ended.stdout, "");
}

#[test]
fn columns_stay_aligned() {
    let [_, comparison] = texts(COMPARE);
    let table: Vec<&str> = comparison.split("\n\n").nth(2).unwrap().lines().collect();
    let kind = table[0].find("kind").unwrap();
    assert!(table[0][..kind].ends_with(" eps  "), "{comparison}");
    assert!(table.len() > 5, "{comparison}");
    for row in &table[1..] {
        assert!(["upper", "lower", "estimate"].contains(&word_at(row, kind)), "{comparison}");
        assert!(row[..kind].ends_with("  ") && !row[..kind].ends_with("   "), "{comparison}");
    }
    let [_, checked] = texts(CHECK);
    let from = checked.lines().position(|line| line.trim() == "eps").unwrap();
    let values: Vec<&str> =
        checked.lines().skip(from).take_while(|line| !line.is_empty()).collect();
    assert!(values.len() > 3, "{checked}");
    assert!(values.iter().all(|line| line.len() == values[0].len()), "{checked}");
}

#[test]
fn json_documents_are_the_same_in_ascii() {
    let [text, ascii] = texts(&format!("{CHECK} --json"));
    assert!(!text.is_ascii() && ascii.is_ascii(), "{ascii}");
    let [text, ascii] =
        [text, ascii].map(|text| serde_json::from_str::<serde_json::Value>(&text).unwrap());
    assert_eq!(text, ascii);
}
