//! Who takes part in which server round.

use dpscope_core::random::{Purpose, Words};
use serde::{Deserialize, Serialize};

/// How participants are assigned to server rounds; clients and canaries are assigned together.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind", deny_unknown_fields)]
pub enum Participation {
    /// A random order of all participants in each epoch, divided evenly among the rounds of the epoch.
    /// One epoch: each participant once.
    Shuffled {
        /// Number of epochs; divides the number of rounds.
        epochs: u32,
    },
    /// One random order for all epochs, divided evenly among the rounds of each epoch: two rounds
    /// of a participant are at least the rounds of an epoch apart.
    MinSeparation {
        /// Number of epochs; divides the number of rounds.
        epochs: u32,
    },
    /// Each participant joins each round with a probability.
    Poisson {
        /// The probability, in (0, 1].
        rate: f64,
    },
    /// A uniform subset of one size in each round.
    FixedSize {
        /// Participants of a round, at least 1.
        cohort: u32,
    },
}

impl Participation {
    /// The most rounds of a participant.
    #[must_use]
    pub const fn most(&self, rounds: u32) -> u32 {
        match *self {
            Participation::Shuffled { epochs } | Participation::MinSeparation { epochs } => epochs,
            Participation::Poisson { .. } | Participation::FixedSize { .. } => rounds,
        }
    }

    /// Expected number of participants in a round, from that in the whole training.
    #[must_use]
    pub(super) fn cohort(&self, rounds: u32, participants: f64) -> f64 {
        match *self {
            Participation::Shuffled { epochs } | Participation::MinSeparation { epochs } => {
                participants * f64::from(epochs) / f64::from(rounds)
            }
            Participation::Poisson { rate } => participants * rate,
            Participation::FixedSize { cohort } => f64::from(cohort),
        }
    }

    /// The participants of each round, each below `participants`, for a unit of a seed.
    ///
    /// Canaries are the participants from `clients` on. With `presentations` they do not follow the draw
    /// of the clients: each takes part that many times, evenly spread from a random first round on.
    pub(super) fn rounds(
        &self,
        (seed, unit): (u64, u64),
        rounds: u32,
        (clients, participants): (u32, u32),
        presentations: Option<u32>,
    ) -> Vec<Vec<u32>> {
        let mut words = Words::new(seed, Purpose::FederatedRounds, unit);
        let drawn = if presentations.is_some() { clients } else { participants };
        let mut members = self.drawn(&mut words, rounds, drawn);
        if let Some(presentations) = presentations {
            for canary in clients..participants {
                let first = words.below(rounds.div_ceil(presentations));
                for round in presented(first, rounds, presentations) {
                    members[round as usize].push(canary);
                }
            }
        }
        members
    }

    fn drawn(&self, words: &mut Words, rounds: u32, participants: u32) -> Vec<Vec<u32>> {
        let mut order: Vec<u32> = (0..participants).collect();
        let mut members = Vec::with_capacity(rounds as usize);
        match *self {
            Participation::Shuffled { epochs } | Participation::MinSeparation { epochs } => {
                let per_epoch = rounds / epochs;
                let bound =
                    |part: u32| u64::from(part) * u64::from(participants) / u64::from(per_epoch);
                for epoch in 0..epochs {
                    if epoch == 0 || matches!(self, Participation::Shuffled { .. }) {
                        words.shuffle(&mut order);
                    }
                    for part in 0..per_epoch {
                        let range = bound(part) as usize..bound(part + 1) as usize;
                        members.push(order[range].to_vec());
                    }
                }
            }
            Participation::Poisson { rate } => {
                for _ in 0..rounds {
                    let joins = |_: &u32| words.uniform() < rate;
                    members.push((0..participants).filter(joins).collect());
                }
            }
            Participation::FixedSize { cohort } => {
                let cohort = cohort.min(participants) as usize;
                for _ in 0..rounds {
                    for place in 0..cohort {
                        let other = place + words.below((order.len() - place) as u32) as usize;
                        order.swap(place, other);
                    }
                    members.push(order[..cohort].to_vec());
                }
            }
        }
        members
    }
}

/// The rounds of a canary with evenly spread presentations, from its first round on.
pub(super) fn presented(
    first: u32,
    rounds: u32,
    presentations: u32,
) -> impl Iterator<Item = u32> + Clone {
    let later = move |place: u32| u64::from(place) * u64::from(rounds) / u64::from(presentations);
    (0..presentations).map(move |place| first + later(place) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(rounds: &[Vec<u32>], participants: u32) -> Vec<usize> {
        let mut counts = vec![0; participants as usize];
        rounds.iter().flatten().for_each(|&member| counts[member as usize] += 1);
        counts
    }

    fn rounds(participation: Participation, presentations: Option<u32>) -> Vec<Vec<u32>> {
        participation.rounds((3, 1), 12, (50, 67), presentations)
    }

    #[test]
    fn everybody_takes_part_once_per_epoch() {
        for epochs in [1, 3] {
            for participation in
                [Participation::Shuffled { epochs }, Participation::MinSeparation { epochs }]
            {
                let rounds = rounds(participation, None);
                assert_eq!(counts(&rounds, 67), vec![epochs as usize; 67]);
                let per_epoch = 12 / epochs as usize;
                for epoch in rounds.chunks(per_epoch) {
                    assert_eq!(counts(epoch, 67), vec![1; 67]);
                    let sizes = epoch.iter().map(Vec::len);
                    assert!(sizes.clone().max().unwrap() - sizes.min().unwrap() <= 1);
                }
                let is_repeated = rounds[0] == rounds[12 - per_epoch];
                let is_persistent = matches!(participation, Participation::MinSeparation { .. });
                assert_eq!(is_repeated, is_persistent || epochs == 1);
            }
        }
    }

    #[test]
    fn subsets_are_uniform() {
        let total = |participation: Participation, participant: u32| {
            let of_unit = |unit| {
                let rounds = participation.rounds((3, unit), 12, (50, 67), None);
                rounds.iter().filter(|members| members.contains(&participant)).count()
            };
            (0..200).map(of_unit).sum::<usize>() as f64
        };
        for participation in
            [Participation::Poisson { rate: 20.0 / 67.0 }, Participation::FixedSize { cohort: 20 }]
        {
            for participant in [0, 33, 66] {
                let (mean, share) = (2_400.0 * 20.0 / 67.0, 20.0 / 67.0);
                let error = (total(participation, participant) - mean).abs();
                assert!(error < 5.0 * (mean * (1.0 - share)).sqrt(), "{error}");
            }
        }
        let rounds = rounds(Participation::FixedSize { cohort: 20 }, None);
        assert!(rounds.iter().all(|members| members.len() == 20));
    }

    #[test]
    fn presentations_of_canaries_are_spread() {
        for presentations in [1, 2, 3, 4, 5, 12] {
            let participation = Participation::Shuffled { epochs: 1 };
            let rounds = rounds(participation, Some(presentations));
            let counts = counts(&rounds, 67);
            assert_eq!(counts[..50], [1; 50]);
            assert_eq!(counts[50..], [presentations as usize; 17]);
            for canary in 50..67 {
                let of_canary = (0..12).filter(|&round| rounds[round].contains(&canary));
                let places: Vec<usize> = of_canary.collect();
                let gaps: Vec<usize> = places.windows(2).map(|pair| pair[1] - pair[0]).collect();
                assert_eq!(places.len(), presentations as usize);
                assert!(gaps.iter().all(|&gap| gap + 1 >= 12 / presentations as usize));
            }
        }
    }
}
