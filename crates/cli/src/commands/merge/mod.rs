//! `dpscope merge`: joins the shards of a run.

mod args;

pub(crate) use args::MergeArgs;

use dpscope_engine::{ArtefactError, MergeOptions};
use dpscope_report::figure::curves_of_report;
use dpscope_report::record::SeedSource;
use dpscope_simulation::{Artefact, Evaluate};

use crate::commands::simulate::idealised;
use crate::failure::{CommandResult, Failure};
use crate::files::{check_replaceable, read_artefact, write_artefact};
use crate::simulated_report::{RunFacts, of_artefact};

pub(crate) fn run(args: &MergeArgs) -> CommandResult {
    let started = std::time::Instant::now();
    let merged = merged(args)?;
    let test = args.report.check(merged.plan.delta)?;
    let out = args.out.as_deref();
    out.map_or(Ok(()), |path| check_replaceable(path, &merged.plan, merged.range))?;
    let written = out.map_or(Ok(()), |path| write_artefact(path, &merged));
    let facts = RunFacts {
        seed_source: SeedSource::Artefact,
        elapsed_ms: started.elapsed().as_secs_f64() * 1e3,
        resumed_from: None,
        idealised: idealised(&merged, None, args.report.show.quiet),
    };
    let report = of_artefact(&merged, &facts, &test)?;
    let finished = args.report.finish(&report, || Ok(curves_of_report(&report, &merged.curve()?)?));
    written.and(finished)
}

/// The sum of all files; errors name the file that does not match.
fn merged(args: &MergeArgs) -> Result<Artefact, Failure> {
    let mut sum: Option<Artefact> = None;
    for path in &args.files {
        let part = read_artefact(path)?;
        match &mut sum {
            None => sum = Some(part),
            Some(sum) => sum.absorb(part).map_err(|error| Failure::from(error).about(path))?,
        }
    }
    let options = MergeOptions { allow_gaps: args.allow_gaps, allow_mixed_modes: args.allow_mixed };
    Ok(sum.ok_or(ArtefactError::Nothing)?.merged(options)?)
}
