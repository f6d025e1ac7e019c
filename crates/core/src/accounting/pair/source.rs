//! Where the draws of a proposal come from.

use super::proposal::{Draw, DrawError, Proposal};
use crate::accounting::AccountingError;

/// A source of random draws, for all that is drawn of a pair.
///
/// A closure that fills a slice with independent standard normals is one, of full precision.
pub trait PairDraws {
    /// Why a source fails: it is stopped, say.
    type Error: From<AccountingError>;

    /// Fills a slice with the next independent standard normals.
    ///
    /// # Errors
    /// The source fails.
    fn normals(&mut self, out: &mut [f64]) -> Result<(), Self::Error>;

    /// How far its draws of a proposal may be from those of exact normals; the limit is rounded
    /// outward by it.
    fn error(&self, _proposal: &Proposal) -> DrawError {
        DrawError::default()
    }

    /// Calls `each` with the next `count` draws of a proposal.
    ///
    /// # Errors
    /// The source fails.
    fn draws(
        &mut self,
        proposal: &Proposal,
        count: usize,
        each: &mut dyn FnMut(Draw),
    ) -> Result<(), Self::Error> {
        let length = proposal.normals();
        let at_once = (4096 / length).clamp(1, count.max(1));
        let mut buffer = vec![0.0; at_once * length];
        let mut left = count;
        while left > 0 {
            let now = left.min(at_once);
            let filled = &mut buffer[..now * length];
            self.normals(filled)?;
            for outputs in filled.chunks_exact_mut(length) {
                each(proposal.draw(outputs));
            }
            left -= now;
        }
        Ok(())
    }

    /// The same where draws only choose a proposal, which needs no precision, but independence of
    /// all other draws: no limit and no estimate is made of these.
    ///
    /// # Errors
    /// The source fails.
    fn rough_draws(
        &mut self,
        proposal: &Proposal,
        count: usize,
        each: &mut dyn FnMut(Draw),
    ) -> Result<(), Self::Error> {
        self.draws(proposal, count, each)
    }
}

impl<F: FnMut(&mut [f64])> PairDraws for F {
    type Error = AccountingError;

    fn normals(&mut self, out: &mut [f64]) -> Result<(), AccountingError> {
        self(out);
        Ok(())
    }
}
