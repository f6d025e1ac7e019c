//! A run whose units are computed elsewhere, for example by the workers of a page.

use crate::{Artefact, ArtefactError, EngineError, Evidence, Plan, UnitRange};

/// Assigns units to workers and merges their evidence, in any order.
///
/// # Guarantee
/// Each unit is counted exactly once, whichever worker computes it and however many workers
/// are lost (`unit::counts_do_not_depend_on_the_workers`).
#[derive(Debug, Clone)]
pub struct Scheduler<P: Plan> {
    state: Artefact<P>,
    /// Assigned and not yet counted.
    assigned: Vec<UnitRange>,
}

impl<P: Plan> Scheduler<P> {
    /// Resumes a state; nothing is assigned yet.
    #[must_use]
    pub fn new(state: Artefact<P>) -> Self {
        Scheduler { state, assigned: Vec::new() }
    }

    /// The evidence so far.
    #[must_use]
    pub fn state(&self) -> &Artefact<P> {
        &self.state
    }

    /// Assigns the next `count` units, rounded up to a multiple of [`Plan::group`]. `None` if all are
    /// assigned or counted.
    pub fn assign(&mut self, count: u64) -> Option<UnitRange> {
        let taken = self.state.joined(&self.assigned).ok()?;
        let gap = self.state.range.first_gap(&taken);
        if gap.is_empty() {
            return None;
        }
        let end =
            (gap.first + gap.len().min(count.max(1))).next_multiple_of(self.state.plan.group());
        let range = UnitRange { end: end.min(gap.end), ..gap };
        self.assigned.push(range);
        Some(range)
    }

    /// Adds the evidence of the units of one [`assign`](Self::assign).
    ///
    /// # Errors
    /// Unassigned units; evidence of another plan, version or stage, or of another number of units.
    /// Nothing is added then, and the units stay assigned.
    pub fn add(&mut self, part: Artefact<P>) -> Result<(), EngineError> {
        let place = self.assigned.iter().position(|&range| part.counted == [range]);
        let Some(place) = place else {
            let ranges: Vec<String> = part.counted.iter().map(ToString::to_string).collect();
            return Err(ArtefactError::NotAssigned { found: P::named(&ranges.join(", ")) }.into());
        };
        let assigned = self.assigned[place];
        if !part.evidence.is_of(assigned.len()) {
            let (device, expected) = (part.devices.join(", "), P::named(&assigned.to_string()));
            return Err(EngineError::Miscounted { device, expected });
        }
        self.state.absorb(part)?;
        self.assigned.swap_remove(place);
        Ok(())
    }

    /// Releases assigned units, so that they are assigned again. Unassigned ones are ignored.
    pub fn release(&mut self, range: UnitRange) {
        self.assigned.retain(|&assigned| assigned != range);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::toy::{PLAN, Scripted, Toy, ToyPlan, ToyStage};
    use crate::{Shard, run};

    const STAGE: ToyStage = ToyStage { number: 1, before: 0 };

    fn scheduler() -> Scheduler<ToyPlan> {
        let range = Shard::WHOLE.range(PLAN.units).unwrap();
        Scheduler::new(Artefact::empty(PLAN, STAGE, range))
    }

    fn counts(range: UnitRange) -> Artefact<ToyPlan> {
        let start = Artefact::empty(PLAN, STAGE, range);
        let control = Scripted::new(u64::MAX, 250);
        pollster::block_on(run(&Toy::new(PLAN), start, &control)).unwrap()
    }

    #[test]
    fn counts_do_not_depend_on_the_workers() {
        let whole = counts(Shard::WHOLE.range(PLAN.units).unwrap());
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
                scheduler.add(counts(range)).unwrap();
            }
        }
        assert_eq!(lost, 5);
        assert!(scheduler.state().is_complete());
        assert_eq!(scheduler.state().evidence, whole.evidence);
    }

    #[test]
    fn unassigned_counts_are_refused() {
        let mut scheduler = scheduler();
        let range = scheduler.assign(1000).unwrap();
        let part = counts(range);
        let refused = |scheduler: &mut Scheduler<ToyPlan>, part: &Artefact<ToyPlan>| {
            matches!(
                scheduler.add(part.clone()),
                Err(EngineError::Artefact(ArtefactError::NotAssigned { .. }))
            )
        };
        let half = UnitRange { end: 500, ..range };
        let half = counts(half);
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
        let part = counts(range);
        let mut short = part.clone();
        short.evidence = counts(UnitRange { end: 1023, ..range }).evidence;
        assert!(matches!(scheduler.add(short), Err(EngineError::Miscounted { .. })));
        let mut foreign = part.clone();
        foreign.plan = ToyPlan { seed: 8, ..PLAN };
        assert!(matches!(scheduler.add(foreign), Err(EngineError::Artefact(_))));
        assert_eq!(scheduler.state().done(), 0);
        scheduler.add(part).unwrap();
        assert_eq!(scheduler.state().done(), 1024);
    }
}
