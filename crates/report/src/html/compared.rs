//! Whether a page shows what the report inside it says.

use serde_json::{Value, json};

use super::heading::Heading;
use super::markup::foreign_markup;
use super::{END, STYLE, VERSION, digest, json_section, top};
use crate::recompute::{Difference, OpenValue, Recomputation};

const OTHER_VERSION: &str = "the visible text was not compared with the JSON, since another version wrote the page: \
     use the version that the JSON names";
const BODY: &str = "the text, tables and figure below the verdicts were not compared with the JSON: read the values there";

/// Adds what a page shows to the recomputation of the report inside it.
///
/// The heading with the result and the verdicts is written again, and compared byte for byte with all
/// that precedes it, as is all that follows the JSON. The text between is listed as open; its markup is
/// that of this program, so that it does not draw over the heading. A page of another version is not
/// compared.
///
/// # Guarantee
/// An edit of the heading, and markup that no page has, is a difference
/// (`tests/cli/reports/recompute.rs::forged_pages_are_refused`).
pub fn compare_page(found: &mut Recomputation, page: &str, json: &str, report: &Value) {
    let open = |part: &str, reason| OpenValue { pointer: format!("page:{part}"), reason };
    if report.get("version").and_then(Value::as_str) != Some(VERSION) {
        found.not_compared.push(open("all", OTHER_VERSION));
        return;
    }
    let style = STYLE.replace('\r', "");
    let expected = Heading::of_json(report).map(|heading| top(&heading, &style));
    let end = json_section(json) + END;
    let body = expected.as_deref().and_then(|top| page.strip_prefix(top)?.strip_suffix(&end));
    let digest = format!("<dd>SHA-256 of its JSON: {}</dd>", digest(json));
    let parts = [
        ("header", expected.as_deref().and_then(|expected| first_difference(page, expected))),
        ("digest", (!page.contains(&digest)).then(|| (Value::Null, json!(digest)))),
        (
            "body",
            body.and_then(foreign_markup).map(|tag| (json!(tag), json!("the markup of a page"))),
        ),
        (
            "end",
            (!page.ends_with(&end)).then(|| (Value::Null, json!("the JSON, and nothing after it"))),
        ),
    ];
    for (part, difference) in parts {
        let pointer = format!("page:{part}");
        found.checked.push(pointer.clone());
        if let Some((stated, expected)) = difference {
            found.differences.push(Difference { pointer, stated, expected });
        }
    }
    if expected.is_none() {
        let expected = json!("a headline and verdicts in the JSON");
        let pointer = "page:header".to_owned();
        found.differences.push(Difference { pointer, stated: Value::Null, expected });
    }
    found.open.push(open("body", BODY));
}

/// The first line of a page that is not as it should start.
fn first_difference(page: &str, expected: &str) -> Option<(Value, Value)> {
    if page.starts_with(expected) {
        return None;
    }
    let mut stated = page.split('\n');
    let mut lines =
        expected.split_inclusive('\n').map(|line| (stated.next(), line.trim_end_matches('\n')));
    let (stated, expected) = lines.find(|(stated, expected)| *stated != Some(*expected))?;
    Some((json!(stated), json!(expected)))
}
