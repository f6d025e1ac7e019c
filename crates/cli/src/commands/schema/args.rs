//! Arguments of `dpscope schema`.

use clap::Args;
use clap::builder::PossibleValuesParser;
use dpscope_report::DOCUMENTS;

#[derive(Debug, Args)]
#[command(after_help = "Example:\n  dpscope schema report")]
pub(crate) struct SchemaArgs {
    /// The document [default: list the names].
    #[arg(value_name = "NAME", value_parser = PossibleValuesParser::new(DOCUMENTS))]
    pub(crate) name: Option<String>,
}
