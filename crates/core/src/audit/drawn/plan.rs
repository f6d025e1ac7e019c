//! What ideal attacks are expected to guess: for planning.

use super::{DrawnError, DrawnGuesses, SecretGuesses};
use crate::adjacency::Adjacency;
use crate::audit::one_run::{OneRunError, SecretAttack, rank_lengths};
use crate::audit::sizes::smallest_size;
use crate::audit::split::{
    SplitAttack, SplitCounts, SplitError, SplitGuesses, SplitSets, default_guesses,
};

/// An audit that is not made yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(tag = "drawn", rename_all = "kebab-case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum DrawnDesign {
    /// A hold-out whose rows are named by their scores.
    Split {
        /// Rows that are trained on.
        members: u64,
        /// Rows that are held out.
        non_members: u64,
        /// Rows named as members; √(10 · members) if not given.
        guesses_in: Option<u64>,
        /// Rows named as non-members; √(10 · non-members) if not given.
        guesses_out: Option<u64>,
    },
    /// A hold-out of which random sets are guessed.
    Sets {
        /// Rows that are trained on.
        members: u64,
        /// Rows that are held out.
        non_members: u64,
        /// Guessed sets; √(10 · sets) if not given.
        guesses: Option<u64>,
    },
    /// A secret for each record, all of which are guessed.
    Secrets {
        /// Records with a secret.
        records: u64,
        /// Values of a secret; with decoys, the candidates of each.
        values: u64,
        /// Whether the values are the true one and decoys.
        decoys: bool,
        /// Length of the lists; the best one if not given.
        list_length: Option<u64>,
    },
    /// A secret for each record, whose ranks are tested at several lengths of lists together.
    Ranks {
        /// Records with a secret.
        records: u64,
        /// Values of a secret; with decoys, the candidates of each.
        values: u64,
        /// Whether the values are the true one and decoys.
        decoys: bool,
    },
}

impl DrawnDesign {
    /// Rows, or records with a secret.
    #[must_use]
    pub const fn size(&self) -> u64 {
        match self {
            DrawnDesign::Split { members, non_members, .. }
            | DrawnDesign::Sets { members, non_members, .. } => {
                members.saturating_add(*non_members)
            }
            DrawnDesign::Secrets { records, .. } | DrawnDesign::Ranks { records, .. } => *records,
        }
    }

    /// The design with another number of rows, of which the same share is held out, or of records.
    #[must_use]
    pub fn of_size(&self, size: u64) -> Self {
        let sides = |members: u64, non_members: u64| {
            let share = non_members as f64 / members.saturating_add(non_members) as f64;
            let non_members = ((size as f64 * share).round() as u64).clamp(1, size.max(2) - 1);
            (size - non_members, non_members)
        };
        match *self {
            DrawnDesign::Split { members, non_members, guesses_in, guesses_out } => {
                let (members, non_members) = sides(members, non_members);
                DrawnDesign::Split { members, non_members, guesses_in, guesses_out }
            }
            DrawnDesign::Sets { members, non_members, guesses } => {
                let (members, non_members) = sides(members, non_members);
                DrawnDesign::Sets { members, non_members, guesses }
            }
            DrawnDesign::Secrets { values, decoys, list_length, .. } => {
                DrawnDesign::Secrets { records: size, values, decoys, list_length }
            }
            DrawnDesign::Ranks { values, decoys, .. } => {
                DrawnDesign::Ranks { records: size, values, decoys }
            }
        }
    }

    /// The guesses that are expected of scores N(μ, 1) for members, or true values, and N(0, 1) for the others.
    ///
    /// # Errors
    /// Counts, μ, δ or a significance outside their domains.
    pub fn expected(
        &self,
        mu: f64,
        delta: f64,
        significance: f64,
    ) -> Result<DrawnGuesses, DrawnError> {
        self.guessed(mu, 0.0, delta, significance)
    }

    /// The expected guesses, for secrets with so many standard deviations fewer correct ones.
    fn guessed(
        &self,
        mu: f64,
        deviations: f64,
        delta: f64,
        significance: f64,
    ) -> Result<DrawnGuesses, DrawnError> {
        Ok(match *self {
            DrawnDesign::Split { members, non_members, guesses_in, guesses_out } => {
                let (attack, rows) = (SplitAttack::new(mu)?, members.saturating_add(non_members));
                let correct = |side: u64, guesses: u64| match guesses {
                    0 => Ok(0),
                    _ => attack.named(rows, side, guesses).map(|named| named.correct()),
                };
                let guesses_in = guesses_in.unwrap_or_else(|| default_guesses(members));
                let guesses_out = guesses_out.unwrap_or_else(|| default_guesses(non_members));
                let counts = SplitCounts {
                    members,
                    non_members,
                    guesses_in,
                    correct_in: correct(members, guesses_in)?,
                    guesses_out,
                    correct_out: correct(non_members, guesses_out)?,
                };
                DrawnGuesses::Split(SplitGuesses::Cut { strata: vec![counts] })
            }
            DrawnDesign::Sets { members, non_members, guesses } => {
                let sets = SplitSets::new(members, non_members)?;
                let guesses = guesses.unwrap_or_else(|| default_guesses(sets.sets()));
                let correct = SplitAttack::new(mu)?.sets(&sets, guesses)?.correct();
                DrawnGuesses::Split(SplitGuesses::Sets { members, non_members, guesses, correct })
            }
            DrawnDesign::Ranks { records, values, decoys } => {
                let attack = SecretAttack::new(mu)?;
                let lengths = rank_lengths(values);
                let correct = |length: &u64| -> Result<u64, OneRunError> {
                    Ok(attack.expected(records, values, *length, deviations)?.correct())
                };
                let within = lengths.iter().map(correct).collect::<Result<Vec<u64>, _>>()?;
                DrawnGuesses::Secrets(SecretGuesses::Ranks { records, values, decoys, within })
            }
            DrawnDesign::Secrets { records, values, decoys, list_length } => {
                let attack = SecretAttack::new(mu)?;
                let of_length = |list_length: u64| -> Result<(f64, u64, u64), OneRunError> {
                    let lists = attack.expected(records, values, list_length, deviations)?;
                    let bound = lists.epsilon_lower(Adjacency::Replace, delta, significance)?;
                    Ok((bound, list_length, lists.correct()))
                };
                let lengths = list_length.map_or_else(|| rank_lengths(values), |one| vec![one]);
                let mut best = (-1.0, 1, 0);
                for list_length in lengths {
                    let found = of_length(list_length)?;
                    if found.0 > best.0 {
                        best = found;
                    }
                }
                let (_, list_length, correct) = best;
                let guesses = records;
                DrawnGuesses::Secrets(SecretGuesses::Lists {
                    records,
                    values,
                    decoys,
                    list_length,
                    guesses,
                    correct,
                })
            }
        })
    }

    /// The smallest number of rows or records, in steps of 1 %, whose expected bound reaches ε; none up to
    /// 10⁹. Few secrets are guessed correctly, so the bound must still reach ε with one standard deviation fewer.
    ///
    /// # Errors
    /// As [`Self::expected`].
    pub fn size_for(
        &self,
        (mu, epsilon): (f64, f64),
        adjacency: Adjacency,
        delta: f64,
        significance: f64,
    ) -> Result<Option<u64>, DrawnError> {
        let reaches = |size: u64| -> Result<bool, DrawnError> {
            let guesses = self.of_size(size).guessed(mu, 1.0, delta, significance);
            match guesses.and_then(|guesses| guesses.bounds(delta, significance)) {
                Ok(bounds) => Ok(bounds.of(adjacency) >= epsilon),
                // smaller than the audit allows, or than the stated guesses
                Err(DrawnError::Split(SplitError::Few { .. } | SplitError::Guesses { .. })) => {
                    Ok(false)
                }
                Err(DrawnError::Split(SplitError::Bound(OneRunError::Guesses { .. }))) => Ok(false),
                Err(error) => Err(error),
            }
        };
        smallest_size(2, 8, reaches)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The table of the derivation at δ = 0; its last entry for adding a record is of moments alone, and half the
    /// bound for replacing one is larger.
    #[test]
    fn expected_bounds_are_those_of_the_derivation() {
        let secrets = |values| DrawnDesign::Secrets {
            records: 200,
            values,
            decoys: false,
            list_length: None,
        };
        for (values, mu, replace, add_remove) in
            [(100, 2.0, 3.60, 3.22), (1_000_000, 3.0, 9.73, 9.49), (10, 5.0, 6.39, 3.195)]
        {
            let bounds =
                secrets(values).expected(mu, 0.0, 0.05).unwrap().bounds(0.0, 0.05).unwrap();
            assert!((bounds.replace - replace).abs() < 0.006, "{values} {mu} {bounds:?}");
            assert!((bounds.add_remove - add_remove).abs() < 0.006, "{values} {mu} {bounds:?}");
        }
        let split = DrawnDesign::Split {
            members: 1_600,
            non_members: 400,
            guesses_in: None,
            guesses_out: None,
        };
        let bounds = split.expected(2.0, 1e-5, 0.05).unwrap().bounds(1e-5, 0.05).unwrap();
        // medians of simulations: 3.7 and 2.94
        assert!((bounds.replace - 3.7).abs() < 0.2 && (bounds.add_remove - 2.94).abs() < 0.2);
    }

    #[test]
    fn a_wanted_bound_needs_more_rows() {
        let split = DrawnDesign::Sets { members: 80, non_members: 20, guesses: None };
        let needed = split.size_for((1.0, 1.0), Adjacency::Replace, 1e-5, 0.05).unwrap().unwrap();
        let more = split.size_for((1.0, 2.0), Adjacency::Replace, 1e-5, 0.05).unwrap().unwrap();
        assert!(needed > 100 && more > needed, "{needed} {more}");
        let never = split.size_for((0.0, 1.0), Adjacency::Replace, 1e-5, 0.05).unwrap();
        assert_eq!(never, None);
    }
}
