//! Proposals of the exact pair.

use dpscope_core::accounting::AccountingError;
use dpscope_core::accounting::pair::{Draw, PairDraws, Proposal, Sampling, pair_epsilon};
use dpscope_core::accounting::shuffle::ShuffleRun;

/// Keeps the proposal that it is asked to draw from.
struct Seen(Option<Proposal>);

impl PairDraws for Seen {
    type Error = AccountingError;

    fn normals(&mut self, out: &mut [f64]) -> Result<(), AccountingError> {
        out.fill(0.5);
        Ok(())
    }

    fn draws(
        &mut self,
        proposal: &Proposal,
        _: usize,
        _: &mut dyn FnMut(Draw),
    ) -> Result<(), AccountingError> {
        self.0 = Some(proposal.clone());
        Ok(())
    }
}

/// What an epoch is drawn from at δ = 1e-5.
pub fn proposal(noise_multiplier: f64, steps_per_epoch: u64) -> Proposal {
    let run = ShuffleRun { noise_multiplier, steps_per_epoch, epochs: 1 };
    let mut seen = Seen(None);
    let sampling = Sampling { draws: 1_000, significance: 0.025 };
    pair_epsilon(&run, 1e-5, sampling, &mut seen).expect("a run in the domain");
    seen.0.expect("more than one step")
}
