//! A split, its guesses and the bounds that follow.

use super::{BothSides, NamedRows, NamedStrata, SplitError, SplitSets, Stratum};
use crate::adjacency::Adjacency;
use crate::audit::AdjacencyBounds;
use crate::audit::group_privacy::limit_of_two_steps;
use crate::audit::one_run::{check_delta, check_significance, last_below, rounded_down};

/// Fewer rows of a side say nothing that a verdict could rest on.
const FEWEST: u64 = 5;

/// Rows of a split, or of one of its strata, and how many were named rightly.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SplitCounts {
    /// Rows that were trained on.
    pub members: u64,
    /// Rows that were held out.
    pub non_members: u64,
    /// Rows named as members; 0 if none are named.
    pub guesses_in: u64,
    /// How many of them are.
    pub correct_in: u64,
    /// Rows named as non-members; 0 if none are named.
    pub guesses_out: u64,
    /// How many of them are.
    pub correct_out: u64,
}

/// How rows of a split were guessed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(tag = "rule", rename_all = "kebab-case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum SplitGuesses {
    /// The rows with the largest scores are named as members and those with the smallest as non-members.
    Cut {
        /// One, or the strata within which the split was drawn.
        strata: Vec<SplitCounts>,
    },
    /// Random sets with one odd row each, of which those with the clearest scores are guessed.
    Sets {
        /// Rows that were trained on.
        members: u64,
        /// Rows that were held out.
        non_members: u64,
        /// Guessed sets.
        guesses: u64,
        /// Sets whose odd row was named.
        correct: u64,
    },
}

impl SplitGuesses {
    /// Rows that were trained on.
    #[must_use]
    pub fn members(&self) -> u64 {
        match self {
            SplitGuesses::Cut { strata } => strata.iter().map(|counts| counts.members).sum(),
            SplitGuesses::Sets { members, .. } => *members,
        }
    }

    /// Rows that were held out.
    #[must_use]
    pub fn non_members(&self) -> u64 {
        match self {
            SplitGuesses::Cut { strata } => strata.iter().map(|counts| counts.non_members).sum(),
            SplitGuesses::Sets { non_members, .. } => *non_members,
        }
    }

    /// Lower bounds on ε.
    ///
    /// # Errors
    /// [`SplitError`]: counts, δ or a significance outside their domains.
    pub fn bounds(&self, delta: f64, significance: f64) -> Result<AdjacencyBounds, SplitError> {
        self.check()?;
        match self {
            SplitGuesses::Cut { strata } => match strata[..] {
                [whole] => both_sides(&whole)?.bounds(delta, significance),
                _ => self.bounds_of_strata(delta, significance),
            },
            SplitGuesses::Sets { .. } => {
                let lists = self.lists()?;
                AdjacencyBounds::by(|adjacency| {
                    Ok(lists.epsilon_lower(adjacency, delta, significance)?)
                })
            }
        }
    }

    /// Lower bounds on ε of training and selection together, where held-out rows were used for early stopping,
    /// tuning or calibration.
    ///
    /// What was released then depends on both sides, and a swap of two rows replaces a record in each: every
    /// limit is taken at (2ε, (1 + e^ε)δ).
    ///
    /// # Errors
    /// As [`Self::bounds`]; [`SplitError::Strata`] for several strata, which have no such bound.
    pub fn selection_bounds(
        &self,
        delta: f64,
        significance: f64,
    ) -> Result<AdjacencyBounds, SplitError> {
        self.check()?;
        check_delta(delta)?;
        check_significance(significance)?;
        match self {
            SplitGuesses::Cut { strata } => {
                let [whole] = strata[..] else {
                    return Err(SplitError::Strata(
                        "a split within strata has no bound if the hold-out was used".to_owned(),
                    ));
                };
                both_sides(&whole)?.bounds_by(significance, |side, adjacency, level| {
                    let p = |epsilon, delta| side.p_value(adjacency, epsilon, delta).ok();
                    Ok(end_of_selection(p, delta, level))
                })
            }
            SplitGuesses::Sets { .. } => {
                let lists = self.lists()?;
                AdjacencyBounds::by(|adjacency| {
                    let p = |epsilon, delta| lists.p_value(adjacency, epsilon, delta).ok();
                    Ok(end_of_selection(p, delta, significance))
                })
            }
        }
    }

    /// Makes all guesses correct, which no result can exceed.
    pub(in crate::audit) fn all_correct(&self) -> Self {
        let mut best = self.clone();
        match &mut best {
            SplitGuesses::Cut { strata } => strata.iter_mut().for_each(|counts| {
                counts.correct_in = counts.guesses_in.min(counts.members);
                counts.correct_out = counts.guesses_out.min(counts.non_members);
            }),
            SplitGuesses::Sets { guesses, correct, .. } => *correct = *guesses,
        }
        best
    }

    /// All guesses.
    #[must_use]
    pub fn guesses(&self) -> u64 {
        match self {
            SplitGuesses::Cut { strata } => {
                strata.iter().map(|counts| counts.guesses_in + counts.guesses_out).sum()
            }
            SplitGuesses::Sets { guesses, .. } => *guesses,
        }
    }

    /// Guesses, correct ones, and how many guesses of this kind there could be.
    pub(in crate::audit) fn totals(&self) -> [u64; 3] {
        let (correct, possible) = match self {
            SplitGuesses::Cut { strata } => (
                strata.iter().map(|counts| counts.correct_in + counts.correct_out).sum(),
                self.members() + self.non_members(),
            ),
            SplitGuesses::Sets { correct, members, non_members, .. } => {
                (*correct, *members.min(non_members))
            }
        };
        [self.guesses(), correct, possible]
    }

    /// The p-value without any leak: of the better side, twice if both are named.
    ///
    /// # Errors
    /// As [`Self::bounds`].
    pub fn p_value_without_leak(&self) -> Result<f64, SplitError> {
        self.check()?;
        let p_values = match self {
            SplitGuesses::Cut { strata } => match strata[..] {
                [whole] => {
                    let BothSides { members, non_members } = both_sides(&whole)?;
                    let sides = [members, non_members].into_iter().flatten();
                    sides.map(|side| side.p_value(Adjacency::Replace, 0.0, 0.0)).collect()
                }
                _ => self.sides()?.iter().map(|side| side.p_value(0.0, 0.0)).collect(),
            },
            SplitGuesses::Sets { .. } => {
                vec![Ok(self.lists()?.p_value(Adjacency::Replace, 0.0, 0.0)?)]
            }
        };
        let p_values = p_values.into_iter().collect::<Result<Vec<f64>, SplitError>>()?;
        let least = p_values.iter().copied().fold(1.0, f64::min);
        Ok((least * p_values.len() as f64).min(1.0))
    }

    fn check(&self) -> Result<(), SplitError> {
        let (members, non_members) = (self.members(), self.non_members());
        let rows = members.saturating_add(non_members);
        if members.min(non_members) < FEWEST {
            return Err(SplitError::Few { members, non_members });
        }
        let has_guesses = match self {
            SplitGuesses::Cut { strata } => {
                strata.iter().any(|counts| counts.guesses_in > 0 || counts.guesses_out > 0)
            }
            SplitGuesses::Sets { guesses, .. } => *guesses > 0,
        };
        if has_guesses { Ok(()) } else { Err(SplitError::Guesses { guesses: 0, rows }) }
    }

    fn lists(&self) -> Result<crate::audit::one_run::ListGuesses, SplitError> {
        match *self {
            SplitGuesses::Sets { members, non_members, guesses, correct } => {
                SplitSets::new(members, non_members)?.guesses(guesses, correct)
            }
            SplitGuesses::Cut { .. } => Err(SplitError::Strata("rows were named, not sets".into())),
        }
    }

    /// The strata, once for each named side.
    fn sides(&self) -> Result<Vec<NamedStrata>, SplitError> {
        let SplitGuesses::Cut { strata } = self else {
            return Err(SplitError::Strata("sets have no strata".to_owned()));
        };
        let side = |pick: fn(&SplitCounts) -> [u64; 3]| -> Result<Option<NamedStrata>, SplitError> {
            let named = strata.iter().filter(|counts| pick(counts)[1] > 0);
            let of = |counts: &SplitCounts| {
                let [side, guesses, _] = pick(counts);
                Stratum { rows: counts.members + counts.non_members, side, guesses }
            };
            let of_side: Vec<Stratum> = named.clone().map(of).collect();
            let correct = named.map(|counts| pick(counts)[2]).sum();
            (!of_side.is_empty()).then(|| NamedStrata::new(&of_side, correct)).transpose()
        };
        let members = side(|it| [it.members, it.guesses_in, it.correct_in])?;
        let non_members = side(|it| [it.non_members, it.guesses_out, it.correct_out])?;
        Ok([members, non_members].into_iter().flatten().collect())
    }

    /// Each side at half the significance, the larger of each bound.
    fn bounds_of_strata(
        &self,
        delta: f64,
        significance: f64,
    ) -> Result<AdjacencyBounds, SplitError> {
        let sides = self.sides()?;
        let level = significance / sides.len().max(1) as f64;
        sides.iter().try_fold(AdjacencyBounds::NONE, |largest, side| {
            Ok(largest.larger(side.bounds(delta, level)?))
        })
    }
}

/// The largest ε that a limit rejects at (2ε, (1 + e^ε)δ).
fn end_of_selection(p: impl Fn(f64, f64) -> Option<f64>, delta: f64, significance: f64) -> f64 {
    let of_both = |epsilon: f64| {
        limit_of_two_steps(epsilon, delta, |epsilon, delta| p(epsilon, delta).unwrap_or(1.0))
    };
    rounded_down(last_below(significance, of_both))
}

fn both_sides(counts: &SplitCounts) -> Result<BothSides, SplitError> {
    let rows = counts.members.saturating_add(counts.non_members);
    let side = |side: u64, guesses: u64, correct: u64| {
        (guesses > 0).then(|| NamedRows::new(rows, side, guesses, correct)).transpose()
    };
    Ok(BothSides {
        members: side(counts.members, counts.guesses_in, counts.correct_in)?,
        non_members: side(counts.non_members, counts.guesses_out, counts.correct_out)?,
    })
}
