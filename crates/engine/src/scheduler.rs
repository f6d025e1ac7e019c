//! A run whose observations are counted elsewhere, for example by the workers of a page.

use dpscope_shaders::LANES;

use crate::merge::joined;
use crate::{Artefact, ArtefactError, EngineError, ObservationRange};

/// Assigns observations to workers and merges their counts, in any order.
///
/// # Guarantee
/// Each observation is counted exactly once, whichever worker counts it and however many workers
/// are lost (`unit::counts_do_not_depend_on_the_workers`).
#[derive(Debug, Clone)]
pub struct Scheduler {
    state: Artefact,
    /// Assigned and not yet counted.
    assigned: Vec<ObservationRange>,
}

impl Scheduler {
    /// Resumes a state; nothing is assigned yet.
    #[must_use]
    pub fn new(state: Artefact) -> Self {
        Scheduler { state, assigned: Vec::new() }
    }

    /// The counts so far.
    #[must_use]
    pub fn state(&self) -> &Artefact {
        &self.state
    }

    /// Assigns the next `count` observations of each world, rounded up to a multiple of 64, the
    /// number scored together. `None` if all are assigned or counted.
    pub fn assign(&mut self, count: u64) -> Option<ObservationRange> {
        let taken = joined(&self.state.counted, &self.assigned).ok()?;
        let gap = self.state.range.first_gap(&taken);
        if gap.is_empty() {
            return None;
        }
        let end = (gap.first + gap.len().min(count.max(1))).next_multiple_of(LANES as u64);
        let range = ObservationRange { end: end.min(gap.end), ..gap };
        self.assigned.push(range);
        Some(range)
    }

    /// Adds the counts of the observations of one [`assign`](Self::assign).
    ///
    /// # Errors
    /// Unassigned observations; counts of another plan, version or layout; a wrong number of counts.
    /// Nothing is added then, and the observations stay assigned.
    pub fn add(&mut self, part: Artefact) -> Result<(), EngineError> {
        let place = self.assigned.iter().position(|&range| part.counted == [range]);
        let Some(place) = place else {
            let ranges: Vec<String> = part.counted.iter().map(ToString::to_string).collect();
            return Err(ArtefactError::NotAssigned { found: ranges.join(", ") }.into());
        };
        let (expected, trials) = (self.assigned[place].len(), part.histograms.trials());
        if trials.target != expected || trials.zero_out != expected {
            return Err(EngineError::Miscounted {
                backend: part.devices.join(", "),
                counted: trials.target.saturating_add(trials.zero_out),
                expected: 2 * expected,
            });
        }
        self.state.absorb(part)?;
        self.assigned.swap_remove(place);
        Ok(())
    }

    /// Releases assigned observations, so that they are assigned again. Unassigned ones are ignored.
    pub fn release(&mut self, range: ObservationRange) {
        self.assigned.retain(|&assigned| assigned != range);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::{Backend, CpuBackend};
    use crate::plan::tests::plan;
    use crate::run::tests::counted;
    use crate::{Plan, Shard, Unattended, run};

    fn scheduler() -> Scheduler {
        let whole = counted(plan(), Shard::WHOLE, 1, 250);
        let valid = plan().validated().unwrap();
        Scheduler::new(Artefact::empty(&valid, whole.layout, whole.range))
    }

    fn counts(scheduler: &Scheduler, range: ObservationRange) -> Artefact {
        let state = scheduler.state();
        let valid = state.plan.validated().unwrap();
        let start = Artefact::empty(&valid, state.layout.clone(), range);
        let backend = Backend::Cpu(CpuBackend::new(1).unwrap());
        pollster::block_on(run(&valid, start, &backend, &Unattended)).unwrap()
    }

    #[test]
    fn counts_do_not_depend_on_the_workers() {
        let whole = counted(plan(), Shard::WHOLE, 1, 250);
        let mut scheduler = scheduler();
        let mut lost = 0;
        let mut in_flight = Vec::new();
        loop {
            while in_flight.len() < 3
                && let Some(range) = scheduler.assign(700 + 37 * in_flight.len() as u64)
            {
                in_flight.push(range);
            }
            let Some(range) = in_flight.pop() else { break };
            if range.first % 3 == 0 && lost < 5 {
                lost += 1;
                scheduler.release(range);
            } else {
                scheduler.add(counts(&scheduler, range)).unwrap();
            }
        }
        assert_eq!(lost, 5);
        assert!(scheduler.state().is_complete());
        assert_eq!(scheduler.state().histogram_digest(), whole.histogram_digest());
        assert_eq!(scheduler.state().outcome().unwrap(), whole.outcome().unwrap());
    }

    #[test]
    fn unassigned_counts_are_refused() {
        let mut scheduler = scheduler();
        let range = scheduler.assign(1000).unwrap();
        let part = counts(&scheduler, range);
        let refused = |scheduler: &mut Scheduler, part: &Artefact| {
            matches!(
                scheduler.add(part.clone()),
                Err(EngineError::Artefact(ArtefactError::NotAssigned { .. }))
            )
        };
        let half = ObservationRange { end: 500, ..range };
        let half = counts(&scheduler, half);
        assert!(refused(&mut scheduler, &half));
        scheduler.release(range);
        assert!(refused(&mut scheduler, &part), "it was released");
        assert_eq!(scheduler.assign(1000), Some(range));
        scheduler.add(part.clone()).unwrap();
        assert!(refused(&mut scheduler, &part), "it was added");
        assert_eq!(scheduler.state().done(), 1024);
    }

    #[test]
    fn whole_groups_of_lanes_are_assigned() {
        let mut scheduler = scheduler();
        let ends: Vec<u64> = [0, 64, 65, u64::MAX, 1]
            .into_iter()
            .map_while(|count| scheduler.assign(count).map(|range| range.end))
            .collect();
        assert_eq!(ends, [64, 128, 256, 10_000]);
    }

    #[test]
    fn wrong_counts_are_refused_and_stay_assigned() {
        let mut scheduler = scheduler();
        let range = scheduler.assign(1000).unwrap();
        let part = counts(&scheduler, range);
        let mut short = part.clone();
        short.histograms = counts(&scheduler, ObservationRange { end: 1023, ..range }).histograms;
        assert!(matches!(
            scheduler.add(short),
            Err(EngineError::Miscounted { expected: 2048, .. })
        ));
        let mut foreign = part.clone();
        foreign.plan = Plan { seed: 8, ..plan() };
        assert!(matches!(scheduler.add(foreign), Err(EngineError::Artefact(_))));
        assert_eq!(scheduler.state().done(), 0);
        scheduler.add(part).unwrap();
        assert_eq!(scheduler.state().done(), 1024);
    }
}
