//! `dpscope audit`: one folder per subject.

#[cfg(feature = "native")]
mod bgm;
mod canary_report;
mod counts;
#[cfg(feature = "native")]
pub(crate) mod dpsgd;
#[cfg(feature = "native")]
pub(crate) mod fedavg;
pub(crate) mod federated;
#[cfg(feature = "native")]
pub(crate) mod gaussian;
#[cfg(feature = "native")]
pub(super) mod generator;
pub(crate) mod one_run;
mod outputs;
#[cfg(feature = "native")]
pub(crate) mod pategan;
pub(super) mod recorded;
mod scores;

#[cfg(feature = "native")]
use bgm::BgmArgs;
use counts::CountsArgs;
#[cfg(feature = "native")]
use dpsgd::DpSgdArgs;
#[cfg(feature = "native")]
use fedavg::FedAvgArgs;
use federated::FederatedArgs;
#[cfg(feature = "native")]
use gaussian::GaussianArgs;
#[cfg(feature = "native")]
use generator::GeneratorArgs;
use one_run::OneRunArgs;
use outputs::OutputsArgs;
#[cfg(feature = "native")]
use pategan::PateGanArgs;
use scores::ScoresArgs;

use crate::failure::CommandResult;

pub(crate) fn run(audit: &Audit) -> CommandResult {
    audit.run()
}

subcommands! {
    Audit {
        /// Simulate the batched Gaussian mechanism and bound its epsilon.
        Bgm(BgmArgs) => bgm if "native",
        /// Train models with DP-SGD and a canary, and bound the epsilon of their outputs.
        Dpsgd(Box<DpSgdArgs>) => dpsgd if "native",
        /// Bound epsilon from outputs recorded in your own training runs.
        Outputs(OutputsArgs) => outputs,
        /// Bound epsilon from scores of any attack.
        Scores(ScoresArgs) => scores,
        /// Bound epsilon from error counts at a threshold fixed in advance.
        Counts(CountsArgs) => counts,
        /// Bound epsilon from guesses on the canaries of one training run.
        OneRun(Box<OneRunArgs>) => one_run,
        /// Bound epsilon from canary clients of one federated training.
        Federated(Box<FederatedArgs>) => federated,
        /// Train a model by DP-FedAvg with canary clients, and bound its epsilon.
        Fedavg(Box<FedAvgArgs>) => fedavg if "native",
        /// Bound the epsilon of the Gaussian mechanism from canaries in one noisy sum.
        Gaussian(Box<GaussianArgs>) => gaussian if "native",
        /// Bound the epsilon of your own generator of synthetic rows.
        Generator(GeneratorArgs) => generator if "native",
        /// Run PATE-GAN, faithful or faulty, and report its faults and the epsilon of its rows.
        Pategan(Box<PateGanArgs>) => pategan if "native",
    }
}
