//! Sampling of the rows that are released.

use dpscope_core::random::Words;

use crate::fault::{Fault, FaultSet};
use crate::lanes::Lanes;
use crate::mechanism::draws::fill_latent;
use crate::mechanism::real_rows::Readers;
use crate::mechanism::world::WorldData;
use crate::network::TwoLayers;
use crate::settings::Latent;
use crate::table::{Decoding, Rows};
use crate::trace::Reader;

/// Outputs among which E10 chooses.
const CANDIDATES: usize = 10;

/// Released rows of a run.
pub(super) struct Released {
    pub(super) rows: Rows,
    /// Mean square of the generator's input.
    pub(super) latent: f64,
}

impl Released {
    /// One output per run.
    pub(super) fn sample<'a>(
        data: &WorldData,
        faults: FaultSet,
        generator: &mut TwoLayers,
        parts: impl Iterator<Item = (&'a mut Words, &'a mut Readers)>,
    ) -> Vec<Released> {
        let (mut words, mut readers): (Vec<_>, Vec<_>) = parts.unzip();
        let candidates = if faults.has(Fault::E10) { CANDIDATES } else { 1 };
        let mut best: Vec<Option<(f64, Released)>> = words.iter().map(|_| None).collect();
        for _ in 0..candidates {
            let (z, x) = candidate(data, faults, generator, &mut words, &mut readers);
            for (lane, best) in best.iter_mut().enumerate() {
                let squares: f64 = z.iter().map(|z| z.0[lane] * z.0[lane]).sum();
                let x: Vec<f64> = x.iter().map(|x| x.0[lane]).collect();
                let distance = match candidates {
                    1 => 0.0,
                    _ => distance_of_means(data, &x, readers[lane]),
                };
                if best.as_ref().is_none_or(|(other, _)| distance < *other) {
                    let rows = decode(data, faults, &x);
                    let latent = squares / z.len() as f64;
                    *best = Some((distance, Released { rows, latent }));
                }
            }
        }
        best.into_iter().flatten().map(|(_, released)| released).collect()
    }
}

fn candidate(
    data: &WorldData,
    faults: FaultSet,
    generator: &mut TwoLayers,
    words: &mut [&mut Words],
    readers: &mut [&mut Readers],
) -> (Vec<Lanes>, Vec<Lanes>) {
    let d = data.width();
    let latent = match (data.settings.latent, faults.has(Fault::E11)) {
        (latent, false) => latent,
        (Latent::Uniform, true) => Latent::Normal,
        (Latent::Normal, true) => Latent::Uniform,
    };
    let mut z = vec![Lanes::ZERO; data.settings.rows as usize * d];
    fill_latent(words.iter_mut().map(|words| &mut **words), latent, &mut z);
    if faults.has(Fault::O6) {
        let count = data.rows.len().max(1);
        readers.iter_mut().for_each(|readers| data.rows.note(Reader::Generator, readers));
        for (row, z) in z.chunks_exact_mut(d).enumerate() {
            z[d - 1].0.fill(data.label_code(row % count));
        }
    }
    let mut x = vec![Lanes::ZERO; z.len()];
    generator.generate(&z, &mut x);
    (z, x)
}

pub(super) fn decode(data: &WorldData, faults: FaultSet, x: &[f64]) -> Rows {
    let decoding = match () {
        () if faults.has(Fault::U5) => Decoding::Scaled,
        () if faults.has(Fault::T5) => Decoding::Truncated,
        () => Decoding::Rounded,
    };
    let mut rows = data.encoding.decode(x, decoding);
    let count = data.rows.len().max(1);
    let columns = rows.columns;
    for (at, row) in rows.values.chunks_exact_mut(columns).enumerate() {
        if let Some((label, value)) = data.label_of(at % count) {
            row[label] = value;
        }
    }
    rows
}

/// Sum of the squared differences between the column means of an output and of the real rows (E10).
fn distance_of_means(data: &WorldData, x: &[f64], readers: &mut Readers) -> f64 {
    let d = data.width();
    let mut changes = vec![0.0; d];
    for row in x.chunks_exact(d) {
        let share = d as f64 / x.len() as f64;
        changes.iter_mut().zip(row).for_each(|(change, x)| *change += x * share);
    }
    let share = 1.0 / data.rows.len().max(1) as f64;
    for row in 0..data.rows.len() as u32 {
        let row = data.rows.row(row, Reader::Selection, readers);
        changes.iter_mut().zip(row).for_each(|(change, x)| *change -= x * share);
    }
    changes.iter().map(|change| change * change).sum()
}
