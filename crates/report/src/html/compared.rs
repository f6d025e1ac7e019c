//! Whether a page shows what the report inside it says.

use dpscope_core::foreign_text::ForeignText;
use serde_json::{Value, json};

use super::embedded::unescaped;
use super::markup::foreign_markup;
use super::section::{COMMAND_END, COMMAND_START};
use super::{FIGURE_END, FIGURE_START, NO_FIGURE_START, PageContext, VERSION, page};
use crate::document::Hints;
use crate::recompute::{Difference, OpenValue, Recomputation};
use crate::reported::{ReportVisitor, Reported, visit};

const OTHER_VERSION: &str = "text not compared: use the version that wrote the page";
const UNREADABLE: &str = "text not compared: the page cannot be printed from its JSON";
const NOT_IN_REPORT: &str = "not in the JSON and therefore compared with a digest in the page alone: anyone who changes \
     them can recompute the digest";

/// Adds what a page shows to the recomputation of the report inside it.
///
/// The page is printed again from its report and compared byte for byte. The command and the figure, which
/// are not in the report, are taken from the page and listed as open; a digest of them is compared, and the
/// figure may only have markup of drawings, so that it cannot draw over the text. A page of another version
/// is not compared.
///
/// # Guarantee
/// An edit of the text or of a number, and markup that no page has, is a difference
/// (`tests/cli/reports/recomputed_pages.rs::forged_pages_are_refused`,
/// `tests/cli/reports/recomputed_pages.rs::every_edit_of_the_visible_text_is_a_difference`,
/// `tests/cli/reports/recomputed_pages.rs::pages_show_what_their_report_says`).
pub fn compare_page(
    found: &mut Recomputation,
    page: &str,
    json: &str,
    report: &Value,
    hints: Hints,
) {
    let open = |part: &str, reason| OpenValue { pointer: format!("page:{part}"), reason };
    let version = report.get("version").and_then(Value::as_str).unwrap_or("of no version");
    if version != VERSION {
        let part = format!("all of dpscope {}", ForeignText::new(version));
        found.not_compared.push(open(&part, OTHER_VERSION));
        return;
    }
    let mut compare = |part: &str, difference: Option<(Value, Value)>| {
        let pointer = format!("page:{part}");
        found.checked.push(pointer.clone());
        if let Some((stated, expected)) = difference {
            found.differences.push(Difference { pointer, stated, expected });
        }
    };
    let figure = between(page, FIGURE_START, FIGURE_END);
    let foreign = figure.and_then(foreign_markup);
    compare("figure", foreign.map(|tag| (json!(tag), json!("the markup of a drawing"))));
    match printed_again(page, json, &found.document, hints) {
        Some(printed) => compare("text", first_difference(page, &printed)),
        None => found.not_compared.push(open("text", UNREADABLE)),
    }
    found.open.extend(["command", "figure"].map(|part| open(part, NOT_IN_REPORT)));
}

/// The page of this JSON, with the command and the figure of the page; none of JSON that is no report.
fn printed_again(page: &str, json: &str, schema: &str, hints: Hints) -> Option<String> {
    let command = page.rsplit_once(COMMAND_START)?.1.split_once(COMMAND_END)?.0;
    let figure = match between(page, FIGURE_START, FIGURE_END) {
        Some(svg) => Ok(svg.to_owned()),
        None => Err(unescaped(between(page, NO_FIGURE_START, "</p>")?)),
    };
    let context = PageContext { command: &unescaped(command), figure, hints };
    visit(schema, Printed { json, context })?
}

struct Printed<'a> {
    json: &'a str,
    context: PageContext<'a>,
}

impl ReportVisitor for Printed<'_> {
    type Output = Option<String>;

    fn visit<R: Reported>(self) -> Option<String> {
        page(&serde_json::from_str::<R>(self.json).ok()?, &self.context).ok()
    }
}

fn between<'a>(page: &'a str, start: &str, end: &str) -> Option<&'a str> {
    Some(page.split_once(start)?.1.split_once(end)?.0)
}

/// The first line of a page that is not as it should be.
fn first_difference(page: &str, expected: &str) -> Option<(Value, Value)> {
    let (mut stated, mut expected) = (page.split('\n'), expected.split('\n'));
    loop {
        match (stated.next(), expected.next()) {
            (None, None) => return None,
            (stated, expected) if stated != expected => {
                return Some((json!(stated), json!(expected)));
            }
            _ => {}
        }
    }
}
