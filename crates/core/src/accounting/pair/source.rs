//! Sources of random draws.

use super::proposal::{Draw, DrawError, Proposal};
use crate::accounting::AccountingError;

/// A source of random draws for the pair.
///
/// Closures that fill a slice with independent standard normals implement it, at full precision.
pub trait PairDraws {
    /// Error of the source, for example if it is stopped.
    type Error: From<AccountingError>;

    /// Fills a slice with the next independent standard normals.
    ///
    /// # Errors
    /// The source fails.
    fn normals(&mut self, out: &mut [f64]) -> Result<(), Self::Error>;

    /// Maximum distance of its draws from those of exact normals; the limit is rounded outward by
    /// it.
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

    /// Calls `each` with draws that only choose a proposal: they need no precision, but must be
    /// independent of all other draws.
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
