//! `dpscope sweep`: theory, and optionally audits, of training runs in a CSV file.

mod args;
mod input;
mod table;

pub(crate) use args::SweepArgs;

use dpscope_core::accounting::KnownBound;
use dpscope_report::record::{ComparedQuantity, OtherParameters, Sweep, SweepRow};

use crate::commands::lines::{DrawContext, lines};
use crate::failure::{CommandResult, Exit, Failure};
use crate::files::{check_replaces, write_text};
use crate::output::{print_json, print_note, print_text};
use crate::progress::{self, RowProgress};
use input::{NamedSetting, load};

pub(crate) fn run(args: &SweepArgs) -> CommandResult {
    let show = &args.theory.show;
    let input = load(&args.settings, args.theory.statement.delta)?;
    let progress = RowProgress::new(show.quiet, input.len()).with_estimate();
    args.csv.as_ref().map_or(Ok(()), |path| check_replaces(path, table::CSV_MARK))?;
    let quantities = quantities(args);
    let needs_draws = args.pair || args.theory.observations.is_some();
    let draws = needs_draws.then(|| DrawContext::new(&args.theory, true)).transpose()?;
    let settings = input.len();
    let (rows, is_interrupted) = finished_rows(input, &quantities, draws.as_ref(), &progress)?;
    drop(progress);
    let report = Sweep {
        schema: "dpscope.sweep/1",
        version: env!("CARGO_PKG_VERSION"),
        significance: args.theory.statement.significance(),
        settings,
        rows,
        seed: draws.as_ref().map(|draws| draws.seed.to_string()),
        device: draws.as_ref().map(DrawContext::device),
        quantities,
    };
    let written = args.csv.as_ref().map_or(Ok(()), |path| write_text(path, &table::csv(&report)));
    // The table comes first, so that a full disk does not lose the result.
    if show.json {
        print_json(&report)?;
    } else {
        print_text(&table::text(&report))?;
    }
    if is_interrupted {
        let finished = report.rows.len();
        print_note(&format!("interrupted; {finished} of {settings} rows are finished"));
    }
    written.map(|()| if is_interrupted { Exit::Interrupted } else { Exit::Done })
}

fn quantities(args: &SweepArgs) -> Vec<ComparedQuantity> {
    use KnownBound::{BallsInBins, Deterministic, PairEstimate, PairLower, Poisson, ShuffleBest};
    let drawn: &[KnownBound] = if args.pair { &[PairLower, PairEstimate] } else { &[] };
    let bounds = [&[Poisson, BallsInBins, ShuffleBest], drawn, &[Deterministic]].concat();
    let audit = args.theory.observations.map(|_| ComparedQuantity::Audit);
    bounds.into_iter().map(ComparedQuantity::Bound).chain(audit).collect()
}

/// The finished rows, and whether Ctrl-C left out the others.
fn finished_rows(
    input: Vec<NamedSetting>,
    quantities: &[ComparedQuantity],
    draws: Option<&DrawContext<'_>>,
    progress: &RowProgress,
) -> Result<(Vec<SweepRow>, bool), Failure> {
    let mut rows = Vec::with_capacity(input.len());
    for NamedSetting { name, setting, delta } in input {
        progress.next(&name);
        if progress::is_interrupted() {
            return Ok((rows, true));
        }
        match lines(&setting, delta, quantities, OtherParameters::default(), draws, None) {
            Ok(values) => rows.push(SweepRow { name, setting, delta, values }),
            Err(failure) if failure.code == Exit::Interrupted => return Ok((rows, true)),
            Err(failure) => return Err(failure),
        }
    }
    Ok((rows, false))
}
