//! Audits of files by the program itself: words and files in, a report out. Nothing leaves the page.

use std::sync::Arc;

use dpscope::Call;
use js_sys::{JSON, Object};
use wasm_bindgen::prelude::*;

use crate::command::Command;
use crate::failure::{Failure, FailureKind};
use crate::output::object;

/// Where a page has the record of what was audited with a committed plan.
const AUDITED: &str = "plan/audited.txt";

/// Runs a command of the program, such as `audit scores`, on files in memory.
///
/// A page cannot write to the folder of a plan, so what the program writes to its `audited.txt` is returned:
/// the page keeps it for the next audit of the plan.
///
/// # Errors
/// What the program prints where it fails: options that exclude each other, a file that cannot be read,
/// data without a valid bound.
#[wasm_bindgen(unchecked_return_type = "Asked")]
pub fn ask(command: Command) -> Result<Object, Failure> {
    let call = Call { outputs: vec![AUDITED.into()], renders: true, ..command.call() };
    let found = call.run(&Arc::default())?;
    let internal = |what| Failure::of(FailureKind::Internal, what);
    let rendered = found.rendered.ok_or_else(|| internal("this command has no report"))?;
    let report = JSON::parse(&found.text).map_err(|_| internal("the report is no document"))?;
    let audited = found.outputs.into_values().find(|bytes| !bytes.is_empty());
    let audited = audited.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    object([
        ("report", report),
        ("text", rendered.text.into()),
        ("picture", rendered.picture.into()),
        ("page", rendered.page.into()),
        ("notes", found.notes.into()),
        ("audited", audited.into()),
    ])
}
