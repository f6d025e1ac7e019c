//! The steps in which one participant may take part.

use crate::accounting::AccountingError;
use crate::accounting::error::argument;

/// Most steps of strategies that are not stored entry by entry.
pub(super) const MOST_STEPS: u32 = 1_000_000;

/// The steps R, of T, in which one participant (a record or a client) may take part.
///
/// The steps of the others do not depend on the participant.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case", tag = "kind"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum MatrixParticipation {
    /// One step.
    Single,
    /// One order for all epochs: r, r + T/E, r + 2T/E, ….
    Epochs {
        /// E, which divides T.
        epochs: u32,
    },
    /// One step of each epoch, whatever its steps in other epochs.
    Shuffled {
        /// E, which divides T.
        epochs: u32,
    },
    /// Any steps that are far enough apart.
    MinSeparation {
        /// b: |r − s| ≥ b for any two steps.
        separation: u32,
        /// Most steps, k; as many as fit if `None`.
        #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
        participations: Option<u32>,
    },
    /// Participants are divided into groups that take turns, whatever the data; each one whose group
    /// has its turn takes part with a probability, independently of all else.
    CyclicPoisson {
        /// Number of groups, b: group g has the steps g, g + b, g + 2b, ….
        groups: u32,
        /// The probability, q.
        sampling_rate: f64,
    },
}

/// Steps of a participant that are evenly spread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Spread {
    /// Least distance of two steps.
    pub(super) separation: usize,
    /// Most steps.
    pub(super) participations: usize,
}

impl Spread {
    /// The steps from a first one on.
    pub(super) fn from(self, first: usize) -> impl Iterator<Item = usize> + Clone {
        (first..).step_by(self.separation).take(self.participations)
    }

    /// The steps that end at the last of `steps`.
    pub(super) fn to_last(self, steps: usize) -> impl Iterator<Item = usize> + Clone {
        let back = (self.participations - 1) * self.separation;
        self.from((steps - 1).saturating_sub(back)).take_while(move |&step| step < steps)
    }

    /// Whether the steps from the first one on contain a step.
    pub(super) fn contains(self, step: usize) -> bool {
        step.is_multiple_of(self.separation) && step / self.separation < self.participations
    }
}

impl MatrixParticipation {
    /// Checks the domain: epochs divide T; 1 ≤ b ≤ T; k steps that are b apart fit into T; q in
    /// [1e-9, 1].
    ///
    /// # Errors
    /// [`AccountingError::Argument`] outside the domain.
    pub fn check(&self, steps: u32) -> Result<(), AccountingError> {
        check_steps(steps)?;
        match *self {
            MatrixParticipation::Single => Ok(()),
            MatrixParticipation::Epochs { epochs } | MatrixParticipation::Shuffled { epochs } => {
                if epochs >= 1 && steps.is_multiple_of(epochs) {
                    return Ok(());
                }
                Err(argument("epochs", f64::from(epochs), "a divisor of the number of steps"))
            }
            MatrixParticipation::MinSeparation { separation, participations } => {
                if !(1..=steps).contains(&separation) {
                    let allowed = "from 1 to the number of steps";
                    return Err(argument("separation", f64::from(separation), allowed));
                }
                let fits = steps.div_ceil(separation);
                match participations {
                    Some(count) if !(1..=fits).contains(&count) => {
                        let allowed =
                            "from 1 to the number of steps over the separation, rounded up";
                        Err(argument("participations", f64::from(count), allowed))
                    }
                    _ => Ok(()),
                }
            }
            MatrixParticipation::CyclicPoisson { groups, sampling_rate } => {
                if !(1..=steps).contains(&groups) {
                    let allowed = "from 1 to the number of steps";
                    return Err(argument("groups", f64::from(groups), allowed));
                }
                if !(1e-9..=1.0).contains(&sampling_rate) {
                    return Err(argument("sampling_rate", sampling_rate, "in [1e-9, 1]"));
                }
                Ok(())
            }
        }
    }

    /// Whether one participant may take part in all of these steps, counted from 0 and in ascending order;
    /// for [`Self::CyclicPoisson`], whether they are of one group.
    #[must_use]
    pub fn allows(&self, set: &[u32], steps: u32) -> bool {
        let is_ascending = set.windows(2).all(|pair| pair[0] < pair[1]);
        let is_inside = set.last().is_some_and(|&last| last < steps);
        if self.check(steps).is_err() || !is_ascending || !is_inside {
            return false;
        }
        let Spread { separation, participations } = self.spread(steps as usize);
        let distances = || set.windows(2).map(|pair| (pair[1] - pair[0]) as usize);
        let is_allowed = match self {
            MatrixParticipation::Single => true,
            MatrixParticipation::Epochs { .. } | MatrixParticipation::CyclicPoisson { .. } => {
                distances().all(|distance| distance.is_multiple_of(separation))
            }
            MatrixParticipation::Shuffled { .. } => set
                .windows(2)
                .all(|pair| pair[0] as usize / separation < pair[1] as usize / separation),
            MatrixParticipation::MinSeparation { .. } => {
                distances().all(|distance| distance >= separation)
            }
        };
        is_allowed && set.len() <= participations
    }

    /// The most steps, and their least distance, of a checked participation; for steps that are drawn
    /// in each epoch, those of one order.
    pub(super) fn spread(&self, steps: usize) -> Spread {
        let cyclic =
            |separation: usize| Spread { separation, participations: steps.div_ceil(separation) };
        match *self {
            MatrixParticipation::Single => Spread { separation: steps, participations: 1 },
            MatrixParticipation::Epochs { epochs } | MatrixParticipation::Shuffled { epochs } => {
                cyclic(steps / epochs as usize)
            }
            MatrixParticipation::MinSeparation { separation, participations } => {
                let Spread { separation, participations: fits } = cyclic(separation as usize);
                let participations = participations.map_or(fits, |count| count as usize);
                Spread { separation, participations }
            }
            MatrixParticipation::CyclicPoisson { groups, .. } => cyclic(groups as usize),
        }
    }
}

pub(super) fn check_steps(steps: u32) -> Result<(), AccountingError> {
    if (1..=MOST_STEPS).contains(&steps) {
        Ok(())
    } else {
        Err(argument("steps", f64::from(steps), "in 1 to 10^6"))
    }
}
