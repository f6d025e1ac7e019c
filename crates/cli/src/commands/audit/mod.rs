//! `dpscope audit`: one folder per subject.

mod bgm;
mod counts;
pub(crate) mod dpsgd;
mod outputs;
mod recorded;
mod scores;

use bgm::BgmArgs;
use counts::CountsArgs;
use dpsgd::DpSgdArgs;
use outputs::OutputsArgs;
use scores::ScoresArgs;

use crate::failure::Done;

pub(crate) fn run(audit: &Audit) -> Done {
    audit.run()
}

subcommands! {
    Audit {
        /// Simulate the batched Gaussian mechanism with a canary and bound its epsilon.
        Bgm(BgmArgs) => bgm,
        /// Train models by DP-SGD with a canary and bound the epsilon of what the attacker sees.
        Dpsgd(Box<DpSgdArgs>) => dpsgd,
        /// Score outputs recorded from your own training runs.
        Outputs(OutputsArgs) => outputs,
        /// Bound epsilon from attack scores of any kind.
        Scores(ScoresArgs) => scores,
        /// Bound epsilon from error counts at one threshold that was fixed beforehand.
        Counts(CountsArgs) => counts,
    }
}
