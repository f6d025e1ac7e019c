//! Limits on what a record may contain.

use super::{
    Correlation, NoisePairs, Probe, Replay, ReplayedStep, StepRecord, StepRecordError as Error,
    TensorNoise,
};
use crate::adjacency::Adjacency;

const MOST_STEPS: usize = 10_000;
const MOST_TENSORS: usize = 10_000;
const MOST_CELLS: usize = 1_000_000;
const MOST_PROBES: usize = 1_000;

/// Entries of all tensors: counts below are exact in f64.
const MOST_ENTRIES: u64 = 1_000_000_000_000_000;

/// A sum of powers, a norm or a change may be at most this.
const MOST: f64 = 1e150;

pub(super) fn check(record: &StepRecord) -> Result<(), Error> {
    let steps = record.original.steps.len();
    length("tensors", record.tensors.len(), 1, MOST_TENSORS)?;
    length("original.steps", steps, 1, MOST_STEPS)?;
    length("original.steps × tensors", steps * record.tensors.len(), 1, MOST_CELLS)?;
    length("replays", record.replays.len(), 1, 2)?;
    length("probes", record.probes.len(), 0, MOST_PROBES)?;
    let mut entries = 0_u64;
    for (at, tensor) in record.tensors.iter().enumerate() {
        entries = entries.saturating_add(tensor.size);
        if tensor.size == 0 || entries > MOST_ENTRIES {
            let field = format!("tensors[{at}].size");
            let allowed = "at least 1, and in all at most 1e15";
            return Err(Error::Number { field, value: tensor.size as f64, allowed });
        }
    }
    within("precision", record.precision, [f64::MIN_POSITIVE, 0.1], "above 0, at most 0.1")?;
    positive("noise_multiplier", record.noise_multiplier)?;
    if let Some(accountant) = &record.accountant {
        positive("accountant.noise_multiplier", accountant.noise_multiplier)?;
        positive("accountant.clip_norm", accountant.clip_norm)?;
        positive("accountant.sample_rate", accountant.sample_rate)?;
        positive("accountant.expected_batch_size", accountant.expected_batch_size)?;
    }
    replay("original", &record.original)?;
    replay("control", &record.control)?;
    if let Some(control) = &record.shape_control {
        replay("shape_control", control)?;
    }
    for (at, neighbour) in record.replays.iter().enumerate() {
        let field = format!("replays[{at}].adjacency");
        adjacency(&field, neighbour.adjacency)?;
        if record.replays[..at].iter().any(|other| other.adjacency == neighbour.adjacency) {
            return Err(Error::Adjacency { field, adjacency: neighbour.adjacency });
        }
        replay(&format!("replays[{at}].replay"), &neighbour.replay)?;
    }
    record
        .probes
        .iter()
        .enumerate()
        .try_for_each(|(at, it)| probe(&format!("probes[{at}]"), it))?;
    noise(record)
}

fn replay(path: &str, replay: &Replay) -> Result<(), Error> {
    length(&format!("{path}.steps"), replay.steps.len(), 0, MOST_STEPS)?;
    let mut steps = replay.steps.iter().enumerate();
    steps.try_for_each(|(at, it)| step(&format!("{path}.steps[{at}]"), it))
}

fn step(path: &str, step: &ReplayedStep) -> Result<(), Error> {
    let norms = [
        ("sum_norm", step.sum_norm),
        ("target_norm", step.target_norm),
        ("sum_change", step.sum_change),
        ("other_gradients.change", step.other_gradients.map(|it| it.change)),
        ("release_change", step.release_change),
        ("state.change", step.state.as_ref().map(|it| it.change)),
        // a schedule may begin at 0
        ("learning_rate", step.learning_rate),
    ];
    norms.into_iter().try_for_each(|(name, value)| norm(&format!("{path}.{name}"), value))?;
    let factors = [
        ("scale", step.release_scale),
        ("divisor", step.divisor),
        ("sample_rate", step.sample_rate),
        ("clip_norm", step.clip_norm),
        ("noise_multiplier", step.noise_multiplier),
    ];
    factors.into_iter().try_for_each(|(name, value)| positive(&format!("{path}.{name}"), value))
}

fn probe(path: &str, probe: &Probe) -> Result<(), Error> {
    adjacency(&format!("{path}.adjacency"), probe.adjacency)?;
    norm(&format!("{path}.contribution"), probe.contribution)?;
    let mut rates = probe.learning_rates.into_iter();
    rates.try_for_each(|rate| norm(&format!("{path}.learning_rates"), rate))?;
    let change = probe.other_gradients.map(|it| it.change);
    norm(&format!("{path}.other_gradients.change"), change)
}

fn noise(record: &StepRecord) -> Result<(), Error> {
    let (steps, tensors) = (record.original.steps.len(), record.tensors.len());
    if !record.noise.is_empty() && record.noise.len() != steps {
        let allowed = format!("0 or {steps}, as original.steps");
        return Err(Error::Length { field: "noise".into(), entries: record.noise.len(), allowed });
    }
    for (at, cells) in record.noise.iter().enumerate() {
        let field = || format!("noise[{at}]");
        if !cells.is_empty() && cells.len() != tensors {
            let allowed = format!("0 or {tensors}, as tensors");
            return Err(Error::Length { field: field(), entries: cells.len(), allowed });
        }
        for (place, (cell, tensor)) in cells.iter().zip(&record.tensors).enumerate() {
            let path = || format!("{}[{place}]", field());
            powers(&path, cell, tensor.size as f64)?;
            for (pairs, value) in NoisePairs::ALL.into_iter().zip(cell.correlations()) {
                if let Some(value) = value {
                    correlation(&|| format!("{}.{}", path(), pairs.field()), value, tensor.size)?;
                }
            }
        }
    }
    Ok(())
}

/// Σe², Σe⁴ and the inequalities of Cauchy and Schwarz between them, up to rounding.
fn powers(path: &dyn Fn() -> String, cell: &TensorNoise, size: f64) -> Result<(), Error> {
    let [sum, squares, cubes, fourths] = cell.powers;
    for (place, value) in cell.powers.into_iter().enumerate() {
        let least = if place % 2 == 1 { 0.0 } else { -MOST };
        if !(least..=MOST).contains(&value) {
            let field = format!("{}.powers[{place}]", path());
            return Err(Error::Number { field, value, allowed: "finite; even powers at least 0" });
        }
    }
    let is_consistent = [
        sum * sum <= size * squares * (1.0 + 1e-6),
        squares * squares <= size * fourths * (1.0 + 1e-6),
        fourths <= squares * squares * (1.0 + 1e-6),
        cubes * cubes <= squares * fourths * (1.0 + 1e-6),
    ];
    match is_consistent.iter().position(|&holds| !holds) {
        None => Ok(()),
        Some(_) => Err(Error::Number {
            field: format!("{}.powers[1]", path()),
            value: squares,
            allowed: "the sum of squares of as many numbers as the tensor has, like the other powers",
        }),
    }
}

fn correlation(path: &dyn Fn() -> String, value: Correlation, size: u64) -> Result<(), Error> {
    if value.pairs == 0 || value.pairs > size {
        let field = format!("{}.pairs", path());
        let allowed = "at least 1, and at most the size of the tensor";
        return Err(Error::Number { field, value: value.pairs as f64, allowed });
    }
    within(&format!("{}.value", path()), value.value, [-1.0, 1.0], "in -1 to 1")
}

fn adjacency(path: &str, adjacency: Adjacency) -> Result<(), Error> {
    match adjacency {
        Adjacency::Replace => Err(Error::Adjacency { field: path.to_owned(), adjacency }),
        Adjacency::AddRemove | Adjacency::ZeroOut => Ok(()),
    }
}

fn norm(field: &str, value: Option<f64>) -> Result<(), Error> {
    value.map_or(Ok(()), |value| within(field, value, [0.0, MOST], "in 0 to 1e150"))
}

fn positive(field: &str, value: Option<f64>) -> Result<(), Error> {
    value.map_or(Ok(()), |value| within(field, value, [1e-30, 1e30], "in 1e-30 to 1e30"))
}

fn within(
    field: &str,
    value: f64,
    [least, most]: [f64; 2],
    allowed: &'static str,
) -> Result<(), Error> {
    match (least..=most).contains(&value) {
        true => Ok(()),
        false => Err(Error::Number { field: field.to_owned(), value, allowed }),
    }
}

fn length(field: &str, entries: usize, least: usize, most: usize) -> Result<(), Error> {
    match (least..=most).contains(&entries) {
        true => Ok(()),
        false => Err(Error::Length {
            field: field.to_owned(),
            entries,
            allowed: format!("{least} to {most}"),
        }),
    }
}
