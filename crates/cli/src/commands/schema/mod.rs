//! `dpscope schema`: prints the JSON Schema of a document.

mod args;

pub(crate) use args::SchemaArgs;

use dpscope_report::SCHEMAS;

use crate::failure::{CommandResult, Exit};
use crate::output::print;

pub(crate) fn run(args: &SchemaArgs) -> CommandResult {
    match &args.name {
        None => {
            let names: String = SCHEMAS.iter().map(|(name, _)| format!("{name}\n")).collect();
            print(&names)?;
        }
        Some(name) => {
            let schema = SCHEMAS.iter().find(|(known, _)| known == name);
            print(schema.map_or("", |(_, schema)| *schema))?;
        }
    }
    Ok(Exit::Done)
}
