//! The data buffer: initial parameters, labels and packed records.

use dpscope_shaders::train::{Packing, Source};

use crate::data::{Examples, Packed};

/// Layout of the data buffer.
#[derive(Debug, Clone, Copy)]
pub(super) struct Records {
    pub(super) source: Source,
    pub(super) labels: u32,
}

/// Packs initial parameters, then labels and records: of each part as many as stated, each record
/// starting at a word boundary. Parts that are packed differently become f32 values.
pub(super) fn pack(initial: &[f32], parts: &[(&Examples, usize)]) -> (Vec<u32>, Records) {
    let mut data: Vec<u32> = initial.iter().map(|value| value.to_bits()).collect();
    let labels = data.len() as u32;
    parts.iter().for_each(|(examples, count)| data.extend(&examples.labels()[..*count]));
    let first = data.len() as u32;
    let kind = |(examples, _): &(&Examples, usize)| packing(examples);
    let common = parts.first().map(kind);
    let packing = common.filter(|common| parts.iter().all(|part| kind(part) == *common));
    let packing = packing.unwrap_or(Packing::Floats);
    for (examples, count) in parts {
        append(examples, *count, packing, &mut data);
    }
    (data, Records { source: Source::Records { packing, first }, labels })
}

fn packing(examples: &Examples) -> Packing {
    match examples.packed() {
        Packed::Bits { .. } => Packing::Bits,
        Packed::Bytes(_) => Packing::Bytes,
        Packed::Floats(_) => Packing::Floats,
    }
}

fn append(examples: &Examples, count: usize, packing: Packing, data: &mut Vec<u32>) {
    match (packing, examples.packed()) {
        (Packing::Bits, Packed::Bits { row_bytes, bytes }) => {
            append_bytes(bytes, row_bytes, count, data);
        }
        (Packing::Bytes, Packed::Bytes(bytes)) => {
            append_bytes(bytes, examples.shape().len(), count, data);
        }
        _ => {
            let mut values = Vec::with_capacity(count * examples.shape().len());
            (0..count as u32).for_each(|record| {
                examples.append(record, &mut values);
            });
            data.extend(values.into_iter().map(f32::to_bits));
        }
    }
}

fn append_bytes(bytes: &[u8], row: usize, count: usize, data: &mut Vec<u32>) {
    for row in bytes.chunks_exact(row).take(count) {
        data.extend(
            row.chunks(4)
                .map(|part| part.iter().rev().fold(0, |word, &byte| word << 8 | u32::from(byte))),
        );
    }
}
