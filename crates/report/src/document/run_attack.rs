//! What an attack on the released rows of many runs has shown.

use dpscope_core::accounting::Kind;
use dpscope_core::audit::Auc;
use dpscope_core::format::rounded;

use super::Document;
use crate::number::{confidence, delta, plain};

/// An attack that tells runs with the target row from runs without it.
pub(crate) struct RunAttack<'a> {
    pub(crate) epsilon: f64,
    pub(crate) delta: f64,
    pub(crate) significance: f64,
    /// The evaluated runs.
    pub(crate) evaluated: &'a str,
    pub(crate) ceiling: f64,
    pub(crate) auc: &'a Auc,
}

impl RunAttack<'_> {
    /// Adds the bound and the AUC.
    pub(crate) fn add_to(&self, document: &mut Document) {
        let text = format!(
            "ε ≥ {} at δ = {}, with {} confidence; {} can show at most {}",
            plain(self.epsilon, Kind::Lower, 4),
            delta(self.delta),
            confidence(self.significance),
            self.evaluated,
            plain(self.ceiling, Kind::Lower, 4)
        );
        document.row("attack", &text);
        let auc = [self.auc.value, self.auc.lower, self.auc.upper].map(|x| rounded(x, 3));
        document.row("AUC", &format!("{} ({} to {})", auc[0], auc[1], auc[2]));
    }
}
