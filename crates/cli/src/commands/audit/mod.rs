//! `dpscope audit`: one folder per subject.

#[cfg(feature = "native")]
mod bgm;
mod canary_report;
mod counts;
#[cfg(feature = "trainings")]
pub(crate) mod dpsgd;
mod drawn;
#[cfg(feature = "many-canaries")]
pub(crate) mod fedavg;
pub(crate) mod federated;
#[cfg(feature = "native")]
pub(crate) mod gaussian;
#[cfg(feature = "native")]
pub(super) mod generator;
mod guesses;
pub(crate) mod one_run;
mod outputs;
#[cfg(feature = "native")]
pub(crate) mod pategan;
pub(super) mod recorded;
mod scores;
mod secrets;
pub(crate) mod split;

use crate::failure::CommandResult;

pub(crate) fn run(audit: &Audit) -> CommandResult {
    audit.run()
}

subcommands! {
    Audit {
        /// Simulate the batched Gaussian mechanism and bound its epsilon.
        Bgm(bgm::BgmArgs) => bgm if "native",
        /// Train models with DP-SGD and a canary, and bound the epsilon of their outputs.
        Dpsgd(Box<dpsgd::DpSgdArgs>) => dpsgd if "trainings",
        /// Bound epsilon from outputs recorded in your own training runs.
        Outputs(outputs::OutputsArgs) => outputs if "files",
        /// Bound epsilon from scores of any attack.
        Scores(scores::ScoresArgs) => scores if "files",
        /// Bound epsilon from error counts at a threshold fixed in advance.
        Counts(counts::CountsArgs) => counts if "files",
        /// Bound epsilon from guesses on the canaries of one training run.
        OneRun(Box<one_run::OneRunArgs>) => one_run if "files",
        /// Bound epsilon from the random hold-out of one training run, without canaries.
        Split(Box<split::SplitArgs>) => split if "files",
        /// Bound epsilon from secrets that the records of one training hold, drawn from many values.
        Secrets(Box<secrets::SecretsArgs>) => secrets if "files",
        /// Bound epsilon from guesses of memberships or labels with known odds.
        Guesses(Box<guesses::GuessesArgs>) => guesses if "files",
        /// Bound epsilon from canary clients of one federated training.
        Federated(Box<federated::FederatedArgs>) => federated if "files",
        /// Train a model by DP-FedAvg with canary clients, and bound its epsilon.
        Fedavg(Box<fedavg::FedAvgArgs>) => fedavg if "many-canaries",
        /// Bound the epsilon of the Gaussian mechanism from canaries in one noisy sum.
        Gaussian(Box<gaussian::GaussianArgs>) => gaussian if "native",
        /// Bound the epsilon of your own generator of synthetic rows.
        Generator(generator::GeneratorArgs) => generator if "native",
        /// Run PATE-GAN, faithful or faulty, and report its faults and the epsilon of its rows.
        Pategan(Box<pategan::PateGanArgs>) => pategan if "native",
    }
}
