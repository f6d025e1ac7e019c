//! A run whose observations are counted elsewhere: by the workers of a page, say.

use crate::merge::joined;
use crate::{Artefact, ArtefactError, EngineError, ObservationRange};

/// Deals observations to counters and gathers what they count, in any order.
///
/// # Guarantee
/// Each observation is counted once, whoever counts it and however often a counter is lost
/// (`unit::whoever_counts_the_counts_are_those_of_one_run`).
#[derive(Debug, Clone)]
pub struct Dealer {
    state: Artefact,
    /// Dealt and not yet counted.
    dealt: Vec<ObservationRange>,
}

impl Dealer {
    /// Goes on with a state, of which nothing is dealt.
    #[must_use]
    pub fn new(state: Artefact) -> Self {
        Dealer { state, dealt: Vec::new() }
    }

    /// All that is counted so far.
    #[must_use]
    pub fn state(&self) -> &Artefact {
        &self.state
    }

    /// The next observations of each world, at most so many; none where all are dealt or counted.
    pub fn deal(&mut self, most: u64) -> Option<ObservationRange> {
        let taken = joined(&self.state.counted, &self.dealt).ok()?;
        let gap = self.state.range.first_gap(&taken);
        let range = ObservationRange { end: gap.first + gap.len().min(most), ..gap };
        if range.is_empty() {
            return None;
        }
        self.dealt.push(range);
        Some(range)
    }

    /// Adds the counts of dealt observations, which are all of one [`deal`](Self::deal).
    ///
    /// # Errors
    /// Observations that are not dealt; counts of another plan, version or layout; not as many counts
    /// as observations. Nothing is added then, and what was dealt stays so.
    pub fn add(&mut self, part: Artefact) -> Result<(), EngineError> {
        let place = self.dealt.iter().position(|&range| part.counted == [range]);
        let Some(place) = place else {
            let ranges: Vec<String> = part.counted.iter().map(ToString::to_string).collect();
            return Err(ArtefactError::NotDealt { found: ranges.join(", ") }.into());
        };
        let (expected, trials) = (self.dealt[place].len(), part.histograms.trials());
        if trials.target != expected || trials.zero_out != expected {
            return Err(EngineError::Miscounted {
                backend: part.devices.join(", "),
                counted: trials.target.saturating_add(trials.zero_out),
                expected: 2 * expected,
            });
        }
        self.state.absorb(part)?;
        self.dealt.swap_remove(place);
        Ok(())
    }

    /// Takes observations back, to be dealt again: whoever had them will not count them. Nothing
    /// happens where they were not dealt.
    pub fn give_back(&mut self, range: ObservationRange) {
        self.dealt.retain(|&dealt| dealt != range);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::{Backend, CpuBackend};
    use crate::plan::tests::plan;
    use crate::run::tests::counted;
    use crate::{Plan, Shard, Unattended, run};

    fn dealer() -> Dealer {
        let whole = counted(plan(), Shard::WHOLE, 1, 250);
        let valid = plan().validated().unwrap();
        Dealer::new(Artefact::empty(&valid, whole.layout, whole.range))
    }

    fn counts(dealer: &Dealer, range: ObservationRange) -> Artefact {
        let state = dealer.state();
        let valid = state.plan.validated().unwrap();
        let start = Artefact::empty(&valid, state.layout.clone(), range);
        let backend = Backend::Cpu(CpuBackend::new(1).unwrap());
        pollster::block_on(run(&valid, start, &backend, &Unattended)).unwrap()
    }

    #[test]
    fn whoever_counts_the_counts_are_those_of_one_run() {
        let whole = counted(plan(), Shard::WHOLE, 1, 250);
        let mut dealer = dealer();
        let mut lost = 0;
        let mut under_way = Vec::new();
        loop {
            while under_way.len() < 3
                && let Some(range) = dealer.deal(700 + 37 * under_way.len() as u64)
            {
                under_way.push(range);
            }
            let Some(range) = under_way.pop() else { break };
            if range.first % 3 == 0 && lost < 5 {
                lost += 1;
                dealer.give_back(range);
            } else {
                dealer.add(counts(&dealer, range)).unwrap();
            }
        }
        assert_eq!(lost, 5);
        assert!(dealer.state().is_complete());
        assert_eq!(dealer.state().histogram_digest(), whole.histogram_digest());
        assert_eq!(dealer.state().outcome().unwrap(), whole.outcome().unwrap());
    }

    #[test]
    fn what_was_not_dealt_is_refused() {
        let mut dealer = dealer();
        let range = dealer.deal(1000).unwrap();
        let part = counts(&dealer, range);
        let refused = |dealer: &mut Dealer, part: &Artefact| {
            matches!(
                dealer.add(part.clone()),
                Err(EngineError::Artefact(ArtefactError::NotDealt { .. }))
            )
        };
        let half = ObservationRange { end: 500, ..range };
        let half = counts(&dealer, half);
        assert!(refused(&mut dealer, &half));
        dealer.give_back(range);
        assert!(refused(&mut dealer, &part), "it was given back");
        assert_eq!(dealer.deal(1000), Some(range));
        dealer.add(part.clone()).unwrap();
        assert!(refused(&mut dealer, &part), "it was added");
        assert_eq!(dealer.state().done(), 1000);
        assert_eq!(dealer.deal(0), None);
    }

    #[test]
    fn counts_that_are_wrong_are_refused_and_asked_for_again() {
        let mut dealer = dealer();
        let range = dealer.deal(1000).unwrap();
        let part = counts(&dealer, range);
        let mut short = part.clone();
        short.histograms = counts(&dealer, ObservationRange { end: 999, ..range }).histograms;
        assert!(matches!(dealer.add(short), Err(EngineError::Miscounted { expected: 2000, .. })));
        let mut foreign = part.clone();
        foreign.plan = Plan { seed: 8, ..plan() };
        assert!(matches!(dealer.add(foreign), Err(EngineError::Artefact(_))));
        assert_eq!(dealer.state().done(), 0);
        dealer.add(part).unwrap();
        assert_eq!(dealer.state().done(), 1000);
    }
}
