//! `dpscope merge`: joins the shards of a run.

mod args;

pub(crate) use args::MergeArgs;

use web_time::Instant;

use dpscope_engine::{Artefact, ArtefactError, MergeOptions, Plan};

use super::saved_run::{self, SavedAudit, SavedVisitor};
use crate::failure::{CommandResult, Failure};
use crate::files::{read_own_artefact, remember_input};

pub(crate) fn run(args: &MergeArgs) -> CommandResult {
    let started = Instant::now();
    args.files.iter().for_each(|path| remember_input(path));
    saved_run::read(args.files.first().ok_or(ArtefactError::Nothing)?, Merged { args, started })
}

struct Merged<'a> {
    args: &'a MergeArgs,
    started: Instant,
}

impl SavedVisitor for Merged<'_> {
    fn visit<A: SavedAudit>(self, first: Artefact<A>) -> CommandResult {
        A::merge(self.args, &merged(self.args, first)?, self.started)
    }
}

/// The sum of all files; errors name the file that does not match.
fn merged<P: Plan>(args: &MergeArgs, first: Artefact<P>) -> Result<Artefact<P>, Failure> {
    let mut sum = first;
    for path in args.files.iter().skip(1) {
        let part = read_own_artefact(path)?;
        sum.absorb(part).map_err(|error| Failure::from(error).about(path))?;
    }
    let options = MergeOptions { allow_gaps: args.allow_gaps, allow_mixed_modes: args.allow_mixed };
    Ok(sum.merged(options)?)
}
