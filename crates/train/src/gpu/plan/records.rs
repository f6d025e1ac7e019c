//! The data buffer: initial parameters, labels and packed records.

use dpscope_shaders::train::{Packing, Source};

use crate::data::Packed;
use crate::training::Training;

/// Layout of the data buffer.
#[derive(Debug, Clone, Copy)]
pub(super) struct Records {
    pub(super) source: Source,
    pub(super) labels: u32,
}

/// Packs initial parameters, labels and records, each record starting at a word boundary.
pub(super) fn pack_data(training: &Training) -> (Vec<u32>, Records) {
    let count = training.batches.records() as usize;
    let features = training.network.inputs();
    let mut data: Vec<u32> = training.initial.iter().map(|value| value.to_bits()).collect();
    let labels = data.len() as u32;
    data.extend(&training.examples.labels()[..count]);
    let first = data.len() as u32;
    let packing = match training.examples.packed() {
        Packed::Bits { row_bytes, bytes } => {
            append(bytes, row_bytes, count, &mut data);
            Packing::Bits
        }
        Packed::Bytes(bytes) => {
            append(bytes, features, count, &mut data);
            Packing::Bytes
        }
        Packed::Floats(values) => {
            data.extend(values[..count * features].iter().map(|value| value.to_bits()));
            Packing::Floats
        }
    };
    (data, Records { source: Source::Records { packing, first }, labels })
}

fn append(bytes: &[u8], row: usize, count: usize, data: &mut Vec<u32>) {
    for row in bytes.chunks_exact(row).take(count) {
        data.extend(
            row.chunks(4)
                .map(|part| part.iter().rev().fold(0, |word, &byte| word << 8 | u32::from(byte))),
        );
    }
}
