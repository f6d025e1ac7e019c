//! `dpscope audit`: one folder per subject.

mod bgm;
mod canary_report;
mod counts;
pub(crate) mod dpsgd;
pub(crate) mod fedavg;
pub(crate) mod federated;
pub(crate) mod gaussian;
pub(super) mod generator;
pub(crate) mod one_run;
mod outputs;
pub(crate) mod pategan;
pub(super) mod recorded;
mod scores;

use bgm::BgmArgs;
use counts::CountsArgs;
use dpsgd::DpSgdArgs;
use fedavg::FedAvgArgs;
use federated::FederatedArgs;
use gaussian::GaussianArgs;
use generator::GeneratorArgs;
use one_run::OneRunArgs;
use outputs::OutputsArgs;
use pategan::PateGanArgs;
use scores::ScoresArgs;

use crate::failure::CommandResult;

pub(crate) fn run(audit: &Audit) -> CommandResult {
    audit.run()
}

subcommands! {
    Audit {
        /// Simulate the batched Gaussian mechanism and bound its epsilon.
        Bgm(BgmArgs) => bgm,
        /// Train models with DP-SGD and a canary, and bound the epsilon of their outputs.
        Dpsgd(Box<DpSgdArgs>) => dpsgd,
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
        Fedavg(Box<FedAvgArgs>) => fedavg,
        /// Bound the epsilon of the Gaussian mechanism from canaries in one noisy sum.
        Gaussian(Box<GaussianArgs>) => gaussian,
        /// Bound the epsilon of your own generator of synthetic rows.
        Generator(GeneratorArgs) => generator,
        /// Run PATE-GAN, faithful or faulty, and report its faults and the epsilon of its rows.
        Pategan(Box<PateGanArgs>) => pategan,
    }
}
