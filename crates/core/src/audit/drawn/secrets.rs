//! Guesses of secrets, as counts or from scores of candidate values.

use crate::adjacency::Adjacency;
use crate::audit::AdjacencyBounds;
use crate::audit::drawn_finding::DrawnFinding;
use crate::audit::one_run::{ListGuesses, NOTABLE_TIES, OneRunError, SecretRanks, rank_lengths};

/// How secrets were guessed, each uniform on S values.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(tag = "rule", rename_all = "kebab-case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum SecretGuesses {
    /// A list of j values for each guessed secret.
    Lists {
        /// Records with a secret: m.
        records: u64,
        /// Values of a secret: S; with decoys, the candidates of each.
        values: u64,
        /// Whether the values are the true one and decoys, drawn without replacement from the others.
        decoys: bool,
        /// Length of a list: j.
        list_length: u64,
        /// Guessed secrets: k.
        guesses: u64,
        /// Lists with the true value: v.
        correct: u64,
    },
    /// All values of every secret are ranked.
    Ranks {
        /// Records with a secret: m.
        records: u64,
        /// Values of a secret: S; with decoys, the candidates of each.
        values: u64,
        /// Whether the values are the true one and decoys, drawn without replacement from the others.
        decoys: bool,
        /// How many true values have a rank of at most 1, 2, 4, …, up to S/2.
        within: Vec<u64>,
    },
}

impl SecretGuesses {
    /// The counts of these ranks of true values, from 1 to S.
    ///
    /// # Errors
    /// As [`SecretRanks::of_ranks`].
    pub fn of_ranks(values: u64, decoys: bool, ranks: &[u64]) -> Result<Self, OneRunError> {
        let counts = SecretRanks::of_ranks(values, ranks)?;
        let (records, within) = (ranks.len() as u64, counts.correct().to_vec());
        Ok(SecretGuesses::Ranks { records, values, decoys, within })
    }

    /// Records with a secret.
    #[must_use]
    pub const fn records(&self) -> u64 {
        match self {
            SecretGuesses::Lists { records, .. } | SecretGuesses::Ranks { records, .. } => *records,
        }
    }

    /// Values of a secret.
    #[must_use]
    pub const fn values(&self) -> u64 {
        match self {
            SecretGuesses::Lists { values, .. } | SecretGuesses::Ranks { values, .. } => *values,
        }
    }

    /// Whether the values are the true one and decoys.
    #[must_use]
    pub const fn has_decoys(&self) -> bool {
        match self {
            SecretGuesses::Lists { decoys, .. } | SecretGuesses::Ranks { decoys, .. } => *decoys,
        }
    }

    /// Guessed secrets.
    #[must_use]
    pub const fn guesses(&self) -> u64 {
        match self {
            SecretGuesses::Lists { guesses, .. } => *guesses,
            SecretGuesses::Ranks { records, .. } => *records,
        }
    }

    /// Lower bounds on ε.
    ///
    /// # Errors
    /// Counts, δ or a significance outside their domains.
    pub fn bounds(&self, delta: f64, significance: f64) -> Result<AdjacencyBounds, OneRunError> {
        match self {
            SecretGuesses::Lists { .. } => {
                let lists = self.lists()?;
                AdjacencyBounds::by(|adjacency| lists.epsilon_lower(adjacency, delta, significance))
            }
            SecretGuesses::Ranks { .. } => {
                let ranks = self.ranks()?;
                AdjacencyBounds::by(|adjacency| ranks.epsilon_lower(adjacency, delta, significance))
            }
        }
    }

    /// The p-value without any leak.
    ///
    /// # Errors
    /// As [`Self::bounds`].
    pub fn p_value_without_leak(&self) -> Result<f64, OneRunError> {
        match self {
            SecretGuesses::Lists { .. } => self.lists()?.p_value(Adjacency::Replace, 0.0, 0.0),
            SecretGuesses::Ranks { .. } => self.ranks()?.p_value(0.0, 0.0),
        }
    }

    /// Makes all guesses correct, which no result can exceed.
    pub(super) fn all_correct(&self) -> Self {
        let mut best = self.clone();
        match &mut best {
            SecretGuesses::Lists { guesses, correct, .. } => *correct = *guesses,
            SecretGuesses::Ranks { records, within, .. } => within.fill(*records),
        }
        best
    }

    /// Guesses, correct ones, and how many there could be.
    pub(super) fn totals(&self) -> [u64; 3] {
        let correct = match self {
            SecretGuesses::Lists { correct, .. } => *correct,
            SecretGuesses::Ranks { within, .. } => within.first().copied().unwrap_or_default(),
        };
        [self.guesses(), correct, self.records()]
    }

    fn lists(&self) -> Result<ListGuesses, OneRunError> {
        match *self {
            SecretGuesses::Lists { records, values, list_length, guesses, correct, .. } => {
                ListGuesses::new(records, values, list_length)?.with_counts(guesses, correct)
            }
            SecretGuesses::Ranks { .. } => Err(OneRunError::Lengths { sizes: 0, counts: 0 }),
        }
    }

    fn ranks(&self) -> Result<SecretRanks, OneRunError> {
        match self {
            SecretGuesses::Ranks { records, values, within, .. } => {
                SecretRanks::new(*records, *values, rank_lengths(*values), within.clone())
            }
            SecretGuesses::Lists { .. } => Err(OneRunError::Lengths { sizes: 0, counts: 0 }),
        }
    }
}

/// Scores of the candidates of one record after the other, that of the true value first.
///
/// A rank is one more than the number of other candidates with an equal or larger score: ties count against
/// the attack. The margin of a record, by which guessed ones are chosen, is between the j-th and the next
/// largest score of all candidates and so does not know which of them is true.
#[derive(Debug, Clone, PartialEq)]
pub struct CandidateScores {
    list_length: usize,
    ranks: Vec<u64>,
    margins: Vec<f64>,
    tied: u64,
    /// Sum of the shares of other candidates with smaller scores, of which equal ones count half.
    shares_below: f64,
    values: u64,
    current: CandidatesOfRecord,
}

/// What was seen of the candidates of one record.
#[derive(Debug, Clone, PartialEq, Default)]
struct CandidatesOfRecord {
    truth: f64,
    /// Other candidates with an equal or larger score.
    not_below: u64,
    /// Other candidates with an equal score.
    equal: u64,
    /// The largest scores, falling: one more than a list has.
    largest: Vec<f64>,
}

impl CandidateScores {
    /// No records yet; `list_length` values are listed for each.
    #[must_use]
    pub const fn new(list_length: usize) -> Self {
        Self {
            list_length,
            ranks: Vec::new(),
            margins: Vec::new(),
            tied: 0,
            shares_below: 0.0,
            values: 0,
            current: CandidatesOfRecord {
                truth: f64::NAN,
                not_below: 0,
                equal: 0,
                largest: Vec::new(),
            },
        }
    }

    /// Begins a record by the score of its true value.
    pub fn begin(&mut self, truth: f64) {
        self.values = 1;
        self.current.largest.clear();
        let largest = std::mem::take(&mut self.current.largest);
        self.current = CandidatesOfRecord { truth, largest, ..CandidatesOfRecord::default() };
        self.current.largest.push(truth);
    }

    /// Scores of other candidates of the record; they are numbers.
    pub fn add(&mut self, others: &[f64]) {
        self.values += others.len() as u64;
        let record = &mut self.current;
        let truth = record.truth;
        record.not_below += others.iter().map(|&score| u64::from(score >= truth)).sum::<u64>();
        record.equal += others.iter().map(|&score| u64::from(score == truth)).sum::<u64>();
        for &score in others {
            let is_full = record.largest.len() > self.list_length;
            if is_full && record.largest.last().is_some_and(|&last| score <= last) {
                continue;
            }
            let place = record.largest.partition_point(|&larger| larger >= score);
            record.largest.insert(place, score);
            record.largest.truncate(self.list_length + 1);
        }
    }

    /// Ends the record.
    pub fn end(&mut self) {
        let CandidatesOfRecord { not_below, equal, largest, .. } = &self.current;
        self.ranks.push(not_below + 1);
        self.tied += u64::from(*equal > 0);
        let others = self.values.saturating_sub(1) as f64;
        self.shares_below += (others - *not_below as f64 + 0.5 * *equal as f64) / others;
        let listed = self.list_length.checked_sub(1).and_then(|place| largest.get(place));
        let margin = match (listed, largest.get(self.list_length)) {
            (Some(last), Some(next)) if last > next => last - next,
            _ => 0.0, // of equal ones, also of two infinite ones
        };
        self.margins.push(margin);
    }

    /// The ranks of the true values.
    #[must_use]
    pub fn ranks(&self) -> &[u64] {
        &self.ranks
    }

    /// The lists of the records with the largest margins; all records if no number of guesses is given.
    ///
    /// # Errors
    /// [`OneRunError::Guesses`] for more guesses than records.
    pub fn lists(&self, decoys: bool, guesses: Option<u64>) -> Result<SecretGuesses, OneRunError> {
        let records = self.ranks.len() as u64;
        let guesses = guesses.unwrap_or(records);
        if !(1..=records).contains(&guesses) {
            return Err(OneRunError::Guesses { guesses, canaries: records });
        }
        let is_listed = |place: usize| self.ranks[place] <= self.list_length as u64;
        let mut order: Vec<usize> = (0..self.ranks.len()).collect();
        // of equal margins the wrong ones first
        order.sort_by(|&a, &b| {
            let by_margin = self.margins[b].total_cmp(&self.margins[a]);
            by_margin.then(is_listed(a).cmp(&is_listed(b)))
        });
        let correct = order.iter().take(guesses as usize).filter(|&&place| is_listed(place));
        Ok(SecretGuesses::Lists {
            records,
            values: self.values,
            decoys,
            list_length: self.list_length as u64,
            guesses,
            correct: correct.count() as u64,
        })
    }

    /// What the scores show: that most true values share theirs with another candidate, or have smaller ones
    /// than chance explains.
    #[must_use]
    pub fn findings(&self) -> Vec<DrawnFinding> {
        let records = self.ranks.len().max(1);
        let share = self.tied as f64 / records as f64;
        let tied = (share > NOTABLE_TIES).then_some(DrawnFinding::TiedScores { share });
        let auc = self.shares_below / records as f64;
        let reversed = DrawnFinding::reversed_candidates(auc, self.values, records);
        tied.into_iter().chain(reversed).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scored(list_length: usize, records: &[&[f64]]) -> CandidateScores {
        let mut scores = CandidateScores::new(list_length);
        for record in records {
            scores.begin(record[0]);
            record[1..].chunks(2).for_each(|part| scores.add(part));
            scores.end();
        }
        scores
    }

    #[test]
    fn ranks_count_ties_against_the_attack() {
        let scores = scored(1, &[&[3.0, 1.0, 2.0, 0.0], &[1.0, 1.0, 0.0, 2.0], &[0.0; 4]]);
        assert_eq!(scores.ranks(), [1, 3, 4]);
        let [DrawnFinding::TiedScores { share }] = scores.findings()[..] else {
            panic!("{:?}", scores.findings())
        };
        assert!((share - 2.0 / 3.0).abs() < 1e-15);
        // constant scores are tied, and not reversed
        let constant: Vec<&[f64]> = vec![&[0.0; 9]; 100];
        assert_eq!(scored(1, &constant).findings(), [DrawnFinding::TiedScores { share: 1.0 }]);
    }

    #[test]
    fn the_clearest_records_are_guessed_without_a_look_at_the_truth() {
        let infinite = f64::INFINITY;
        let records: [&[f64]; 4] = [
            &[3.0, 1.0, 2.0, 0.0],
            &[0.0, 1.0, 9.0, 2.0], // clearest, and wrong
            &[8.0, 1.0, 2.0, 3.0],
            &[infinite, infinite, 2.0, 3.0],
        ];
        let lists =
            |length: usize, guesses| scored(length, &records).lists(false, guesses).unwrap();
        let correct = |length: usize, guesses: u64| match lists(length, Some(guesses)) {
            SecretGuesses::Lists { correct, .. } => correct,
            SecretGuesses::Ranks { .. } => unreachable!("lists"),
        };
        assert_eq!([1, 2, 3, 4].map(|guesses| correct(1, guesses)), [0, 1, 2, 2]);
        assert_eq!(correct(2, 4), 3);
        assert!(scored(1, &records).lists(false, Some(5)).is_err());
    }

    #[test]
    fn bounds_of_ranks_for_adding_a_record_are_half_those_for_replacing_it_without_delta() {
        let ranks: Vec<u64> =
            (0..200).map(|place| if place < 7 { 1 } else { 5_000 * place }).collect();
        let guesses = SecretGuesses::of_ranks(1_000_000, false, &ranks).unwrap();
        let bounds = guesses.bounds(0.0, 0.05).unwrap();
        assert!(bounds.replace > 9.0, "{bounds:?}");
        assert!((2.0 * bounds.add_remove - bounds.replace).abs() < 0.011, "{bounds:?}");
    }
}
