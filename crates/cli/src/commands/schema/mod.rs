//! `dpscope schema`: prints the JSON Schema of a document.

mod args;

pub(crate) use args::SchemaArgs;

use dpscope_report::{DOCUMENTS, schema_of};

use crate::failure::{CommandResult, Exit, Failure};
use crate::output::{print, print_json};

pub(crate) fn run(args: &SchemaArgs) -> CommandResult {
    match &args.name {
        None => print(&DOCUMENTS.iter().map(|name| format!("{name}\n")).collect::<String>())?,
        Some(name) => {
            let schema = schema_of(name);
            let missing = || Failure::with(Exit::Internal, "the schema has no such document");
            print_json(&schema.ok_or_else(missing)?)?;
        }
    }
    Ok(Exit::Done)
}
