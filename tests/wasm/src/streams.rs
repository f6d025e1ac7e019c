//! Random words and normals.

use dpscope_core::random::{Purpose, WideNormals, stream_words};
use dpscope_shaders::random::stream_normals;

use crate::Fingerprints;

const PURPOSES: [Purpose; 11] = [
    Purpose::AuditNoise,
    Purpose::AuditSlots,
    Purpose::PilotNoise,
    Purpose::PilotSlots,
    Purpose::FileSplit,
    Purpose::Test,
    Purpose::PairNoise,
    Purpose::PairRuns,
    Purpose::EpochOrder,
    Purpose::EpochNoise,
    Purpose::SyntheticData,
];

/// Seeds and streams on both sides of 32 bits.
const SEEDS: [u64; 4] = [0, 20_261_121, 1 << 32, (1 << 53) - 1];
const STREAMS: [u64; 5] = [0, 1, (1 << 32) - 1, 1 << 32, u64::MAX];
const FIRST_WORDS: [u64; 5] = [0, 5, (1 << 32) - 8, 1 << 36, u64::MAX - 40];

pub(crate) fn collect(found: &mut Fingerprints) {
    for (seed, purpose) in SEEDS.iter().flat_map(|&seed| PURPOSES.map(|purpose| (seed, purpose))) {
        for (&stream, &first) in STREAMS.iter().zip(&FIRST_WORDS) {
            let mut words = [0; 37];
            stream_words(seed, purpose, stream, first, &mut words);
            found.hashed("random words", words.map(u64::from));
        }
        for (stream, count) in [(0, 1), (3, 256), (u64::MAX, 4_001)] {
            let normals = stream_normals(seed, purpose, stream, count);
            found.hashed("normals", normals.iter().map(|z| u64::from(z.to_bits())));
            let mut wide = vec![0.0; count];
            WideNormals::new(seed, purpose, stream).fill(&mut wide);
            found.hashed("wide normals", wide.into_iter().map(f64::to_bits));
        }
    }
}
