//! `dpscope canaries`: canaries for audits of one run.

#[cfg(feature = "native")]
mod direction;
mod file;
#[cfg(feature = "native")]
mod make;
pub(crate) mod optimise;
#[cfg(feature = "native")]
mod rows;
#[cfg(feature = "native")]
mod verify;

use crate::failure::CommandResult;

pub(crate) fn run(canaries: &Canaries) -> CommandResult {
    canaries.run()
}

subcommands! {
    Canaries {
        /// Choose records of a file as canaries, or draw directions of gradients.
        Make(make::MakeArgs) => make if "native",
        /// Optimise canaries so that a trained model reveals whether it saw them.
        Optimise(Box<optimise::OptimiseArgs>) => optimise,
        /// Write the update direction of a canary client in a committed plan.
        Direction(direction::DirectionArgs) => direction if "native",
        /// Draw canary rows for one run of a generator of synthetic rows.
        Rows(Box<rows::RowsArgs>) => rows if "native",
        /// Check canaries against a committed plan.
        Verify(verify::VerifyArgs) => verify if "native",
    }
}
