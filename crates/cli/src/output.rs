//! What the program prints, and the exit code of a report.

use dpscope_core::audit::claim::{ClaimError, PrivacyClaim};
use dpscope_core::format::given;
use dpscope_report::record::{ClaimTest, Report};
use dpscope_report::text::report_text;
use serde::Serialize;

use crate::args::ClaimArgs;
use crate::failure::{Done, Exit, Failure};

/// Prints a report; its exit code.
pub(crate) fn finish(report: &Report, json: bool) -> Done {
    if json {
        print_json(report)?;
    } else {
        print(&report_text(report))?;
    }
    Ok(if report.is_refuted() { Exit::Refuted } else { Exit::Done })
}

/// Checks `--claim` and `--fail-above` before any work is done.
pub(crate) fn claim_test(args: &ClaimArgs, delta: f64) -> Result<ClaimTest, Failure> {
    let claim = match args.claim {
        None => None,
        Some(epsilon) => {
            if let Some(claimed) = args.claim_delta.filter(|&claimed| claimed != delta) {
                return Err(ClaimError::Delta { claimed, audited: delta }.into());
            }
            let claim = PrivacyClaim { epsilon, delta, adjacency: args.claim_adjacency.into() };
            claim.check()?;
            Some(claim)
        }
    };
    match args.fail_above {
        Some(epsilon) if !(epsilon >= 0.0 && epsilon.is_finite()) => Err(Failure::input(format!(
            "--fail-above is {}; it must be a number >= 0",
            given(epsilon)
        ))),
        fail_above => Ok(ClaimTest { claim, fail_above }),
    }
}

/// One JSON document on stdout.
pub(crate) fn print_json(document: &impl Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(document)
        .map_err(|error| Failure::with(Exit::Internal, error))?;
    print(&format!("{text}\n"))
}

/// Text on stdout. A closed pipe is the reader's choice, not an error.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    use std::io::{ErrorKind, Write};
    let mut stdout = std::io::stdout();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::with(Exit::Internal, format!("stdout cannot be written: {error}")))
        }
        _ => Ok(()),
    }
}

/// A line on stderr, if that can still be written.
pub(crate) fn tell(line: &str) {
    use std::io::Write;
    let _ = writeln!(std::io::stderr(), "{line}");
}
