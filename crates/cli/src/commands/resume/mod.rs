//! `dpscope resume`: resume an interrupted run from its checkpoint.

mod args;

pub(crate) use args::ResumeArgs;

use dpscope_engine::Artefact;

use super::saved_run::{self, SavedAudit, SavedVisitor};
use crate::failure::CommandResult;

pub(crate) fn run(args: &ResumeArgs) -> CommandResult {
    saved_run::read(&args.checkpoint, Resumed(args))
}

struct Resumed<'a>(&'a ResumeArgs);

impl SavedVisitor for Resumed<'_> {
    fn visit<A: SavedAudit>(self, state: Artefact<A>) -> CommandResult {
        A::resume(self.0, state)
    }
}
