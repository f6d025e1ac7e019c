//! What a training draws: halves of the canaries, initial parameters, the order of the records.

use dpscope_core::random::{Purpose, Words};

use super::settings::OptimizationSettings;
use crate::metagradient::{Occurrence, Record};
use crate::model::Network;

/// What splits are drawn for. Different streams share no random words.
#[derive(Debug, Clone, Copy)]
pub(super) enum Stream {
    /// A metastep.
    Metastep(u32),
    /// The validation after so many metasteps.
    Validation(u32),
    /// A comparison of canaries.
    Comparison(u32),
    /// Metasmoothness.
    Smoothness,
}

impl Stream {
    fn number(self, split: u32) -> u64 {
        let (kind, index) = match self {
            Stream::Metastep(index) => (0, index),
            Stream::Validation(index) => (1, index),
            Stream::Comparison(index) => (2, index),
            Stream::Smoothness => (3, 0),
        };
        kind << 56 | u64::from(index) << 24 | u64::from(split)
    }
}

/// Which canaries are IN.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Half {
    First,
    Second,
}

/// A split of the canaries. Canaries are matched at random, and both canaries of a pair have the
/// same place in the order of the records: the one that is IN is there.
#[derive(Debug)]
pub(super) struct Split {
    canaries: usize,
    records: u32,
    /// Canaries of both halves, by place; with an odd number, the last place is empty in the second.
    halves: [Vec<u32>; 2],
    pub(super) initial: Vec<f32>,
    /// Batches of records, then of places of canaries.
    order: Vec<Vec<u32>>,
}

impl Split {
    pub(super) fn draw(
        settings: &OptimizationSettings,
        network: &Network,
        (records, count): (u32, u32),
        (stream, split): (Stream, u32),
    ) -> Split {
        let (seed, stream) = (settings.seed, stream.number(split));
        let mut canaries: Vec<u32> = (0..count).collect();
        Words::new(seed, Purpose::MetaSplit, stream).shuffle(&mut canaries);
        let second = canaries.split_off(canaries.len().div_ceil(2));
        let mut words = Words::new(seed, Purpose::MetaInitial, stream);
        let initial = network.initial(|| words.uniform());
        let mut words = Words::new(seed, Purpose::MetaOrder, stream);
        let mut all: Vec<u32> = (0..records + canaries.len() as u32).collect();
        let mut order: Vec<Vec<u32>> = Vec::with_capacity(settings.steps);
        while order.len() < settings.steps {
            words.shuffle(&mut all);
            let batches = all.chunks_exact(settings.batch_size).map(<[u32]>::to_vec);
            order.extend(batches.take(settings.steps - order.len()));
        }
        let halves = [canaries, second];
        Split { canaries: count as usize, records, halves, initial, order }
    }

    fn included(&self, half: Half) -> &[u32] {
        &self.halves[usize::from(half == Half::Second)]
    }

    /// The batches of a training with a half of the canaries.
    pub(super) fn batches(&self, half: Half) -> Vec<Vec<Occurrence>> {
        let included = self.included(half);
        let occurrence = |&place: &u32| {
            let record = match place.checked_sub(self.records) {
                None => Some(Record::Base(place)),
                Some(place) => included.get(place as usize).copied().map(Record::Canary),
            };
            record.map(|record| Occurrence { record, augmentation: None })
        };
        self.order.iter().map(|batch| batch.iter().filter_map(occurrence).collect()).collect()
    }

    /// Whether each canary is IN.
    pub(super) fn is_included(&self, half: Half) -> Vec<bool> {
        let mut is_included = vec![false; self.canaries];
        self.included(half).iter().for_each(|&canary| is_included[canary as usize] = true);
        is_included
    }

    /// Weights in the objective: 1 where IN, −1 where OUT.
    pub(super) fn weights(&self, half: Half) -> Vec<f64> {
        self.is_included(half).iter().map(|&is_in| if is_in { 1.0 } else { -1.0 }).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{LayerSpec, ModelSpec, Shape};

    /// What is wrong with the batches of a split and its complement.
    fn problems(
        first: &[Vec<Occurrence>],
        second: &[Vec<Occurrence>],
        split: &Split,
    ) -> Vec<String> {
        let mut problems = Vec::new();
        for (half, batches) in [(Half::First, first), (Half::Second, second)] {
            let is_included = split.is_included(half);
            let is_out = |row: &Occurrence| match row.record {
                Record::Canary(canary) => !is_included[canary as usize],
                Record::Base(_) => false,
            };
            if batches.iter().flatten().any(is_out) {
                problems.push(format!("{half:?}: a canary that is OUT is in a batch"));
            }
        }
        let base = |batch: &[Occurrence]| -> Vec<Record> {
            let is_base = |record: &Record| matches!(record, Record::Base(_));
            batch.iter().map(|row| row.record).filter(is_base).collect()
        };
        if first.iter().zip(second).any(|(one, other)| base(one) != base(other)) {
            problems.push("the complement has another order".to_owned());
        }
        let both = [Half::First, Half::Second].map(|half| split.is_included(half));
        if both[0].iter().zip(&both[1]).any(|(one, other)| one == other) {
            problems.push("the halves are no complements".to_owned());
        }
        problems
    }

    fn with_splits(check: impl Fn(Split, Split)) {
        let spec =
            ModelSpec { input: Shape::flat(4), layers: vec![LayerSpec::Linear { outputs: 30 }] };
        let network = Network::new(&spec).unwrap();
        for canaries in [20, 21] {
            let settings = OptimizationSettings {
                steps: 20,
                batch_size: 16,
                ..OptimizationSettings::new(1, 9)
            };
            let draw = |metastep| {
                let of = (Stream::Metastep(metastep), 0);
                Split::draw(&settings, &network, (180, canaries), of)
            };
            check(draw(0), draw(1));
        }
    }

    #[test]
    fn canaries_that_are_out_are_in_no_batch() {
        with_splits(|split, other| {
            let [first, second] = [Half::First, Half::Second].map(|half| split.batches(half));
            assert_eq!(problems(&first, &second, &split), Vec::<String>::new());
            let included = |half| split.is_included(half).iter().filter(|is_in| **is_in).count();
            assert_eq!(included(Half::First), split.canaries.div_ceil(2));
            assert_eq!(included(Half::Second), split.canaries / 2);
            // Negative controls: the other half, and the order of another metastep.
            assert!(problems(&second, &first, &split)[0].contains("OUT"));
            let unrelated = other.batches(Half::Second);
            assert!(!problems(&first, &unrelated, &split).is_empty());
        });
    }

    #[test]
    fn metasteps_draw_anew() {
        with_splits(|one, other| {
            assert_ne!(one.halves, other.halves);
            assert_ne!(one.initial, other.initial);
            assert_ne!(one.order, other.order);
        });
        let numbers = [
            Stream::Metastep(5).number(0),
            Stream::Metastep(5).number(1),
            Stream::Validation(5).number(0),
            Stream::Comparison(5).number(0),
            Stream::Smoothness.number(0),
        ];
        let distinct: std::collections::BTreeSet<u64> = numbers.into_iter().collect();
        assert_eq!(distinct.len(), numbers.len());
    }
}
