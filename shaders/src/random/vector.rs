//! Long vectors of normals: the noise of one step on every parameter of a model.

use super::chacha8;
use super::normal::{self, Lanes, Origin};
use dpscope_core::random::{Purpose, key};

use crate::lanes::{InstructionSet, LANES, ROWS, Tile};

/// Entries that are drawn together.
const TILE: usize = ROWS * LANES;

/// The word of a stream from which entry `entry` of vector `vector` comes, where vectors have
/// `length` entries.
///
/// Entries lie 64 blocks side by side: entry 64·r + l of a tile of 1024 is word r of block l, so
/// that neighbours are drawn by neighbours among lanes, or among the threads of a GPU.
#[must_use]
pub const fn entry_word(vector: u64, length: usize, entry: usize) -> u64 {
    let tiles = vector * length.div_ceil(TILE) as u64 + (entry / TILE) as u64;
    let (row, lane) = (entry % TILE / LANES, entry % LANES);
    (tiles * LANES as u64 + lane as u64) * ROWS as u64 + row as u64
}

/// Vectors of independent standard normals, all of one length, from one stream.
///
/// Entry j of vector v is one of the two normals of the words at [`entry_word`]: rows 2i and 2i + 1
/// of a block are a pair, as in [`stream_normals`](super::stream_normals), with its numerics.
///
/// # Guarantee
/// Each entry is the one that its words give, whatever else is drawn and on every instruction set
/// (`unit::entries_are_those_of_their_words`).
#[derive(Debug)]
pub struct VectorNormals {
    isa: InstructionSet,
    key: [u32; 8],
    stream: u64,
    words: Tile<u32>,
    normals: Tile<f32>,
}

impl VectorNormals {
    /// The normals of a stream, for example 2·run + world.
    #[must_use]
    pub fn new(seed: u64, purpose: Purpose, stream: u64) -> Self {
        let (isa, key) = (InstructionSet::detect(), key(seed, purpose));
        VectorNormals { isa, key, stream, words: Tile::new(), normals: Tile::new() }
    }

    /// These normals on another instruction set; they have the same bits.
    #[must_use]
    pub fn with_instruction_set(mut self, isa: InstructionSet) -> Self {
        self.isa = isa;
        self
    }

    /// Goes on with another stream.
    pub fn set_stream(&mut self, stream: u64) {
        self.stream = stream;
    }

    /// Adds `factor` times vector `vector` to `out`.
    pub fn add(&mut self, vector: u64, factor: f32, out: &mut [f32]) {
        let tiles = out.len().div_ceil(TILE) as u64;
        for (tile, out) in out.chunks_mut(TILE).enumerate() {
            let first_block = (vector * tiles + tile as u64) * LANES as u64;
            self.draw(first_block, out.len().div_ceil(2 * LANES));
            for (out, normals) in out.chunks_mut(LANES).zip(&self.normals.0) {
                for (out, normal) in out.iter_mut().zip(normals) {
                    *out += factor * normal;
                }
            }
        }
    }

    fn draw(&mut self, block: u64, pairs: usize) {
        let VectorNormals { isa, ref key, stream, .. } = *self;
        chacha8::run_of_blocks(isa, key, block, stream, &mut self.words);
        let origin = Origin { key, block, stream, lanes: Lanes::Blocks };
        normal::normals(isa, &self.words, pairs, origin, &mut self.normals);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::stream_normals;

    fn vector(isa: InstructionSet, vector: u64, length: usize) -> Vec<f32> {
        let mut out = vec![0.0; length];
        let normals = VectorNormals::new(7, Purpose::Test, 5);
        normals.with_instruction_set(isa).add(vector, 1.0, &mut out);
        out
    }

    #[test]
    fn entries_are_those_of_their_words() {
        // far enough for radius words that are extended
        let words = entry_word(41, 30_000, 0) as usize;
        let all = stream_normals(7, Purpose::Test, 5, words);
        for isa in InstructionSet::available() {
            for length in [1, 63, 64, 65, 1023, 1024, 1025, 30_000] {
                for place in [0, 1, 40] {
                    let seen = vector(isa, place, length);
                    let word = |entry| entry_word(place, length, entry) as usize;
                    let wrong = (0..length).find(|&entry| seen[entry] != all[word(entry)]);
                    assert_eq!(wrong, None, "{isa:?} {length} {place}");
                    // broken twin: the neighbour's word
                    let same = (1..length).filter(|&entry| seen[entry] == all[word(entry - 1)]);
                    assert!(same.count() < 3, "{isa:?} {length} {place}");
                }
            }
        }
    }

    #[test]
    fn no_two_entries_share_a_word() {
        let mut seen = std::collections::HashSet::new();
        for vector in 0..3 {
            assert!((0..2500).all(|entry| seen.insert(entry_word(vector, 2500, entry))));
        }
    }

    #[test]
    fn normals_are_added_times_a_factor() {
        let mut out = [1.0; 100];
        VectorNormals::new(7, Purpose::Test, 5).add(3, -2.0, &mut out);
        let plain = vector(InstructionSet::PORTABLE, 3, 100);
        assert!(out.iter().zip(plain).all(|(out, z)| *out == 1.0 - 2.0 * z));
    }
}
