//! What the ε of an imported record means.

use dpscope_core::training_check::CheckVerdict;

/// What is known of a claim about the phases that an accountant recorded, and what not.
#[must_use]
pub fn imported_sentence(verdict: Option<CheckVerdict>) -> &'static str {
    match verdict {
        None => {
            "This is epsilon of the record: Poisson batches and noise as the accountant assumed them. \
             The loader and the code were not examined; name the loader with --loader to compare it."
        }
        Some(CheckVerdict::Refuted) => {
            "A training with these phases, releasing every noisy sum, does not satisfy the claimed \
             epsilon and delta: proven. The loader and the code were not examined."
        }
        Some(CheckVerdict::HoldsAsDescribed) => {
            "A training with these phases and Poisson batches satisfies the claim: proven. Whether \
             the loader draws such batches was not examined; name it with --loader to compare it."
        }
        Some(CheckVerdict::Inconclusive) => {
            "The claim lies between the two values, which differ only by numerical error. The loader and \
             the code were not examined."
        }
    }
}
