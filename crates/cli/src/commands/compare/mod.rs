//! `dpscope compare`: claimed, proven and estimated ε of one training run.

mod args;

pub(crate) use args::CompareArgs;

use dpscope_core::adjacency::Adjacency;
use dpscope_core::mechanism::SamplerKind;
use dpscope_core::training_check::CheckVerdict;
use dpscope_report::figure::{Sampled, curves_of_sampled, to_svg};
use dpscope_report::record::{ComparedQuantity, Comparison, ComparisonLine, OtherParameters};
use dpscope_report::words::{Conclusion, PrivacyStatement};

use crate::commands::lines::{DrawContext, check, lines};
use crate::failure::{CommandResult, Exit, Failure};
use crate::output::Delivery;
use crate::progress::RowProgress;

pub(crate) fn run(args: &CompareArgs) -> CommandResult {
    let setting = args.setting.schedule(None, None)?;
    let statement = &args.theory.statement;
    check(&setting, statement.delta)?;
    args.plot.check()?;
    args.page.check()?;
    let other = OtherParameters {
        truncation: args.setting.truncation(args.parameters.max_batch_size)?,
        allocated_epochs: args.parameters.allocated_epochs,
    };
    if let Some(epochs) = args.parameters.allocated_epochs
        && setting.as_whole().is_none_or(|whole| !whole.epochs.is_multiple_of(epochs))
    {
        return Err(Failure::input(format!(
            "--allocated-epochs {epochs} does not divide the epochs of the run; pass a divisor of a \
             whole number of --epochs"
        )));
    }
    let draws = DrawContext::new(&args.theory, args.theory.show.quiet)?;
    let quantities = ComparedQuantity::all(other, args.theory.observations.is_some());
    let progress = RowProgress::new(args.theory.show.quiet, quantities.len());
    let rows = lines(&setting, statement.delta, &quantities, other, Some(&draws), Some(&progress))?;
    drop(progress); // the table follows
    let Conclusion { sentence, claim, .. } =
        conclusion(&rows, statement.significance(), args.claim());
    let verdict = claim.as_ref().map(|claim| claim.verdict);
    let report = Comparison {
        schema: Comparison::SCHEMA.into(),
        version: env!("CARGO_PKG_VERSION").into(),
        headline: sentence,
        claim,
        setting,
        other,
        delta: statement.delta,
        significance: statement.significance(),
        rows,
        seed: draws.seed.to_string(),
        device: draws.device(),
    };
    let of = |command| PrivacyStatement::of_comparison(&report, command);
    let delivery = Delivery::new(&args.page, args.theory.show.json);
    if !args.privacy_statement.print(of)? {
        delivery.print(&report)?;
    }
    let shuffled = Sampled { setting, sampler: SamplerKind::Shuffle };
    let curves = || curves_of_sampled(&shuffled, report.delta);
    args.page.write(&report, None, || Ok(to_svg(&curves())))?;
    args.plot.write(|| Ok(curves()))?;
    Ok(match verdict {
        Some(CheckVerdict::Refuted) => Exit::Refuted,
        Some(CheckVerdict::Inconclusive) => Exit::Inconclusive,
        Some(CheckVerdict::HoldsAsDescribed) | None => Exit::Done,
    })
}

/// The conclusion from the table.
fn conclusion(
    rows: &[ComparisonLine],
    significance: f64,
    claim: Option<(f64, Adjacency)>,
) -> Conclusion {
    let value = |line: &ComparisonLine| Some((line.quantity, line.shown()?.epsilon));
    let values: Vec<(ComparedQuantity, f64)> = rows.iter().filter_map(value).collect();
    ComparedQuantity::conclusion(&values, significance, claim)
}
