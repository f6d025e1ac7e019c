//! `dpscope recompute` of pages.

use std::collections::BTreeMap;
use std::sync::Arc;

use dpscope::{Call, CallResult, ErrorReport};
use serde_json::{Value, json};

use super::pages_of_commands;
use super::recompute::{COUNTS, ONE_RUN};
use crate::Folder;
use crate::schemas::Document;

/// What `dpscope recompute` says of a page, in this process.
fn recomputed(page: &str) -> Result<CallResult, ErrorReport> {
    let call = Call {
        arguments: ["recompute", "page.html", "--json"].map(Into::into).into(),
        files: BTreeMap::from([("page.html".into(), page.as_bytes().to_vec())]),
        ..Call::default()
    };
    call.run(&Arc::default())
}

#[track_caller]
fn assert_differs(page: &str, part: &str) {
    let found = recomputed(page).unwrap();
    assert!(found.exit_code == 5 && found.text.contains(part), "{}", found.text);
}

/// The first digit of each cell, sentence and row of the text.
fn visible_digits(page: &str) -> Vec<usize> {
    let (start, end) = (page.find("<body>").unwrap(), page.find("<pre id=").unwrap());
    let mut digits = Vec::new();
    let mut at = start;
    for node in page[start..end].split('<') {
        let text = node.find('>').map_or(node, |close| &node[close + 1..]);
        let first = text.find(|c: char| c.is_ascii_digit());
        digits.extend(first.map(|place| at + node.len() - text.len() + place));
        at += node.len() + 1;
    }
    digits
}

/// Whatever the digest in a page says: who edits a number can write that, too.
#[test]
fn pages_show_what_their_report_says() {
    for (Document { words, .. }, page) in pages_of_commands() {
        let found: Value = serde_json::from_str(&recomputed(page).unwrap().text).unwrap();
        assert_eq!(found["differences"], json!([]), "{words}");
        let has = |list: &str, value: &str| {
            let list = found[list].as_array().unwrap();
            list.iter().any(|it| it == value || it["pointer"] == value)
        };
        assert!(has("checked", "page:text") && !has("not_compared", "page:text"), "{words}");
        assert!(has("open", "page:figure") && has("open", "page:command"), "{words}");
        let figure = page.find("<figure>").zip(page.find("</figure>"));
        let is_drawn = |at: &usize| figure.is_some_and(|(start, end)| (start..end).contains(at));
        let command = page.find("<pre><code>").unwrap();
        let mut numbers = visible_digits(page);
        numbers.retain(|at| !is_drawn(at) && *at < command);
        assert!(numbers.len() > 10, "{words}");
        for at in numbers.iter().step_by(1 + numbers.len() / 12) {
            let other = if &page[*at..=*at] == "7" { "1" } else { "7" };
            assert_differs(&[&page[..*at], other, &page[at + 1..]].concat(), "page:text");
        }
    }
}

#[test]
fn forged_pages_are_refused() {
    let folder = Folder::new();
    let words = format!("{ONE_RUN} --claim 1 --fail-above 1").replace(" --claim 2", "");
    folder.run(&format!("{words} --report page.html"));
    let page = String::from_utf8(folder.read("page.html")).unwrap();
    let (top, below) = page.split_once("</header>").unwrap();
    let (body, json) = below.split_once("<pre id=").unwrap();
    let joined = |top: &str, body: &str| format!("{top}</header>{body}<pre id={json}");
    let forged = [
        ("verdict", joined(&top.replace(": REFUTED", ": NOT REFUTED"), body)),
        ("value", joined(&top.replace("ε ≥ 2.", "ε ≥ 0."), body)),
        ("limit", joined(&top.replace("EXCEEDED", "not exceeded"), body)),
        ("class", joined(&top.replace("verdict refuted", "verdict not-refuted"), body)),
        ("style", joined(&top.replace("<style>", "<style>header{display:none}"), body)),
        ("before", joined(&top.replace("<main>", "<main><h1>ε ≥ 0.1</h1>"), body)),
        ("body", joined(top, &body.replace("95 %", "5 %"))),
        ("digest", joined(top, &body.replace("of its JSON: ", "of its JSON: 0"))),
        ("command", joined(top, &body.replace("--correct 95", "--correct 55"))),
        ("after", page.replace("</main>", "<p>not refuted</p></main>")),
        ("everywhere", page.replace("REFUTED", "NOT REFUTED").replace("ε ≥ 2.", "ε ≥ 0.")),
    ];
    for (name, forged) in forged {
        assert_ne!(forged, page, "{name}");
        assert_differs(&forged, "page:text");
    }
    folder.run(&format!("{COUNTS} --report drawn.html"));
    let drawn = String::from_utf8(folder.read("drawn.html")).unwrap();
    let injected = [
        "<meta http-equiv=\"refresh\" content=\"0;url=x\">",
        "<svg overflow=\"visible\"><text x=\"0\" y=\"-900\">NOT REFUTED</text></svg>",
        "<svg transform=\"translate(0 -900)\"></svg>",
        "<p style=\"position:fixed;top:0\">NOT REFUTED</p>",
        "<style>header { display: none }</style>",
        "<script>1</script>",
        "<iframe src=\"x\"></iframe>",
        "<base href=\"x\">",
        "<link rel=\"stylesheet\" href=\"x\">",
        "<form action=\"x\"></form>",
        "<svg><foreignObject></foreignObject></svg>",
        "<svg><animate attributeName=\"y\"/></svg>",
        "<!--",
    ];
    for markup in injected {
        assert_differs(&joined(top, &body.replacen('\n', &format!("\n{markup}"), 1)), "page:text");
        assert_differs(&drawn.replace("</svg>", &format!("{markup}</svg>")), "page:figure");
    }
    // and the program says so
    folder.write("forged.html", page.replace("95 %", "5 %"));
    let shown = folder.run("recompute forged.html --brief").exits(5).stdout;
    assert!(shown.contains("page:text is "), "{shown}");
}

#[test]
fn every_edit_of_the_visible_text_is_a_difference() {
    let folder = Folder::new();
    folder.run(&format!("{COUNTS} --report page.html"));
    let page = String::from_utf8(folder.read("page.html")).unwrap();
    assert_eq!(recomputed(&page).unwrap().exit_code, 0);
    let (_, body) = page.split_once("<body>").unwrap();
    let mut at = page.len() - body.len();
    let mut nodes = 0;
    for text in body.split_inclusive('>') {
        let node = text.split('<').next().unwrap();
        let characters = node.char_indices().filter(|(_, c)| !c.is_whitespace());
        for (place, character) in characters.take(1) {
            let start = at + place;
            let other = if character == '7' { "1" } else { "7" };
            let edited = [&page[..start], other, &page[start + character.len_utf8()..]].concat();
            assert_ne!(recomputed(&edited).map_or(2, |found| found.exit_code), 0, "{node}");
            nodes += 1;
        }
        at += text.len();
    }
    assert!(nodes > 100, "{nodes}");
}

#[test]
fn pages_of_another_version_are_not_called_consistent() {
    let folder = Folder::new();
    folder.run(&format!("{ONE_RUN} --report page.html"));
    let page = String::from_utf8(folder.read("page.html")).unwrap();
    let version = format!("&quot;version&quot;: &quot;{}&quot;", env!("CARGO_PKG_VERSION"));
    assert!(page.contains(&version));
    folder.write("other.html", page.replace(&version, "&quot;version&quot;: &quot;0.0.1&quot;"));
    for flags in ["", " --brief"] {
        let shown = folder.run(&format!("recompute other.html{flags}")).exits(6).stdout;
        assert!(shown.contains("NOT COMPARED"), "{shown}");
        assert!(shown.contains("page:all of dpscope 0.0.1: text not compared"), "{shown}");
    }
    let found = folder.run("recompute other.html --json").exits(6).json();
    assert_eq!(found["outcome"], "not_compared");
}
