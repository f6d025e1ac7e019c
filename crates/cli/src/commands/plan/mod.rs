//! `dpscope plan`: one folder per subject.

mod bgm;
#[cfg(feature = "native")]
mod drawn;
mod federated;
mod generator;
mod one_run;
#[cfg(feature = "native")]
mod secrets;
#[cfg(feature = "native")]
mod split;

use bgm::BgmPlanArgs;
use clap::Args;
use federated::FederatedPlanArgs;
use generator::GeneratorPlanArgs;
use one_run::OneRunPlanArgs;

use crate::failure::CommandResult;

/// A subject, or the options of `plan bgm`.
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Without a subject, the options are those of `dpscope plan bgm`.\n\nExamples:\n  \
        dpscope plan --epsilon 9\n  dpscope plan one-run --canaries 1000"
)]
pub(crate) struct PlanArgs {
    #[command(subcommand)]
    subject: Option<PlanSubject>,
    #[command(flatten)]
    bgm: BgmPlanArgs,
}

subcommands! {
    PlanSubject {
        /// Size an audit of the batched Gaussian mechanism.
        Bgm(BgmPlanArgs) => bgm,
        /// Size an audit of one training run, or commit to the coins of its canaries.
        OneRun(Box<OneRunPlanArgs>) => one_run,
        /// Size an audit with canary clients, or commit to their number and directions.
        Federated(FederatedPlanArgs) => federated,
        /// Size an audit by a random hold-out.
        Split(Box<split::SplitPlanArgs>) => split if "native",
        /// Size an audit by random secrets, or draw and commit them.
        Secrets(Box<secrets::SecretsPlanArgs>) => secrets if "native",
        /// Size an audit of a generator of synthetic rows, and write its folder.
        Generator(Box<GeneratorPlanArgs>) => generator,
    }
}

pub(crate) fn run(args: &PlanArgs) -> CommandResult {
    match &args.subject {
        Some(subject) => subject.run(),
        None => bgm::run(&args.bgm),
    }
}
