//! Loaders of libraries draw batches as the table of `dpscope check --list-loaders` says: batches that
//! `crates/cli/examples/loaders/draw_batches.py` draws, against what each kind of batches implies.

use std::collections::BTreeSet;
use std::process::Command;

use dpscope_core::math::powi;
use dpscope_core::mechanism::SamplerKind;
use dpscope_core::training_check::{LIBRARY_LOADERS, LoaderKind, OtherBatches};
use dpscope_tests::Draws;
use libtest_mimic::{Failed, Trial};
use serde_json::Value;

use super::{Example, PYTHON, check, runnable};

const SCRIPT: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../crates/cli/examples/loaders/draw_batches.py");

/// Standard errors that a frequency may be off; hundreds are compared, with fixed seeds.
const MOST_OFF: f64 = 5.0;

/// The tests of all libraries, and of the checks themselves.
pub(super) fn trials() -> Vec<Trial> {
    let mut trials = vec![
        Trial::test("loaders_of_each_kind_pass_their_own_check", own_kinds_pass),
        Trial::test("loaders_of_another_kind_are_rejected", other_kinds_are_rejected),
    ];
    let of = |library, loaders| move || documented(library, loaders);
    let libraries = [
        ("torch", Trial::test("loaders_of_torch_draw_as_documented", of("torch", 6))),
        ("torch, opacus", Trial::test("loaders_of_opacus_draw_as_documented", of("opacus", 4))),
        (
            "jax_privacy",
            Trial::test("loaders_of_jax_privacy_draw_as_documented", of("jax_privacy", 4)),
        ),
        ("grain", Trial::test("loaders_of_grain_draw_as_documented", of("grain", 4))),
        (
            "webdataset, yaml",
            Trial::test("loaders_of_webdataset_draw_as_documented", of("webdataset", 1)),
        ),
        (
            "tensorflow",
            Trial::test("loaders_of_tensorflow_draw_as_documented", of("tensorflow", 2)),
        ),
    ];
    for (needs, trial) in libraries {
        let example = Example {
            file: "draw_batches.py",
            arguments: &[],
            needs,
            required_by: "REQUIRE_LOADERS",
        };
        trials.extend(runnable(example, vec![trial]));
    }
    trials
}

/// Batches of many epochs.
#[derive(Clone)]
struct Drawn {
    records: usize,
    batch: usize,
    /// Rate of Poisson batches.
    rate: f64,
    buffer: usize,
    epochs: Vec<Vec<Vec<usize>>>,
}

fn documented(library: &'static str, loaders: usize) -> Result<(), Failed> {
    let output = Command::new(PYTHON).args([SCRIPT, library]).output()?;
    check(output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())?;
    let document: Value = serde_json::from_slice(&output.stdout)?;
    let drawn = document["loaders"].as_array().ok_or("no loaders")?;
    check(drawn.len() == loaders, format!("{} loaders", drawn.len()))?;
    for found in drawn {
        let name = found["loader"].as_str().ok_or("no name")?;
        let row = LIBRARY_LOADERS.iter().find(|loader| loader.name == name);
        let row = row.ok_or_else(|| format!("{name} is not in the table"))?;
        let count = |value: &Value| value.as_u64().unwrap_or(0) as usize;
        let drawn = Drawn {
            records: count(&document["records"]),
            batch: count(&document["batch"]),
            rate: found["rate"].as_f64().unwrap_or(f64::NAN),
            buffer: count(&found["buffer"]),
            epochs: serde_json::from_value(found["epochs"].clone())?,
        };
        drawn.agrees_with(row.batches).map_err(|reason| format!("{name}: {reason}"))?;
    }
    Ok(())
}

impl Drawn {
    /// Why these are no batches of the kind, if they are not.
    fn agrees_with(&self, kind: LoaderKind) -> Result<(), String> {
        match kind {
            LoaderKind::Sampler(SamplerKind::Poisson) => self.is_poisson(),
            LoaderKind::Sampler(SamplerKind::Shuffle) => {
                self.contains_each_once()?;
                self.has_fresh_orders()?;
                self.has_uniform_places(self.records)?;
                self.mixes_neighbours()
            }
            LoaderKind::Sampler(SamplerKind::Deterministic) => {
                let sorted: Vec<usize> = (0..self.records).collect();
                ensure(self.orders().iter().all(|order| *order == sorted), "not in file order")
            }
            LoaderKind::Sampler(SamplerKind::PartialShuffle) => {
                self.contains_each_once()?;
                self.has_fresh_orders()?;
                self.has_uniform_places(self.buffer)
            }
            LoaderKind::Sampler(SamplerKind::SlidingBuffer) => {
                self.contains_each_once()?;
                self.has_fresh_orders()?;
                self.comes_from_a_buffer()
            }
            LoaderKind::Sampler(SamplerKind::FixedSize) => self.has_fixed_size(),
            LoaderKind::Other(OtherBatches::WithReplacement) => self.is_with_replacement(),
            LoaderKind::Other(OtherBatches::OncePerEpoch) => self.contains_each_at_most_once(),
            other => Err(format!("no check of {other}")),
        }
    }

    fn batches(&self) -> impl Iterator<Item = &Vec<usize>> {
        self.epochs.iter().flatten()
    }

    fn orders(&self) -> Vec<Vec<usize>> {
        self.epochs.iter().map(|epoch| epoch.concat()).collect()
    }

    fn contains_each_at_most_once(&self) -> Result<(), String> {
        for order in self.orders() {
            let different: BTreeSet<usize> = order.iter().copied().collect();
            ensure(different.len() == order.len(), "a record comes twice in an epoch")?;
        }
        Ok(())
    }

    fn contains_each_once(&self) -> Result<(), String> {
        self.contains_each_at_most_once()?;
        let all = |order: &Vec<usize>| order.len() == self.records;
        ensure(self.orders().iter().all(all), "a record is left out of an epoch")
    }

    fn has_fresh_orders(&self) -> Result<(), String> {
        let orders = self.orders();
        let different: BTreeSet<&Vec<usize>> = orders.iter().collect();
        ensure(10 * different.len() >= 8 * orders.len(), "orders repeat")
    }

    /// Each record is at each place of its block equally often.
    fn has_uniform_places(&self, block: usize) -> Result<(), String> {
        let orders = self.orders();
        let share = orders.len() as f64 / block as f64;
        let mut squares = 0.0;
        for record in 0..self.records {
            for place in 0..self.records {
                let count = orders.iter().filter(|order| order[place] == record).count();
                if place / block == record / block {
                    let off = count as f64 - share;
                    squares += off * off / share;
                } else if count > 0 {
                    return Err(format!("record {record} leaves its block"));
                }
            }
        }
        let blocks = self.records / block;
        let freedom = (blocks * (block - 1) * (block - 1)) as f64;
        near("places", squares, freedom, (2.0 * freedom).sqrt())
    }

    /// Records beside each other in the file are in one batch as often as any two.
    fn mixes_neighbours(&self) -> Result<(), String> {
        let pairs = |count: usize| (count * count.saturating_sub(1)) as f64 / 2.0;
        let first = self.epochs.first().ok_or("no epoch")?;
        let chance =
            first.iter().map(|batch| pairs(batch.len())).sum::<f64>() / pairs(self.records);
        let together = |first: usize| {
            let has = |batch: &&Vec<usize>| batch.contains(&first) && batch.contains(&(first + 1));
            self.batches().filter(has).count()
        };
        let count: usize = (0..self.records - 1).map(together).sum();
        self.frequency(
            "neighbours in one batch",
            count,
            self.epochs.len() * (self.records - 1),
            chance,
        )
    }

    fn comes_from_a_buffer(&self) -> Result<(), String> {
        let orders = self.orders();
        let places = || orders.iter().flat_map(|order| order.iter().enumerate());
        let most_early = places().map(|(place, &record)| record.saturating_sub(place)).max();
        ensure(most_early == Some(self.buffer - 1), "the buffer has another size")?;
        let is_first = |order: &&Vec<usize>| order[0] == 0;
        let first = orders.iter().filter(is_first).count();
        self.frequency("the first record first", first, orders.len(), 1.0 / self.buffer as f64)?;
        // The buffer is full in the first draws.
        let late = |order: &&Vec<usize>| !order[..self.buffer].contains(&0);
        let count = orders.iter().filter(late).count();
        let chance = powi(1.0 - 1.0 / self.buffer as f64, self.buffer as i32);
        self.frequency("the first record later", count, orders.len(), chance)
    }

    fn is_poisson(&self) -> Result<(), String> {
        let (records, rate) = (self.records, self.rate);
        let batches = self.batches().count();
        let drawn = self.batches().map(Vec::len).sum();
        self.frequency("records in a batch", drawn, batches * records, rate)?;
        let mut pairs = 0;
        for batch in self.batches() {
            let different: BTreeSet<&usize> = batch.iter().collect();
            ensure(different.len() == batch.len(), "a record comes twice in a batch")?;
            pairs += usize::from(different.contains(&0) && different.contains(&1));
        }
        self.frequency("two records in a batch", pairs, batches, rate * rate)?;
        let empty = self.batches().filter(|batch| batch.is_empty()).count();
        self.frequency("empty batches", empty, batches, powi(1.0 - rate, records as i32))?;
        self.repeats_in_the_next(rate)
    }

    /// A record of a batch is in the next one as if it had not been.
    fn repeats_in_the_next(&self, rate: f64) -> Result<(), String> {
        let batches: Vec<&Vec<usize>> = self.batches().collect();
        let (mut again, mut of) = (0, 0);
        for pair in batches.windows(2) {
            of += pair[0].len();
            again += pair[0].iter().filter(|&record| pair[1].contains(record)).count();
        }
        // A frequency over dependent draws: wider.
        let error = 2.0 * (rate * (1.0 - rate) / of as f64).sqrt();
        near("records again in the next batch", again as f64 / of as f64, rate, error)
    }

    fn has_fixed_size(&self) -> Result<(), String> {
        let different = |batch: &Vec<usize>| batch.iter().collect::<BTreeSet<_>>().len();
        let is_full =
            |batch: &Vec<usize>| batch.len() == self.batch && different(batch) == self.batch;
        ensure(self.batches().all(is_full), "a batch has another size, or a record twice")?;
        self.repeats_in_the_next(self.batch as f64 / self.records as f64)
    }

    fn is_with_replacement(&self) -> Result<(), String> {
        let full = || self.batches().filter(|batch| batch.len() == self.batch);
        let count = full().count();
        ensure(count > 0, "no batch has the full size")?;
        let records = self.records as f64;
        let twice = full().filter(|batch| batch[0] == batch[1]).count();
        self.frequency("one record twice in a batch", twice, count, 1.0 / records)?;
        let missed = powi(1.0 - 1.0 / records, self.batch as i32);
        let with = full().filter(|batch| batch.contains(&0)).count();
        self.frequency("a record in a batch", with, count, 1.0 - missed)
    }

    fn frequency(&self, what: &str, count: usize, of: usize, chance: f64) -> Result<(), String> {
        let error = (chance * (1.0 - chance) / of as f64).sqrt();
        near(what, count as f64 / of as f64, chance, error)
    }
}

fn ensure(condition: bool, otherwise: &str) -> Result<(), String> {
    if condition { Ok(()) } else { Err(otherwise.to_owned()) }
}

fn near(what: &str, seen: f64, expected: f64, error: f64) -> Result<(), String> {
    let off = (seen - expected).abs() / error;
    if off <= MOST_OFF {
        return Ok(());
    }
    Err(format!("{what}: {seen:.4}, expected {expected:.4}: {off:.1} standard errors"))
}

/// Batches of a kind, drawn here.
fn simulated(kind: LoaderKind, rate: f64) -> Drawn {
    let (records, batch, buffer) = (10, 3, 5);
    let mut draws = Draws::new(6);
    let mut one_order: Vec<usize> = (0..records).collect();
    draws.shuffle(&mut one_order);
    let epochs = (0..600).map(|_| {
        let mut all: Vec<usize> = (0..records).collect();
        let steps = 0..records.div_ceil(batch);
        match kind {
            LoaderKind::Sampler(SamplerKind::Poisson) => {
                let mut one =
                    |_| all.iter().copied().filter(|_| draws.uniform() < rate).collect::<Vec<_>>();
                return steps.map(&mut one).collect();
            }
            LoaderKind::Sampler(SamplerKind::FixedSize) => {
                let mut one = |_| {
                    draws.shuffle(&mut all);
                    all[..batch].to_vec()
                };
                return steps.map(&mut one).collect();
            }
            LoaderKind::Other(OtherBatches::WithReplacement) => {
                let mut one = |_| (0..batch).map(|_| draws.below(records)).collect::<Vec<_>>();
                return steps.map(&mut one).collect();
            }
            LoaderKind::Sampler(SamplerKind::BatchThenShuffle) => {
                let mut batches: Vec<Vec<usize>> = all.chunks(batch).map(<[_]>::to_vec).collect();
                draws.shuffle(&mut batches);
                return batches;
            }
            LoaderKind::Sampler(SamplerKind::PersistentShuffle) => all.clone_from(&one_order),
            LoaderKind::Sampler(SamplerKind::PartialShuffle) => {
                all.chunks_mut(buffer).for_each(|block| draws.shuffle(block));
            }
            LoaderKind::Sampler(SamplerKind::SlidingBuffer) => {
                let mut inside: Vec<usize> = all.drain(..buffer).collect();
                let mut order = Vec::new();
                while !inside.is_empty() {
                    let at = draws.below(inside.len());
                    order.push(inside.swap_remove(at));
                    inside.extend((!all.is_empty()).then(|| all.remove(0)));
                }
                all = order;
            }
            LoaderKind::Sampler(SamplerKind::Deterministic) => {}
            _ => draws.shuffle(&mut all),
        }
        all.chunks(batch).map(<[_]>::to_vec).collect()
    });
    Drawn { records, batch, rate, buffer, epochs: epochs.collect() }
}

const POISSON: LoaderKind = LoaderKind::Sampler(SamplerKind::Poisson);
const SHUFFLE: LoaderKind = LoaderKind::Sampler(SamplerKind::Shuffle);
const IN_ORDER: LoaderKind = LoaderKind::Sampler(SamplerKind::Deterministic);
const PERSISTENT: LoaderKind = LoaderKind::Sampler(SamplerKind::PersistentShuffle);
const BLOCKS: LoaderKind = LoaderKind::Sampler(SamplerKind::PartialShuffle);
const BUFFER: LoaderKind = LoaderKind::Sampler(SamplerKind::SlidingBuffer);
const WHOLE_BATCHES: LoaderKind = LoaderKind::Sampler(SamplerKind::BatchThenShuffle);
const FIXED: LoaderKind = LoaderKind::Sampler(SamplerKind::FixedSize);
const REPLACED: LoaderKind = LoaderKind::Other(OtherBatches::WithReplacement);
const ONCE: LoaderKind = LoaderKind::Other(OtherBatches::OncePerEpoch);

fn own_kinds_pass() -> Result<(), Failed> {
    for kind in [POISSON, SHUFFLE, IN_ORDER, BLOCKS, BUFFER, FIXED, REPLACED, ONCE] {
        let drawn = simulated(kind, 0.3);
        drawn.agrees_with(kind).map_err(|reason| format!("{kind}: {reason}"))?;
    }
    for once in [SHUFFLE, IN_ORDER, PERSISTENT, BUFFER, WHOLE_BATCHES] {
        simulated(once, 0.3).agrees_with(ONCE).map_err(|reason| format!("{once}: {reason}"))?;
    }
    Ok(())
}

fn other_kinds_are_rejected() -> Result<(), Failed> {
    for (real, documented) in [
        (SHUFFLE, POISSON),
        (FIXED, POISSON),
        (REPLACED, POISSON),
        (POISSON, SHUFFLE),
        (PERSISTENT, SHUFFLE),
        (IN_ORDER, SHUFFLE),
        (BLOCKS, SHUFFLE),
        (BUFFER, SHUFFLE),
        (WHOLE_BATCHES, SHUFFLE),
        (REPLACED, SHUFFLE),
        (SHUFFLE, IN_ORDER),
        (SHUFFLE, BLOCKS),
        (BUFFER, BLOCKS),
        (SHUFFLE, BUFFER),
        (BLOCKS, BUFFER),
        (POISSON, FIXED),
        (REPLACED, FIXED),
        (SHUFFLE, FIXED),
        (SHUFFLE, REPLACED),
        (FIXED, REPLACED),
        (REPLACED, ONCE),
        (FIXED, ONCE),
        (POISSON, ONCE),
    ] {
        let seen = simulated(real, 0.3).agrees_with(documented);
        check(seen.is_err(), format!("{real} passes for {documented}"))?;
    }
    // The rate of batch size over records, where one over the batches is documented.
    let other_rate = Drawn { rate: 0.25, ..simulated(POISSON, 0.3) };
    check(other_rate.agrees_with(POISSON).is_err(), "a rate of 0.3 passes for 0.25")
}
