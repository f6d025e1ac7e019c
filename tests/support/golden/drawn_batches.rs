//! Batches of loaders, as in the group `loader` of `own_trainer.json`.

use dpscope_core::training_check::drawn_batches::{DrawnBatches, DrawnSampler, LoaderCheck};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::uniforms::Uniforms;

/// How the file's batches are drawn, in its own words.
#[derive(Debug, Deserialize)]
pub(super) struct LoaderInputs {
    kind: String,
    seed: u64,
    records: usize,
    batch: usize,
    epochs: usize,
    #[serde(default)]
    buffer: usize,
}

impl LoaderInputs {
    /// The check of the batches; none for lists that are refused.
    pub(super) fn checked(&self) -> Option<Value> {
        let mut uniforms = Uniforms(self.seed);
        let first = permutation(&mut uniforms, self.records);
        let (mut records, mut sizes, mut batches) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..self.epochs {
            let epoch = self.epoch(&mut uniforms, &first);
            batches.push(u32::try_from(epoch.len()).ok()?);
            for batch in epoch {
                sizes.push(u32::try_from(batch.len()).ok()?);
                records.extend(batch);
            }
        }
        let size = self.records as u64;
        let drawn = DrawnBatches::new(&records, &sizes, &batches, size, None).ok()?;
        let check = LoaderCheck::of(&drawn, None);
        let tests: Map<String, Value> = check
            .tests
            .iter()
            .map(|test| {
                let found = json!({ "statistic": test.statistic, "p": test.p_value });
                (test.kind.name().replace('-', "_"), found)
            })
            .collect();
        let sampler = self.named(check.sampler);
        Some(json!({ "facts": check.facts, "tests": tests, "sampler": sampler }))
    }

    fn named(&self, sampler: DrawnSampler) -> String {
        match sampler {
            DrawnSampler::BatchThenShuffle => "fixed batches in a fresh order".to_owned(),
            DrawnSampler::PaddedShuffle => "shuffle, padded".to_owned(),
            DrawnSampler::PartialShuffle { least_buffer, .. } => {
                format!("partial shuffle (buffer {least_buffer} of {})", self.records)
            }
            other => other.name().replace('-', " "),
        }
    }

    fn epoch(&self, uniforms: &mut Uniforms, first: &[u32]) -> Vec<Vec<u32>> {
        let (n, size) = (self.records, self.batch);
        let all = 0..n as u32;
        let rate = size as f64 / n as f64;
        let mut each = |draw: &dyn Fn(&mut Uniforms) -> Vec<u32>| {
            (0..n / size).map(|_| draw(uniforms)).collect()
        };
        let order = match self.kind.as_str() {
            "poisson" => {
                return each(&|uniforms| all.clone().filter(|_| uniforms.draw() < rate).collect());
            }
            "weighted" => {
                let factor = |record| if record % 4 == 0 { 2.5 } else { 0.5 };
                let is_drawn =
                    |uniforms: &mut Uniforms, record| uniforms.draw() < rate * factor(record);
                return each(&|uniforms| {
                    all.clone().filter(|it| is_drawn(uniforms, *it)).collect()
                });
            }
            "fixed size" => return each(&|uniforms| permutation(uniforms, n)[..size].to_vec()),
            "replacement" => {
                return each(&|uniforms| (0..size).map(|_| uniforms.below(n) as u32).collect());
            }
            "bins" => {
                let mut batches = vec![Vec::new(); n / size];
                all.for_each(|record| batches[uniforms.below(n / size)].push(record));
                return batches;
            }
            "file order" => all.collect(),
            "same order" => first.to_vec(),
            "buffer" => buffered(uniforms, n, self.buffer),
            "chunks" => {
                let length = self.buffer as u32;
                let chunks = permutation(uniforms, n / self.buffer);
                chunks.iter().flat_map(|at| at * length..(at + 1) * length).collect()
            }
            "batches" => {
                let batches = permutation(uniforms, n / size);
                let records = |at: &u32| &first[*at as usize * size..][..size];
                batches.iter().flat_map(records).copied().collect()
            }
            "padded" => {
                let order = permutation(uniforms, n);
                let padding = n.next_multiple_of(size) - n;
                [&order[..], &order[..padding]].concat()
            }
            "drop last" => permutation(uniforms, n)[..n - n % size].to_vec(),
            _ => permutation(uniforms, n),
        };
        order.chunks(size).map(<[u32]>::to_vec).collect()
    }
}

fn permutation(uniforms: &mut Uniforms, n: usize) -> Vec<u32> {
    let mut order: Vec<u32> = (0..n as u32).collect();
    for last in (1..n).rev() {
        let other = uniforms.below(last + 1);
        order.swap(last, other);
    }
    order
}

fn buffered(uniforms: &mut Uniforms, n: usize, size: usize) -> Vec<u32> {
    let mut later = size as u32..n as u32;
    let (mut held, mut order): (Vec<u32>, Vec<u32>) = ((0..size as u32).collect(), Vec::new());
    while !held.is_empty() {
        let place = uniforms.below(held.len());
        order.push(held[place]);
        match later.next() {
            Some(record) => held[place] = record,
            None => drop(held.swap_remove(place)),
        }
    }
    order
}
