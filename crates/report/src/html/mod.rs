//! A report as one page without scripts or references to other files: it opens offline and prints.
//!
//! Neither page nor record has a date: apart from measured times, the same command gives the same bytes. The
//! printer of a browser adds the date, and a committed plan shows what was fixed before the training.

mod compared;
mod embedded;
mod heading;
mod markup;
mod section;

pub use compared::compare_page;
pub use embedded::{EmbeddedError, embedded_json};

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use sha2::{Digest, Sha256};

use crate::document::{Hints, Section};
use crate::reported::Reported;
use embedded::{JSON_END, JSON_START};
use heading::Heading;

/// How a page of this program begins.
pub const HTML_MARK: &str = "<!doctype html>\n<html lang=\"en\" data-program=\"dpscope\">";

const STYLE: &str = include_str!("style.css");

/// What only the front end knows.
#[derive(Debug, Clone)]
pub struct PageContext<'a> {
    /// The command that was run.
    pub command: &'a str,
    /// A drawing, or why there is none.
    pub figure: Result<String, String>,
    /// What the reader can do next.
    pub hints: Hints,
}

/// The page of a report.
///
/// It has no script, and its content security policy allows its own style alone. The report is in it as
/// JSON, which [`embedded_json`] reads.
///
/// # Guarantee
/// No text of a report becomes markup (`tests/cli/reports/pages.rs::hostile_text_stays_text`).
///
/// # Errors
/// A record that is no JSON.
pub fn page<R: Reported>(
    report: &R,
    context: &PageContext<'_>,
) -> Result<String, serde_json::Error> {
    let json = serde_json::to_string_pretty(&report.answered())?;
    let (summary, document) = (report.summary(), report.page_document(context.hints));
    let style = STYLE.replace('\r', "");
    let figure = figure(context);
    let digests = [&json, &(figure.clone() + context.command)].map(|text| digest(text));
    let mut out = top(&Heading::new(&summary, &document), &style);
    for section in Section::ALL.into_iter().skip(1) {
        let mut body = section::body(&document, section);
        if section == Section::Theory && !body.is_empty() {
            body.push_str(&section::values(&document, &summary.values));
        }
        if section == Section::Reproduction {
            body.push_str(&section::reproduction(PROGRAM, context.command, &digests));
        }
        if !body.is_empty() {
            out.push_str(&section::section(section.title(), &body));
        }
        if section == Section::Evidence {
            out.push_str(&figure);
        }
    }
    out.push_str(&json_section(&json));
    out.push_str(END);
    Ok(out)
}

const END: &str = "</main>\n</body>\n</html>\n";

/// All up to the first section.
fn top(heading: &Heading, style: &str) -> String {
    let head = head(&heading.headline, style);
    format!("{HTML_MARK}\n{head}<body>\n<main>\n{}", heading.to_html())
}

fn head(headline: &str, style: &str) -> String {
    let hash = BASE64_STANDARD.encode(Sha256::digest(style.as_bytes()));
    let title = section::escaped(headline);
    format!(
        "<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src \
         'sha256-{hash}'; base-uri 'none'; form-action 'none'\">\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"generator\" content=\"{}\">\n\
         <title>{title}</title>\n<style>{style}</style>\n</head>\n",
        PROGRAM
    )
}

const VERSION: &str = env!("CARGO_PKG_VERSION");
const PROGRAM: &str = concat!("dpscope ", env!("CARGO_PKG_VERSION"));

/// What stands before the figure of a page, and after it.
const FIGURE_START: &str = "<figure>\n";
const FIGURE_END: &str = "</figure>\n";
/// What stands before the reason why a page has no figure.
const NO_FIGURE_START: &str = "<p>No drawing: ";

fn figure(context: &PageContext<'_>) -> String {
    match &context.figure {
        Ok(svg) => format!("{FIGURE_START}{svg}{FIGURE_END}"),
        Err(reason) => format!("{NO_FIGURE_START}{}</p>\n", section::escaped(reason)),
    }
}

/// SHA-256, hexadecimal.
fn digest(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn json_section(json: &str) -> String {
    let json = section::escaped_lines(json);
    format!(
        "<section class=\"screen\">\n<h2>The report as JSON</h2>\n<details>\n\
         <summary>Every number of this report, for programs</summary>\n\
         {JSON_START}{json}{JSON_END}\n</details>\n</section>\n"
    )
}
