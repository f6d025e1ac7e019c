//! `dpscope generator`: runs of a user's generator of synthetic rows.

mod run;
mod utility;

use run::GeneratorRunArgs;
use utility::GeneratorUtilityArgs;

use crate::failure::CommandResult;

pub(crate) fn run(generator: &Generator) -> CommandResult {
    generator.run()
}

subcommands! {
    Generator {
        /// Execute the runs of a folder, several at once; finished ones are kept.
        Run(GeneratorRunArgs) => run,
        /// Train classifiers on released rows, test them on real ones, and compare with epsilon.
        Utility(GeneratorUtilityArgs) => utility,
    }
}
