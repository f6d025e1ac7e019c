//! `dpscope canaries`: canaries for audits of one run.

mod make;
mod verify;

use make::MakeArgs;
use verify::VerifyArgs;

use crate::failure::CommandResult;

pub(crate) fn run(canaries: &Canaries) -> CommandResult {
    canaries.run()
}

subcommands! {
    Canaries {
        /// Choose records of a file as canaries, or draw directions of gradients.
        Make(MakeArgs) => make,
        /// Check canaries against a committed plan.
        Verify(VerifyArgs) => verify,
    }
}
