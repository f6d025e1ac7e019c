//! Arguments of `dpscope schema`.

use clap::Args;
use clap::builder::PossibleValuesParser;
use dpscope_report::SCHEMAS;

#[derive(Debug, Args)]
#[command(after_help = "Example:\n  dpscope schema report")]
pub(crate) struct SchemaArgs {
    /// The document [default: list the names].
    #[arg(value_name = "NAME", value_parser = PossibleValuesParser::new(SCHEMAS.iter().map(|(name, _)| *name)))]
    pub(crate) name: Option<String>,
}
