//! Hostile text of arguments and files never reaches a terminal or a CI log unescaped.

use std::ffi::OsString;
use std::sync::Arc;

use dpscope::Call;
use dpscope_tests::cli::is_printable;
use serde_json::json;

use crate::Folder;

/// Text that the tests put after a line break in a name.
const INJECTED: &str = "injected";

fn hostile() -> Vec<String> {
    let texts = [
        "\u{1b}]0;title\u{7}\u{1b}[2J",
        "a\r\n::add-mask::injected",
        "a\ninjected",
        "a\rinjected",
        "a\u{2028}injected",
        "::add-mask::a",
        " \t::add-mask::a",
        "##[add-mask]a",
        "a\u{202e}b\u{2066}c",
        "\u{9b}2J\u{85}\u{7f}",
        "a\0b",
    ];
    texts.iter().map(ToString::to_string).chain(["a".repeat(1 << 20)]).collect()
}

/// Words of a command and files in memory, with `{}` in place of the hostile text.
type EntryPoint = (&'static [&'static str], &'static [(&'static str, &'static str)]);

/// `{json}` stands for a quoted string of JSON and TOML, `{csv}` for a quoted cell of csv.
const ENTRY_POINTS: &[EntryPoint] = &[
    (&["{}"], &[]),
    (&["audit", "{}"], &[]),
    (&["audit", "bgm", "--{}"], &[]),
    (&["audit", "bgm", "--noise-multiplier", "{}", "--steps", "10", "--observations", "10"], &[]),
    (&["audit", "counts", "--device", "{}"], &[]),
    (
        &[
            "audit",
            "dpsgd",
            "--model",
            "{}",
            "--records",
            "100",
            "--batch-size",
            "10",
            "--runs",
            "2",
        ],
        &[],
    ),
    (
        &["audit", "dpsgd", "--model", "m.toml", "--poisson-epsilon", "4", "--runs", "2"],
        &[("m.toml", "{json} = 1")],
    ),
    (
        &[
            "audit",
            "dpsgd",
            "--data",
            "{}",
            "--model",
            "mlp",
            "--poisson-epsilon",
            "4",
            "--runs",
            "2",
        ],
        &[],
    ),
    (&["audit", "scores", "--target", "{}", "--zero-out", "b.csv"], &[("b.csv", "1\n2\n")]),
    (
        &["audit", "scores", "--target", "a.csv", "--zero-out", "a.csv"],
        &[("a.csv", "{csv}\n1\n2\n")],
    ),
    (
        &["audit", "scores", "--target", "a.csv", "--zero-out", "a.csv"],
        &[("a.csv", "1\n{csv}\n2\n")],
    ),
    (&["audit", "outputs", "{}", "--noise-multiplier", "1"], &[]),
    (
        &["audit", "one-run", "--scores", "s.csv", "--plan", "p"],
        &[("s.csv", "1\n"), ("p/plan.json", "{{json}: 1}")],
    ),
    (&["audit", "one-run", "--scores", "{}", "--coins", "{}"], &[]),
    (
        &["audit", "pategan", "--data", "d.csv", "--columns", "c.toml"],
        &[("d.csv", "x\n1\n"), ("c.toml", "[[columns]]\nname = {json}\nkind = {json}")],
    ),
    (&["audit", "pategan", "--data", "d.csv", "--columns", "{}"], &[("d.csv", "x\n1\n")]),
    (&["audit", "generator", "g"], &[("g/manifest.toml", "{json} = 1")]),
    (&["audit", "generator", "{}"], &[]),
    (&["generator", "utility", "g", "--label", "{}"], &[("g/manifest.toml", "{json} = {json}")]),
    (&["audit", "federated", "{}", "--plan", "{}"], &[]),
    (&["check", "t.toml"], &[("t.toml", "{json} = 1")]),
    (&["check", "t.toml"], &[("t.toml", "sampler = {json}\nloader = {json}")]),
    (&["check", "--import", "r.json"], &[("r.json", "{\"type\": {json}, {json}: 1}")]),
    (&["check", "--import", "r.json"], &[("r.json", "[[1, {json}]]")]),
    (&["sweep", "s.csv"], &[("s.csv", "name,noise_multiplier,steps,{csv}\n{csv},1,10,1\n")]),
    (&["sweep", "s.csv"], &[("s.csv", "name,noise_multiplier,steps\n{csv},1,10\n")]),
    (&["merge", "a.json", "{}"], &[("a.json", "{\"schema\": {json}, {json}: 1}")]),
    (&["recompute", "r.json"], &[("r.json", "{\"schema\": {json}, {json}: 1, {json}: 2}")]),
    (
        &["recompute", "r.json"],
        &[("r.json", "{\"schema\": \"dpscope.one_run/1\", \"version\": {json}}")],
    ),
    (&["launch", "slurm", "--", "{}"], &[]),
];

fn filled(template: &str, text: &str) -> String {
    let csv = format!("\"{}\"", text.replace('"', "\"\""));
    let filled = template.replace("{json}", &json!(text).to_string()).replace("{csv}", &csv);
    filled.replace("{}", text)
}

#[test]
fn hostile_text_never_reaches_the_terminal() {
    let mut errors = 0;
    for text in hostile() {
        for (words, files) in ENTRY_POINTS {
            let files = files
                .iter()
                .map(|(name, content)| (name.into(), filled(content, &text).into_bytes()));
            let arguments = words.iter().map(|word| OsString::from(filled(word, &text))).collect();
            let call = Call { arguments, files: files.collect(), ..Call::default() };
            let (shown, notes) = match call.run(&Arc::default()) {
                Ok(result) => (result.text, result.notes),
                Err(error) => {
                    errors += 1;
                    (error.message, Vec::new())
                }
            };
            for shown in notes.iter().chain([&shown]) {
                let start: String = text.chars().take(20).collect();
                assert!(is_printable(shown), "{words:?} with {start:?}: {shown:?}");
                let is_injected = |line: &str| line.trim_start().starts_with(INJECTED);
                assert!(!shown.lines().any(is_injected), "{words:?} with {start:?}: {shown:?}");
                assert!(shown.len() < 20_000, "{words:?}: {} bytes", shown.len());
            }
        }
    }
    assert!(errors > 250, "{errors}");
}

#[test]
fn the_program_escapes_its_command_line() {
    let folder = Folder::new();
    for words in ["audit bgm --noise-multiplier \u{1b}[2J", "check \u{1b}[2J.toml", "::add-mask::x"]
    {
        let ended = folder.run(words).exits(2); // `run` checks its text
        assert!(
            ended.stderr.contains("\\u{1b}[2J") || ended.stderr.contains(":\\u{3a}add-mask::x")
        );
        let error = folder.run(&format!("{words} --json")).exits(2).json();
        assert_eq!(error["schema"], "dpscope.error/1");
    }
}
