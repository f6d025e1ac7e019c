//! What a page says first: its title, the result, and a line for each claim and limit.

use dpscope_core::audit::claim::Verdict;

use super::section::{escaped, paragraphs};
use crate::document::Document;
use crate::summary::Summary;
use crate::words::outcome_name;

/// The first part of a page.
pub(super) struct Heading {
    title: String,
    pub(super) headline: String,
    /// Each with the class of its verdict.
    tests: Vec<(String, &'static str)>,
    sentences: Vec<String>,
}

impl Heading {
    pub(super) fn new(summary: &Summary, document: &Document) -> Self {
        let tests = summary.tests.iter();
        Heading {
            title: summary.title.clone(),
            headline: summary.headline.clone(),
            tests: tests.map(|test| line(&test.name, test.verdict, test.outcome)).collect(),
            sentences: paragraphs(document).cloned().collect(),
        }
    }

    pub(super) fn to_html(&self) -> String {
        let Heading { title, headline, tests, sentences } = self;
        let mut out = format!("<header>\n<p class=\"kind\">{}</p>\n", escaped(title));
        let mut line = |element: &str, class: &str, text: &str| {
            let text = escaped(text);
            out.push_str(&format!("<{element} class=\"{class}\">{text}</{element}>\n"));
        };
        let own = tests.iter().find(|(text, _)| text == headline);
        line("h1", own.map_or("result", |(_, class)| class), headline);
        for (text, class) in tests.iter().filter(|(text, _)| text != headline) {
            line("p", &format!("verdict {class}"), text);
        }
        sentences.iter().filter(|text| *text != headline).for_each(|text| line("p", "claim", text));
        out + "</header>\n"
    }
}

/// A test with the class of its verdict.
fn line(name: &str, verdict: &str, outcome: Verdict) -> (String, &'static str) {
    (format!("{name}: {verdict}"), outcome_name(outcome))
}
