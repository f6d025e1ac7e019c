//! `dpscope merge`: join the shards of a run.

use dpscope_engine::{MergeOptions, merge};

use crate::args::MergeArgs;
use crate::failure::{Done, Failure};
use crate::files::{check_writable, read_artefact, write_atomically};
use crate::report::{RunFacts, check_claim, of_artefact};
use crate::seed::SeedSource;

pub(crate) fn run(args: &MergeArgs) -> Done {
    let started = std::time::Instant::now();
    args.out.as_deref().map_or(Ok(()), check_writable)?;
    let parts: Result<Vec<_>, Failure> = args.files.iter().map(|f| read_artefact(f)).collect();
    let options = MergeOptions { allow_gaps: args.allow_gaps, allow_mixed_modes: args.allow_mixed };
    let merged = merge(parts?, options)?;
    check_claim(&args.claim, merged.plan.delta)?;
    if let Some(path) = &args.out {
        write_atomically(path, &merged.to_bytes())
            .map_err(|error| Failure::input(format!("cannot be written: {error}")).about(path))?;
    }
    let facts = RunFacts {
        seed_source: SeedSource::Artefact,
        elapsed_ms: started.elapsed().as_secs_f64() * 1e3,
        resumed_from: None,
    };
    of_artefact(&merged, &facts, &args.claim)?.finish(args.show.json)
}
