//! Outcomes of many runs in two worlds: every one is checked before the attack sees it.

use std::collections::{BTreeMap, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};

use dpscope_core::adjacency::World;
use dpscope_formats::table::Rows;

use super::manifest::{Duplicates, Manifest, ManifestError};
use crate::attack::{AttackError, AttackOptions, AttackResult, Features, ForestOptions, attack};

/// What a run left behind.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// Released rows.
    Rows(Rows),
    /// Kept and counted; with the first line of the reason.
    Failed(String),
}

/// How many runs of a world failed, and the reason of the first.
pub type FailedRuns = (u64, Option<String>);

/// What the attack on many runs found, and what was noticed of them.
#[derive(Debug, Clone)]
pub struct WorldsAttack {
    /// The attack.
    pub attack: AttackResult,
    /// Failed runs with the target row and without.
    pub failed: [FailedRuns; 2],
    /// Whether the data of both worlds were present and differ by the target row alone.
    pub checked_data: bool,
    /// Runs of each world that succeeded in a later attempt.
    pub retried: [u64; 2],
    /// How a second execution of a run differed.
    pub other_rows: Option<String>,
    /// Whether every run of both worlds released the same rows.
    pub is_constant: bool,
}

/// Why an outcome is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OutcomeError {
    /// It is beyond the planned runs: somebody could choose among them.
    #[error(
        "is one run more than the {planned} of the manifest; the number of runs is fixed before the \
         first: remove it, or plan anew"
    )]
    TooMany {
        /// Planned runs of each world.
        planned: u64,
    },
    /// The run has an outcome already.
    #[error("is a second outcome of one run; remove the wrong one")]
    Repeated,
    /// The number of rows is not the public one.
    #[error(
        "{problem}; let the generator release the number of the manifest; if it cannot, the run failed: \
         replace its csv with a file that ends in .failed"
    )]
    Rows {
        /// Both numbers.
        problem: String,
    },
    /// Two runs have equal rows.
    #[error(
        "has the rows of {other}: a file was copied, or the generator ignores its seed; make it use \
         {{seed}} and run it again, or, where so few rows coincide by chance, state \
         duplicates = \"allow\" in the manifest"
    )]
    Copied {
        /// Name of the other run.
        other: String,
    },
}

/// Outcomes of the runs of a manifest, as an attacker describes them.
///
/// # Guarantee
/// The attack does not depend on the order in which outcomes are added
/// (`unit::the_order_of_outcomes_changes_nothing`).
#[derive(Debug)]
pub struct WorldOutcomes {
    manifest: Manifest,
    features: Features,
    seen: HashMap<u64, String>,
    runs: [BTreeMap<u64, Vec<f64>>; 2],
    failed: [BTreeMap<u64, String>; 2],
}

impl WorldOutcomes {
    /// Without an outcome.
    ///
    /// # Errors
    /// A target that is no row of the columns.
    pub fn new(manifest: Manifest) -> Result<Self, ManifestError> {
        let schema = manifest.schema()?;
        let features = Features::new(&schema, &manifest.target_row(&schema)?);
        let (runs, failed) = Default::default();
        Ok(WorldOutcomes { manifest, features, seen: HashMap::new(), runs, failed })
    }

    /// Adds the outcome of a run.
    ///
    /// | argument | meaning |
    /// |---|---|
    /// | `world`, `run` | which run it is |
    /// | `name` | of the run, for errors |
    /// | `outcome` | its rows, or why there are none |
    ///
    /// # Errors
    /// [`OutcomeError`].
    pub fn add(
        &mut self,
        (world, run): (World, u64),
        name: &str,
        outcome: &Outcome,
    ) -> Result<(), OutcomeError> {
        let planned = self.manifest.runs;
        if run >= planned {
            return Err(OutcomeError::TooMany { planned });
        }
        if self.runs[world.index()].contains_key(&run) {
            return Err(OutcomeError::Repeated);
        }
        let rows = match outcome {
            Outcome::Rows(rows) => Some(rows),
            Outcome::Failed(reason) => {
                self.failed[world.index()].insert(run, format!("{name}: {reason}"));
                None
            }
        };
        if let Some(rows) = rows {
            self.manifest.check_rows(rows).map_err(|problem| OutcomeError::Rows { problem })?;
            let other = self.seen.insert(digest(rows), name.to_owned());
            if let (Duplicates::Refuse, Some(other)) = (self.manifest.duplicates, other) {
                return Err(OutcomeError::Copied { other });
            }
        }
        self.runs[world.index()].insert(run, self.features.of_outcome(rows));
        Ok(())
    }

    /// The first run without an outcome.
    #[must_use]
    pub fn missing(&self) -> Option<(World, u64)> {
        World::BOTH.into_iter().find_map(|world| {
            let runs = &self.runs[world.index()];
            (0..self.manifest.runs).find(|run| !runs.contains_key(run)).map(|run| (world, run))
        })
    }

    /// The attack on the outcomes, of data that were not looked at.
    ///
    /// # Errors
    /// [`AttackError`]: too few runs.
    pub fn attack(self) -> Result<WorldsAttack, AttackError> {
        let options = AttackOptions {
            delta: self.manifest.delta,
            significance: self.manifest.significance,
            forest: ForestOptions { seed: self.manifest.seed, ..ForestOptions::default() },
        };
        let [with, without] = self.runs.map(|runs| runs.into_values().collect::<Vec<_>>());
        let is_constant = self.seen.len() == 1 && self.failed.iter().all(BTreeMap::is_empty);
        let failed = |runs: BTreeMap<u64, String>| (runs.len() as u64, runs.into_values().next());
        Ok(WorldsAttack {
            attack: attack([&with, &without], &options)?,
            failed: self.failed.map(failed),
            checked_data: false,
            retried: [0; 2],
            other_rows: None,
            is_constant,
        })
    }
}

fn digest(rows: &Rows) -> u64 {
    let mut hasher = DefaultHasher::new();
    rows.values.iter().for_each(|value| value.to_bits().hash(&mut hasher));
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "format = \"dpscope.generator-folder/1\"\ngame = \"two-worlds\"\nepsilon = 0.1\n\
                        delta = 0.0\nsignificance = 0.05\nrows = 2\nruns = 30\nbounds = \"public\"\n\
                        seed = 3\ntarget = [\"9\"]\n\n\
                        [[columns]]\nkind = \"integer\"\nname = \"a\"\nlow = 0\nhigh = 1000\n";

    fn rows(world: World, run: u64) -> Outcome {
        let first = if world == World::Target { 900.0 } else { 3.0 };
        Outcome::Rows(Rows { columns: 1, values: vec![first + run as f64, 7.0 * run as f64] })
    }

    fn added(manifest: &Manifest, places: &[(World, u64)]) -> WorldsAttack {
        let mut outcomes = WorldOutcomes::new(manifest.clone()).unwrap();
        for place in places {
            outcomes.add(*place, "run", &rows(place.0, place.1)).unwrap();
        }
        assert_eq!(outcomes.missing(), None);
        outcomes.attack().unwrap()
    }

    #[test]
    fn the_order_of_outcomes_changes_nothing() {
        let manifest = Manifest::from_toml(TEXT).unwrap();
        let mut places: Vec<(World, u64)> = World::BOTH
            .into_iter()
            .flat_map(|world| (0..30).map(move |run| (world, run)))
            .collect();
        let found = added(&manifest, &places);
        assert!(found.attack.auc.value > 0.99);
        places.reverse();
        assert_eq!(added(&manifest, &places).attack.scores, found.attack.scores);
    }

    #[test]
    fn bad_outcomes_are_refused() {
        let manifest = Manifest::from_toml(TEXT).unwrap();
        let mut outcomes = WorldOutcomes::new(manifest).unwrap();
        let (one, other) = (World::Target, World::ZeroOut);
        let first = rows(one, 0);
        assert_eq!(outcomes.add((one, 0), "with/0000", &first), Ok(()));
        assert_eq!(outcomes.missing(), Some((one, 1)));
        let again = outcomes.add((one, 0), "with/0000", &first);
        assert_eq!(again, Err(OutcomeError::Repeated));
        let copied = outcomes.add((other, 4), "without/0004", &first).unwrap_err();
        assert_eq!(copied, OutcomeError::Copied { other: "with/0000".to_owned() });
        let many = outcomes.add((one, 30), "with/0030", &rows(one, 30)).unwrap_err();
        assert_eq!(many, OutcomeError::TooMany { planned: 30 });
        let few = Outcome::Rows(Rows { columns: 1, values: vec![1.0] });
        let few = outcomes.add((one, 1), "with/0001", &few).unwrap_err();
        assert!(few.to_string().starts_with("has 1 rows, and the manifest says 2"), "{few}");
        let failed = Outcome::Failed("no memory".to_owned());
        assert_eq!(outcomes.add((one, 1), "with/0001", &failed), Ok(()));
    }
}
