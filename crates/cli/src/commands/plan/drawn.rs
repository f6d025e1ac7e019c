//! What plans of audits by something that will be drawn share.

use clap::Args;
use dpscope_core::adjacency::Adjacency;
use dpscope_core::audit::drawn::{DrawnDesign, DrawnError};
use dpscope_core::audit::one_run::OneRunError;
use dpscope_report::record::{DrawnSize, DrawnSizes, DrawnTarget};
use dpscope_report::text::drawn_sizes_text;

use crate::args::{StatementArgs, epsilon, number};
use crate::failure::{CommandResult, Exit, Failure};
use crate::output::{print_json, print_text};

/// What is expected, of which attack.
#[derive(Debug, Args)]
pub(crate) struct ExpectedArgs {
    /// How far training moves the score of a member, or of a true secret, in standard deviations of the
    /// scores; several separated by commas [default: 0.5,1,2,3].
    #[arg(long, value_delimiter = ',', value_parser = number)]
    mu: Vec<f64>,
    /// Epsilon that the bound should reach; prints the size that this needs.
    #[arg(long, value_name = "EPS", value_parser = epsilon)]
    pub(crate) epsilon: Option<f64>,
    /// Adjacency of --epsilon.
    #[arg(long, default_value = "add-remove")]
    pub(crate) adjacency: Adjacency,
    #[command(flatten)]
    pub(crate) statement: StatementArgs,
    /// Print one JSON document on stdout.
    #[arg(long)]
    pub(crate) json: bool,
}

impl ExpectedArgs {
    fn mus(&self) -> &[f64] {
        if self.mu.is_empty() { &[0.5, 1.0, 2.0, 3.0] } else { &self.mu }
    }
}

/// What is expected of a design at each μ.
pub(super) fn rows(args: &ExpectedArgs, design: DrawnDesign) -> Result<Vec<DrawnSize>, Failure> {
    let (delta, significance) = (args.statement.delta, args.statement.significance());
    let row = |&gdp_mu: &f64| -> Result<DrawnSize, DrawnError> {
        let guesses = design.expected(gdp_mu, delta, significance)?;
        let bounds = guesses.bounds(delta, significance)?;
        let ceilings = guesses.ceilings(delta, significance)?;
        Ok(DrawnSize { gdp_mu, guesses, bounds, ceilings })
    };
    let rows: Result<Vec<DrawnSize>, DrawnError> = args.mus().iter().map(row).collect();
    rows.map_err(option_of)
}

pub(super) fn sizes(args: &ExpectedArgs, design: DrawnDesign) -> Result<DrawnSizes, Failure> {
    let (delta, significance) = (args.statement.delta, args.statement.significance());
    let target = |&gdp_mu: &f64, epsilon: f64| -> Result<DrawnTarget, DrawnError> {
        let adjacency = args.adjacency;
        let size = design.size_for((gdp_mu, epsilon), adjacency, delta, significance)?;
        Ok(DrawnTarget { gdp_mu, epsilon, adjacency, size })
    };
    let targets: Result<Vec<DrawnTarget>, DrawnError> = match args.epsilon {
        Some(epsilon) => args.mus().iter().map(|mu| target(mu, epsilon)).collect(),
        None => Ok(Vec::new()),
    };
    Ok(DrawnSizes {
        schema: DrawnSizes::SCHEMA,
        design,
        delta,
        significance,
        rows: rows(args, design)?,
        targets: targets.map_err(option_of)?,
        rule: None,
        coins_ceiling: None,
        committed: None,
    })
}

/// An error of numbers, by the options that have them.
fn option_of(error: DrawnError) -> Failure {
    match error {
        DrawnError::OneRun(OneRunError::Mu { mu }) => {
            Failure::input(format!("--mu is {mu}; it must lie in 0 to 100"))
        }
        other => Failure::input(other),
    }
}

pub(super) fn print(args: &ExpectedArgs, sizes: DrawnSizes) -> CommandResult {
    match args.json {
        true => print_json(&sizes)?,
        false => print_text(&drawn_sizes_text(&sizes))?,
    }
    Ok(Exit::Done)
}
