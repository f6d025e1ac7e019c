//! Which states of a training are saved, so that its steps can be visited from last to first.

/// A process whose steps are visited backwards.
pub trait Reversible {
    /// What a step starts from.
    type State: Clone;
    /// Why the process stopped.
    type Error;

    /// Executes step `step` (from 0).
    ///
    /// # Errors
    /// The process stopped.
    fn advance(&mut self, step: usize, state: &mut Self::State) -> Result<(), Self::Error>;

    /// Visits the state after the last step; called once, before every [`Self::visit`].
    ///
    /// # Errors
    /// The process stopped.
    fn finish(&mut self, state: &Self::State) -> Result<(), Self::Error>;

    /// Visits the state before step `step`; called for each step, the last first.
    ///
    /// # Errors
    /// The process stopped.
    fn visit(&mut self, step: usize, state: &Self::State) -> Result<(), Self::Error>;

    /// Saves a state whose step is visited without being executed again, and returns one to advance
    /// from. What is left of the saved state is passed to [`Self::visit`]; the last saved is the first
    /// visited.
    fn save(&mut self, state: &mut Self::State) -> Self::State {
        state.clone()
    }
}

/// Consecutive steps whose first state is saved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Segment {
    /// The first step.
    pub start: usize,
    /// Number of steps.
    pub steps: usize,
}

/// Which states are saved. Memory and steps are counted without the pair of states that is being
/// computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Checkpointing {
    /// All T states: T steps.
    StoreAll,
    /// Every ⌈√T⌉-th state; each segment is repeated and saved when it is needed, the last at once.
    TwoLevel,
    /// At most so many states, with the fewest steps possible.
    ///
    /// # Reference
    /// Griewank and Walther, "Algorithm 799: revolve" (2000).
    Revolve {
        /// Maximum number of saved states, at least 1.
        states: usize,
    },
}

/// What a reversal costs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Cost {
    /// Steps executed forwards, the first run included.
    pub forward_steps: u64,
    /// Largest number of states saved at once.
    pub most_states: usize,
}

impl Checkpointing {
    /// The schedule with the fewest steps whose states fit: all states, or [`Self::Revolve`].
    /// `None` if not even one state fits.
    #[must_use]
    pub fn within(steps: usize, state_bytes: u64, memory_bytes: u64) -> Option<Self> {
        let states = usize::try_from(memory_bytes / state_bytes.max(1)).unwrap_or(usize::MAX);
        match states {
            0 => None,
            _ if states >= steps => Some(Checkpointing::StoreAll),
            _ => Some(Checkpointing::Revolve { states }),
        }
    }

    /// Number of steps after which the next state of a segment of two or more is saved, with room
    /// for `free` more states.
    fn split(self, total: usize, segment: Segment, free: usize) -> usize {
        match self {
            Checkpointing::StoreAll => 1,
            Checkpointing::TwoLevel => {
                let level = total.isqrt() + usize::from(total.isqrt().pow(2) < total);
                if segment.steps > level { level } else { 1 }
            }
            Checkpointing::Revolve { .. } => {
                let cost = |first: &usize| {
                    let rest = repeated_steps(segment.steps - first, free - 1);
                    let again = repeated_steps(*first, free);
                    (*first as u64).saturating_add(rest).saturating_add(again)
                };
                (1..segment.steps).min_by_key(cost).unwrap_or(1)
            }
        }
    }

    /// Visits the steps of a process backwards.
    ///
    /// # Guarantee
    /// States and steps are as in the literature
    /// (`tests/oracles/metagradient.rs::metagradients_agree`), and [`Self::Revolve`] is optimal
    /// (`unit::revolve_takes_the_fewest_steps`).
    ///
    /// # Errors
    /// The process stopped.
    pub fn reverse<P: Reversible>(
        self,
        process: &mut P,
        steps: usize,
        first: P::State,
    ) -> Result<Cost, P::Error> {
        let states = match self {
            Checkpointing::Revolve { states } => states.max(1),
            _ => usize::MAX,
        };
        reverse(process, steps, states, |segment, free| self.split(steps, segment, free), first)
    }
}

/// Visits the steps of a process backwards, with at most `states` saved states. `split` returns
/// after how many steps of a segment of two or more the next state is saved, given the number of
/// states that may still be saved.
///
/// # Errors
/// The process stopped.
pub fn reverse<P: Reversible>(
    process: &mut P,
    steps: usize,
    states: usize,
    split: impl Fn(Segment, usize) -> usize,
    first: P::State,
) -> Result<Cost, P::Error> {
    let mut cost = Cost::default();
    if steps == 0 {
        process.finish(&first)?;
        return Ok(cost);
    }
    let mut saved = vec![(Segment { start: 0, steps }, first)];
    loop {
        cost.most_states = cost.most_states.max(saved.len());
        let free = states.saturating_sub(saved.len());
        let Some((segment, state)) = saved.last_mut() else { return Ok(cost) };
        if segment.steps > 1 && free > 0 {
            let first = split(*segment, free).clamp(1, segment.steps - 1);
            let mut next = if first == 1 { process.save(state) } else { state.clone() };
            for step in segment.start..segment.start + first {
                process.advance(step, &mut next)?;
            }
            cost.forward_steps += first as u64;
            let rest = Segment { start: segment.start + first, steps: segment.steps - first };
            segment.steps = first;
            saved.push((rest, next));
            continue;
        }
        for last in (segment.start..segment.start + segment.steps).rev() {
            if last == segment.start && last + 1 < steps {
                process.visit(last, state)?;
                continue;
            }
            let mut current = state.clone();
            for step in segment.start..last {
                process.advance(step, &mut current)?;
            }
            cost.forward_steps += (last - segment.start) as u64;
            if last + 1 == steps {
                let mut end = current.clone();
                process.advance(last, &mut end)?;
                cost.forward_steps += 1;
                process.finish(&end)?;
            }
            process.visit(last, &current)?;
        }
        saved.pop();
    }
}

/// Fewest steps that visit the states of a segment backwards, with room for `free` more states:
/// r·l − C(c + r + 1, r − 1) for length l and room c, with r the least such that
/// C(c + 1 + r, c + 1) ≥ l.
fn repeated_steps(length: usize, free: usize) -> u64 {
    let (length, room) = (length as u128, free as u128);
    // C(c + 1 + r, c + 1) = C(c + r, c + 1)·…, updated with r.
    let (mut r, mut reach) = (0_u128, 1_u128);
    while reach < length {
        r += 1;
        reach = reach.saturating_mul(room + 1 + r) / r;
    }
    if r == 0 {
        return 0;
    }
    // C(c + r + 1, r − 1) = C(c + r + 1, r)·r ÷ (c + 2).
    let below = reach.saturating_mul(r) / (room + 2);
    u64::try_from(r * length - below).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn revolve_takes_the_fewest_steps() {
        // fewest[c][l]: the recursion over all splits.
        let mut fewest = vec![vec![0_u64; 121]; 14];
        for room in 0..14_usize {
            for length in 2..=120_usize {
                fewest[room][length] = if room == 0 {
                    (length * (length - 1) / 2) as u64
                } else {
                    let split =
                        |j: usize| j as u64 + fewest[room - 1][length - j] + fewest[room][j];
                    (1..length).map(split).min().unwrap()
                };
            }
        }
        for (room, fewest) in fewest.iter().enumerate() {
            for (length, &steps) in fewest.iter().enumerate().skip(1) {
                assert_eq!(repeated_steps(length, room), steps, "{length} {room}");
            }
        }
    }

    #[test]
    fn memory_decides_what_is_saved() {
        let within = |memory| Checkpointing::within(10, 100, memory);
        assert_eq!(within(99), None);
        assert_eq!(within(250), Some(Checkpointing::Revolve { states: 2 }));
        assert_eq!(within(1_000), Some(Checkpointing::StoreAll));
    }

    /// Counts that no step is visited twice or out of order.
    struct Order(Vec<usize>);

    impl Reversible for Order {
        type State = usize;
        type Error = String;

        fn advance(&mut self, step: usize, state: &mut usize) -> Result<(), String> {
            if *state != step {
                return Err(format!("step {step} from state {state}"));
            }
            *state += 1;
            Ok(())
        }

        fn finish(&mut self, state: &usize) -> Result<(), String> {
            self.0.push(*state);
            Ok(())
        }

        fn visit(&mut self, step: usize, state: &usize) -> Result<(), String> {
            if *state != step {
                return Err("other state".into());
            }
            self.0.push(step);
            Ok(())
        }
    }

    #[test]
    fn every_step_is_visited_once_from_last_to_first() {
        for steps in [0, 1, 2, 3, 17, 50] {
            let revolve = (1..9).map(|states| Checkpointing::Revolve { states });
            let others = [Checkpointing::StoreAll, Checkpointing::TwoLevel];
            for schedule in revolve.chain(others) {
                let mut order = Order(Vec::new());
                let cost = schedule.reverse(&mut order, steps, 0).unwrap();
                let expected: Vec<usize> = (0..=steps).rev().collect();
                assert_eq!(order.0, expected, "{schedule:?}");
                if let Checkpointing::Revolve { states } = schedule {
                    assert!(cost.most_states <= states, "{cost:?}");
                }
            }
        }
    }
}
