//! `dpscope canaries`: canaries for audits of one run.

mod direction;
mod file;
mod make;
pub(crate) mod optimise;
mod rows;
mod verify;

use direction::DirectionArgs;
use make::MakeArgs;
use optimise::OptimiseArgs;
use rows::RowsArgs;
use verify::VerifyArgs;

use crate::failure::CommandResult;

pub(crate) fn run(canaries: &Canaries) -> CommandResult {
    canaries.run()
}

subcommands! {
    Canaries {
        /// Choose records of a file as canaries, or draw directions of gradients.
        Make(MakeArgs) => make,
        /// Optimise canaries so that a trained model reveals whether it saw them.
        Optimise(Box<OptimiseArgs>) => optimise,
        /// Write the update direction of a canary client in a committed plan.
        Direction(DirectionArgs) => direction,
        /// Draw canary rows for one run of a generator of synthetic rows.
        Rows(Box<RowsArgs>) => rows,
        /// Check canaries against a committed plan.
        Verify(VerifyArgs) => verify,
    }
}
