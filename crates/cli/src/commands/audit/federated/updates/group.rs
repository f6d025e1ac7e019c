//! Groups of canaries whose products with all server rounds are in memory together.

use std::ops::Range;

use dpscope_report::words::OneShotAttacker;
use dpscope_simulation::{Compared, ReleaseCosines};

use crate::federated_plan::CONTROL;
use dpscope_recorded::UNSEEN;

/// The most products of canaries and server rounds at a time: 16 MiB.
const MOST_PRODUCTS: usize = 2 << 20;

/// The most canaries of a group, each with sums and a list of its own.
const MOST_CANARIES: usize = 1 << 16;

/// Some of the directions: canaries, then the unseen ones, then the control client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CanaryGroup {
    inserted: u64,
    places: Range<u64>,
}

/// Groups of all directions; a group of `rounds` server rounds has at most [`MOST_PRODUCTS`] products.
pub(super) fn groups(inserted: u64, rounds: usize) -> impl Iterator<Item = CanaryGroup> {
    let size = (MOST_PRODUCTS / (rounds + 1)).clamp(1, MOST_CANARIES) as u64;
    let end = inserted + UNSEEN + 1;
    (0..end)
        .step_by(size as usize)
        .map(move |first| CanaryGroup { inserted, places: first..end.min(first + size) })
}

impl CanaryGroup {
    pub(super) const fn is_first(&self) -> bool {
        self.places.start == 0
    }

    /// What each direction is compared with: after the releases comes the sum of all, each scaled to
    /// norm 1.
    pub(super) fn directions(
        &self,
        attacker: OneShotAttacker,
        participation: &[Vec<usize>],
        rounds: usize,
    ) -> impl Iterator<Item = (u64, Compared)> {
        let of = move |place: u64| {
            let members = participation.get(place as usize).filter(|_| place < self.inserted);
            match (attacker, members) {
                (OneShotAttacker::AllUpdates, _) if place < self.inserted => {
                    Compared::Each(0..rounds + 1)
                }
                (_, Some(members)) => Compared::Sum(members.clone()),
                _ => Compared::Each(rounds..rounds + 1),
            }
        };
        let control = self.inserted + UNSEEN;
        self.places
            .clone()
            .map(move |place| (if place == control { CONTROL } else { place }, of(place)))
    }
}

/// What scores need of the cosines with all server rounds.
#[derive(Debug, Default)]
pub(super) struct UpdateCosines {
    /// Cosine of each canary with its statistic; NaN for one without a server round.
    pub(super) seen: Vec<f64>,
    /// Cosine of each canary with its sum.
    pub(super) sums: Vec<f64>,
    /// The norm of the sum of each canary's own updates.
    pub(super) norms: Vec<f64>,
    /// Cosines of directions that no client sent with the sum of all updates.
    pub(super) unseen: Vec<f64>,
    /// Cosine of the control client with the sum of all updates.
    pub(super) control: Option<f64>,
}

impl UpdateCosines {
    /// Adds the next group.
    pub(super) fn add(
        &mut self,
        group: &CanaryGroup,
        products: &ReleaseCosines,
        attacker: OneShotAttacker,
        rounds: usize,
    ) {
        for (place, direction) in group.places.clone().enumerate() {
            let found = products.of(place);
            let last = checked(found.last().copied().unwrap_or(f64::NAN));
            // a sum without a direction, which no direction is independent of
            let outside = if last.is_nan() { -1.0 } else { last };
            if direction == group.inserted + UNSEEN {
                self.control = Some(outside);
            } else if direction >= group.inserted {
                self.unseen.push(outside);
            } else {
                let is_each = attacker == OneShotAttacker::AllUpdates;
                let updates = if is_each { &found[..rounds] } else { &found };
                self.seen.push(checked(updates.iter().copied().fold(f64::NAN, f64::max)));
                self.sums.push(last);
                self.norms.push(products.norm_of_sum(place));
            }
        }
    }
}

/// A cosine within [−1, 1], or NaN.
const fn checked(cosine: f64) -> f64 {
    cosine.clamp(-1.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_all_directions_and_fit_in_memory() {
        for (inserted, rounds) in [(0, 1), (1_000, 2_048), (200_000, 1), (5, 4_096), (9, 3 << 20)] {
            let mut next = 0;
            for group in groups(inserted, rounds) {
                assert_eq!((group.places.start, group.is_first()), (next, next == 0));
                let size = group.places.end - next;
                let products = size * (rounds as u64 + 1);
                assert!(size == 1 || products <= MOST_PRODUCTS as u64, "{inserted} {rounds}");
                assert!(size <= MOST_CANARIES as u64);
                next = group.places.end;
            }
            assert_eq!(next, inserted + UNSEEN + 1);
        }
    }

    #[test]
    fn groups_change_no_cosine() {
        let (inserted, rounds, dimension) = (30, 3, 5_000);
        let entry = |round: usize, i: usize| ((i * i + 7 * round) % 11) as f32 - 5.0;
        let releases: Vec<Vec<f32>> =
            (0..=rounds).map(|round| (0..dimension).map(|i| entry(round, i)).collect()).collect();
        let participation = vec![vec![0, 2]; inserted as usize];
        for attacker in [
            OneShotAttacker::AllUpdates,
            OneShotAttacker::SumOfUpdates,
            OneShotAttacker::KnownServerRounds,
        ] {
            let members: &[Vec<usize>] = match attacker {
                OneShotAttacker::KnownServerRounds => &participation,
                _ => &[],
            };
            let cosines = |size: u64| {
                let mut cosines = UpdateCosines::default();
                let end = inserted + UNSEEN + 1;
                for first in (0..end).step_by(size as usize) {
                    let group = CanaryGroup { inserted, places: first..end.min(first + size) };
                    let directions = group.directions(attacker, members, rounds);
                    let mut products = ReleaseCosines::new(3, dimension, rounds + 1, directions);
                    products.add(0, &releases);
                    cosines.add(&group, &products, attacker, rounds);
                }
                cosines
            };
            let (whole, parts) = (cosines(1_000), cosines(7));
            assert_eq!((&whole.seen, &whole.sums), (&parts.seen, &parts.sums));
            assert_eq!((&whole.norms, &whole.unseen), (&parts.norms, &parts.unseen));
            assert_eq!((whole.control, whole.seen.len()), (parts.control, inserted as usize));
            assert!(whole.control.is_some() && whole.unseen.len() == UNSEEN as usize);
        }
    }
}
