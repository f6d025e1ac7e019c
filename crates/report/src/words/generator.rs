//! What an audit of a generator shows, in words.

use dpscope_core::accounting::Kind;
use dpscope_core::audit::claim::Verdict;
use dpscope_core::format::given;

use crate::number::{confidence, counted, plain};

/// What an audit of a generator by many runs found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GeneratorResult {
    /// The claimed ε.
    pub claimed: Option<f64>,
    /// Lower bound on ε by the attack.
    pub epsilon: f64,
    /// Largest ε that this number of runs can show.
    pub ceiling: f64,
    /// Chance that the lower bound is wrong.
    pub significance: f64,
    /// Runs of each world.
    pub runs: u64,
    /// Failed runs of the world with more of them.
    pub failed: u64,
    /// Whether every run released the same rows.
    pub is_constant: bool,
}

/// The name of the finding that every run released the same rows.
pub const CONSTANT_ROWS: &str = "constant-rows";

impl GeneratorResult {
    /// The verdict on the claim; none without one.
    #[must_use]
    pub fn verdict(&self) -> Option<Verdict> {
        self.claimed.map(|claimed| match (self.epsilon > claimed, self.doubt()) {
            (true, _) => Verdict::Refuted,
            (false, Some(_)) => Verdict::Inconclusive,
            (false, None) => Verdict::NotRefuted,
        })
    }

    /// The result in one sentence.
    #[must_use]
    pub fn headline(&self) -> String {
        self.in_words().0
    }

    /// What it means, and what could have been seen.
    #[must_use]
    pub fn meaning(&self) -> String {
        self.in_words().1
    }

    /// Why a claim that is not refuted was not tested: the sentence, and what to do.
    fn doubt(&self) -> Option<(String, &'static str)> {
        if self.failed > self.runs / 2 {
            let (failed, runs) = (self.failed, counted(self.runs, "run"));
            return Some((
                format!("{failed} of {runs} of a world failed and released nothing"),
                "repair the command and plan anew",
            ));
        }
        if self.is_constant {
            return Some((
                "every run of both worlds released the same rows".to_owned(),
                "check that the command writes what it generates, and plan anew",
            ));
        }
        let claimed = self.claimed.filter(|claimed| self.ceiling <= *claimed)?;
        Some((
            format!("so few runs cannot show more than ε = {}", given(claimed)),
            "plan more runs: `dpscope plan generator --claim` says how many",
        ))
    }

    fn in_words(&self) -> (String, String) {
        let [shown, ceiling] = [self.epsilon, self.ceiling].map(|x| plain(x, Kind::Lower, 2));
        let claimed = self.claimed.map(given).unwrap_or_default();
        let could =
            format!("an attack without errors would have shown ε ≥ {ceiling} with this many runs");
        let held = confidence(self.significance);
        let no_proof = format!(
            "that no more was found is no proof of privacy; {could}; no attack can show more"
        );
        match (self.verdict(), self.doubt()) {
            (Some(Verdict::Refuted), _) => (
                format!("REFUTED: ε = {claimed} is claimed, and the rows show ε ≥ {shown}"),
                format!("the generator leaks more than claimed, with {held} confidence; {could}"),
            ),
            (Some(_), Some((why, remedy))) => (
                format!("INCONCLUSIVE: ε = {claimed} is claimed, and {why}"),
                format!(
                    "the claim was not tested, although the rows show ε ≥ {shown}; {could}; {remedy}"
                ),
            ),
            (None, Some((why, remedy))) => {
                (format!("The rows show ε ≥ {shown}, but {why}"), format!("{remedy}; {no_proof}"))
            }
            (Some(_), None) => (
                format!("Not refuted: ε = {claimed} is claimed, and the rows show ε ≥ {shown}"),
                no_proof,
            ),
            (None, None) => (format!("The rows show ε ≥ {shown}"), no_proof),
        }
    }
}
