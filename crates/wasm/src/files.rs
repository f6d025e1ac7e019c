//! Audits of files by the program itself: words and files in, a report out. Nothing leaves the page.

use std::sync::Arc;

use dpscope::{Call, ErrorCode, ErrorReport};
use js_sys::{JSON, Object, Uint8Array};
use wasm_bindgen::prelude::*;

use crate::failure::{Failure, FailureKind};
use crate::output::object;

/// Where a page has the record of what was audited with a committed plan.
const AUDITED: &str = "plan/audited.txt";

/// Runs the program with these words, such as `audit`, `scores`, `--target` and `in.npy`, on files in
/// memory.
///
/// `names` are the paths of the files as the words have them. A folder is passed as its files: `plan` stands
/// for `plan/plan.json`, `plan/seed.secret` and so on. A page cannot write to the folder, so what the
/// program writes to its `audited.txt` is returned: the page keeps it for the next audit of the plan.
///
/// # Errors
/// What the program prints where it fails: options that exclude each other, a file that cannot be read,
/// data without a valid bound.
#[wasm_bindgen(unchecked_return_type = "Asked")]
pub fn ask(
    words: Vec<String>,
    names: Vec<String>,
    contents: Vec<Uint8Array>,
) -> Result<Object, Failure> {
    let contents = contents.iter().map(Uint8Array::to_vec);
    let call = Call {
        arguments: words.into_iter().map(Into::into).collect(),
        files: names.into_iter().map(Into::into).zip(contents).collect(),
        outputs: vec![AUDITED.into()],
        renders: true,
        ..Call::default()
    };
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

impl From<ErrorReport> for Failure {
    fn from(error: ErrorReport) -> Self {
        let kind = match (error.code, error.file) {
            (ErrorCode::Input | ErrorCode::Artefact, Some(_)) => FailureKind::File,
            (ErrorCode::Input | ErrorCode::Artefact, None) => FailureKind::Input,
            (ErrorCode::Device, _) => FailureKind::Device,
            (ErrorCode::Interrupted, _) => FailureKind::Stopped,
            (ErrorCode::Internal, _) => FailureKind::Internal,
        };
        Failure::of(kind, &error.message)
    }
}
