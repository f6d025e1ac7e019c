//! What an audit of PATE-GAN shows, in words.

use dpscope_core::accounting::Kind;

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
    /// Whether the bound exceeds what is accounted for.
    #[must_use]
    pub fn is_refuted(&self) -> bool {
        self.epsilon > self.accounted
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
        if self.is_refuted() {
            format!("The accounted ε = {upper} is refuted: the rows show ε ≥ {lower}; {checks}")
        } else {
            format!("The rows show ε ≥ {lower}, and ε ≤ {upper} is accounted for; {checks}")
        }
    }

    /// What it means, and what could have been seen.
    #[must_use]
    pub fn meaning(&self) -> String {
        let held = confidence(self.significance);
        let ceiling = plain(self.ceiling, Kind::Lower, 2);
        let could = format!(
            "with so many runs an attack without errors would have shown ε ≥ {ceiling}; no attack can show more"
        );
        match (self.is_refuted(), self.fired > 0) {
            (true, true) => format!(
                "the released rows leak more than is accounted for, with {held} confidence, and the \
                 checks name why; {could}"
            ),
            (true, false) => format!(
                "the released rows leak more than is accounted for, with {held} confidence, for a \
                 reason that no check sees; {could}"
            ),
            (false, true) => format!(
                "a fault is present, and the attack on the rows does not refute what is accounted for: \
                 its bound is no proof of privacy; {could}"
            ),
            (false, false) => format!(
                "neither the attack nor a check found more leakage than accounted for, which is no proof \
                 that there is none; {could}"
            ),
        }
    }
}
