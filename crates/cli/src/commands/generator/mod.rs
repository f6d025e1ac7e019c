//! `dpscope generator`: runs of a user's generator of synthetic rows.

mod run;

use run::GeneratorRunArgs;

use crate::failure::CommandResult;

pub(crate) fn run(generator: &Generator) -> CommandResult {
    generator.run()
}

subcommands! {
    Generator {
        /// Execute the runs of a folder, several at once; finished ones are kept.
        Run(GeneratorRunArgs) => run,
    }
}
