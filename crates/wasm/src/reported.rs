//! Reports of audits, with the text of the program.

use dpscope_report::Reported;
use dpscope_report::document::Hints;
use js_sys::Object;
use wasm_bindgen::JsCast;

use crate::failure::Failure;
use crate::output::{object, to_js, with};

const HINTS: Hints = Hints {
    accountant: "the view Explore shows what accountants claim",
    output_scale: "divide the outputs by the clip norm",
    seed: "set this seed to repeat the run",
};

/// A report, and what the program prints of it.
pub(crate) fn reported(report: &impl Reported) -> Result<Object, Failure> {
    let record: Object = to_js(report)?.unchecked_into();
    let answered = with(record, [("answer", to_js(&report.answer())?)])?;
    object([("text", report.text(HINTS).into()), ("report", answered.into())])
}
