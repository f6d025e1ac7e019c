//! ChaCha8 over lanes, one block each.

use dpscope_core::random::chacha8::block;

use crate::lanes::{LANES, Tile, lane_fn};

#[inline(always)]
fn blocks_body(key: &[u32; 8], block_index: u64, stream: u64, words: &mut Tile<u32>) {
    let key = *key;
    for lane in 0..LANES {
        let out = block(&key, block_index, stream.wrapping_add(2 * lane as u64));
        for (row, word) in words.0.iter_mut().zip(out) {
            row[lane] = word;
        }
    }
}

lane_fn! {
    /// Block `block_index` of the streams stream, stream + 2, …: row i of `words` is word i.
    pub(crate) fn blocks(key: &[u32; 8], block_index: u64, stream: u64, words: &mut Tile<u32>) = blocks_body
}

#[inline(always)]
fn run_of_blocks_body(key: &[u32; 8], first_block: u64, stream: u64, words: &mut Tile<u32>) {
    let key = *key;
    for lane in 0..LANES {
        let out = block(&key, first_block.wrapping_add(lane as u64), stream);
        for (row, word) in words.0.iter_mut().zip(out) {
            row[lane] = word;
        }
    }
}

lane_fn! {
    /// Blocks `first_block`, `first_block` + 1, … of one stream: row i of `words` is word i.
    pub(crate) fn run_of_blocks(key: &[u32; 8], first_block: u64, stream: u64, words: &mut Tile<u32>) =
        run_of_blocks_body
}
