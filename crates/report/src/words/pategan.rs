//! What an audit of PATE-GAN shows, in words.

use dpscope_core::accounting::Kind;
use dpscope_core::audit::claim::{Verdict, VerdictReason};

use crate::number::{confidence, plain};

/// What an audit of PATE-GAN found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PateGanFinding {
    /// Lower bound on ε by the attack.
    pub epsilon: f64,
    /// Largest ε that this number of runs can show.
    pub ceiling: f64,
    /// ε that the accountant proves.
    pub accounted: f64,
    /// Checks that report a fault.
    pub fired: usize,
    /// Chance that the lower bound is wrong.
    pub significance: f64,
}

impl PateGanFinding {
    /// The verdict on the accounted ε.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        VerdictReason::of_bound(self.epsilon, Some(self.ceiling), self.accounted).verdict()
    }

    /// The result in one sentence.
    #[must_use]
    pub fn headline(&self) -> String {
        let lower = plain(self.epsilon, Kind::Lower, 2);
        let upper = plain(self.accounted, Kind::Upper, 2);
        let checks = match self.fired {
            0 => "no check reports a fault".to_owned(),
            1 => "1 check reports a fault".to_owned(),
            more => format!("{more} checks report faults"),
        };
        match self.verdict() {
            Verdict::Refuted => {
                format!("The accounted ε = {upper} is refuted: the rows show ε ≥ {lower}; {checks}")
            }
            Verdict::NotRefuted => {
                format!("The rows show ε ≥ {lower}, and ε ≤ {upper} is accounted for; {checks}")
            }
            Verdict::Inconclusive => format!(
                "The rows show ε ≥ {lower}, and ε ≤ {upper} is accounted for, which so few runs could \
                 not refute; {checks}"
            ),
        }
    }

    /// What it means, and what could have been seen.
    #[must_use]
    pub fn meaning(&self) -> String {
        let held = confidence(self.significance);
        let ceiling = plain(self.ceiling, Kind::Lower, 2);
        let could = format!(
            "with this many runs, an attack without errors would have shown ε ≥ {ceiling}; no attack can show more"
        );
        match (self.verdict(), self.fired > 0) {
            (Verdict::Refuted, true) => format!(
                "the released rows leak more than is accounted for, with {held} confidence, and the \
                 checks name why; {could}"
            ),
            (Verdict::Refuted, false) => format!(
                "the released rows leak more than is accounted for, with {held} confidence, for a \
                 reason that no check sees; {could}"
            ),
            (Verdict::NotRefuted, true) => format!(
                "a check reports a fault, and the attack on the rows does not refute the accounted ε: its \
                 bound is no proof of privacy; {could}"
            ),
            (Verdict::NotRefuted, false) => format!(
                "neither the attack nor a check found more leakage than accounted for, which is no proof \
                 that there is none; {could}"
            ),
            (Verdict::Inconclusive, true) => format!(
                "a check reports a fault, and the attack on the rows did not test the accounted ε: \
                 {could}; plan more runs"
            ),
            (Verdict::Inconclusive, false) => format!(
                "no check found a fault, and the attack on the rows did not test the accounted ε: \
                 {could}; plan more runs"
            ),
        }
    }
}
