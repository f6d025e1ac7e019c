//! `dpscope sweep`: theory, and audits where wanted, of a table of trainings.

mod args;
mod settings;
mod shown;

pub(crate) use args::SweepArgs;

use dpscope_core::accounting::Training;

use serde::Serialize;

use crate::commands::lines::{Drawing, Line, What, lines};
use crate::failure::{Done, Exit, Failure};
use crate::files::{check_replaces, write_text};
use crate::output::{print, print_json, tell};
use crate::progress::{Rows, is_interrupted};
use settings::{Named, load};

#[derive(Serialize)]
struct Sweep {
    schema: &'static str,
    version: &'static str,
    significance: f64,
    /// Trainings in the table.
    settings: usize,
    /// Those that are finished, in the order of the table.
    rows: Vec<Swept>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seed: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    device: Option<String>,
    #[serde(skip)]
    wanted: Vec<What>,
}

/// A training and what is known of it.
#[derive(Serialize)]
struct Swept {
    name: String,
    #[serde(flatten)]
    setting: Training,
    delta: f64,
    values: Vec<Line>,
}

pub(crate) fn run(args: &SweepArgs) -> Done {
    let show = &args.theory.show;
    let named = load(&args.settings, args.theory.statement.delta)?;
    let progress = Rows::new(show.quiet, named.len());
    args.csv.as_ref().map_or(Ok(()), |path| check_replaces(path, shown::CSV_MARK))?;
    let wanted = wanted(args);
    let draws = args.pair || args.theory.observations.is_some();
    let drawing = draws.then(|| Drawing::new(&args.theory, true)).transpose()?;
    let settings = named.len();
    let (rows, stopped) = finished(named, &wanted, drawing.as_ref(), &progress)?;
    drop(progress);
    let report = Sweep {
        schema: "dpscope.sweep/1",
        version: env!("CARGO_PKG_VERSION"),
        significance: args.theory.statement.significance,
        settings,
        rows,
        seed: drawing.as_ref().map(|drawing| drawing.seed.to_string()),
        device: drawing.as_ref().map(Drawing::device),
        wanted,
    };
    let written = args.csv.as_ref().map_or(Ok(()), |path| write_text(path, &shown::csv(&report)));
    // The table first: a disk that is full must not cost what was computed.
    if show.json {
        print_json(&report)?;
    } else {
        print(&shown::text(&report))?;
    }
    if stopped {
        let finished = report.rows.len();
        tell(&format!("interrupted; {finished} of {settings} rows are finished and kept"));
    }
    written.map(|()| if stopped { Exit::Interrupted } else { Exit::Done })
}

fn wanted(args: &SweepArgs) -> Vec<What> {
    let mut wanted = vec![What::Poisson, What::BallsInBins, What::ShuffleLower];
    if args.pair {
        wanted.extend([What::PairLower, What::PairEstimate]);
    }
    wanted.push(What::Deterministic);
    if args.theory.observations.is_some() {
        wanted.push(What::Audit);
    }
    wanted
}

/// The rows up to the end, or up to Ctrl-C.
fn finished(
    named: Vec<Named>,
    wanted: &[What],
    drawing: Option<&Drawing<'_>>,
    progress: &Rows,
) -> Result<(Vec<Swept>, bool), Failure> {
    let mut rows = Vec::with_capacity(named.len());
    for Named { name, setting, delta } in named {
        progress.next(&name);
        if is_interrupted() {
            return Ok((rows, true));
        }
        match lines(setting, delta, wanted, drawing) {
            Ok(values) => rows.push(Swept { name, setting, delta, values }),
            Err(failure) if failure.code == Exit::Interrupted => return Ok((rows, true)),
            Err(failure) => return Err(failure),
        }
    }
    Ok((rows, false))
}
