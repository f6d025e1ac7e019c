//! The random stream: every word is a pure function of (seed, purpose, stream, position).
//!
//! The generator is ChaCha8 with key = seed (8 bytes, little endian), purpose (4 bytes, little
//! endian), zeros. For an observation the stream is 2·observation + world, and the position counts
//! 32-bit words: the entry index, epoch-major.

pub mod chacha8;
mod content;
mod wide;
mod words;

use crate::adjacency::World;

pub use content::content_seed;
pub use wide::WideNormals;
pub use words::Words;

/// The purpose of random words; two purposes have independent words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum Purpose {
    /// Noise of the observations that are counted.
    AuditNoise = 1,
    /// The target's slots (or inclusions) in the observations that are counted.
    AuditSlots = 2,
    /// Noise of the pilot, which determines histogram edges and thresholds.
    PilotNoise = 3,
    /// The target's slots (or inclusions) in the pilot.
    PilotSlots = 4,
    /// Splits of recorded files into halves and pilots.
    FileSplit = 5,
    /// Tests.
    Test = 6,
    /// Draws of one epoch of the exact pair.
    PairNoise = 7,
    /// Normals in f64 for runs of the exact pair.
    PairRuns = 8,
    /// Batches of a displayed epoch, record by record.
    EpochOrder = 9,
    /// Noise of that epoch.
    EpochNoise = 10,
    /// Order of the records in a training run.
    TrainOrder = 11,
    /// Noise of a training run.
    TrainNoise = 12,
    /// Initial parameters of all training runs.
    TrainInitial = 13,
    /// Direction of a training run's canary.
    TrainCanary = 14,
    /// Synthetic data sets, and the order of the records of a file.
    SyntheticData = 15,
    /// Resamples of a bootstrap.
    Bootstrap = 16,
    /// Coins and scores of simulated one-run audits.
    OneRunAudit = 17,
    /// Coins of the canaries of a training, and the order of their equal scores.
    OneRunCoins = 18,
    /// Halves of the canaries in trainings of an optimisation of canaries.
    MetaSplit = 19,
    /// Initial parameters of these trainings.
    MetaInitial = 20,
    /// Order of the records in these trainings.
    MetaOrder = 21,
    /// Records and labels that canaries start from.
    MetaStart = 22,
    /// Directions of canary clients: stream = canary, blocks of coordinates as vectors.
    CanaryDirection = 23,
    /// Number of canary clients.
    CanaryNumber = 24,
    /// Scores of canaries in simulated noisy sums, and their number.
    NoisySum = 25,
    /// Noise of these sums.
    NoisySumNoise = 26,
    /// Participants of the rounds of a federated training.
    FederatedRounds = 27,
    /// Division of records among the clients of a federated training.
    FederatedPartition = 28,
    /// Noise of the counts of clipped updates.
    FederatedClipping = 29,
    /// Order of the records of a client.
    FederatedOrder = 30,
    /// Initial parameters of a generator of synthetic rows, its student and its teachers.
    GeneratorInitial = 41,
    /// Division of rows among the teachers: stream = identifier of a row.
    GeneratorPartition = 42,
    /// Rows that teachers are trained with.
    GeneratorRows = 43,
    /// Input of the generator in training.
    GeneratorLatent = 44,
    /// Noise of the teachers' votes.
    GeneratorVotes = 45,
    /// Input of the generator for the rows that are released.
    GeneratorOutput = 46,
    /// What only a fault draws.
    GeneratorFault = 47,
    /// Trees of a forest that tells the outputs of two worlds apart: stream = tree.
    GeneratorAttack = 48,
    /// Which real rows synthetic ones are tested on.
    GeneratorUtility = 49,
    /// Canary rows of a generator of synthetic rows, and the order of the data with them.
    GeneratorCanaries = 61,
}

/// The ChaCha key of a seed and purpose.
#[must_use]
pub const fn key(seed: u64, purpose: Purpose) -> [u32; 8] {
    [seed as u32, (seed >> 32) as u32, purpose as u32, 0, 0, 0, 0, 0]
}

/// The stream of an observation in a world; observations above 2⁶³ wrap.
#[must_use]
pub const fn stream_of(world: World, observation: u64) -> u64 {
    observation.wrapping_mul(2).wrapping_add(world.index() as u64)
}

/// Words `first_word`, `first_word` + 1, … of a stream.
///
/// | argument | meaning | domain |
/// |---|---|---|
/// | `seed` | the run's seed | any |
/// | `purpose` | what the words are for | – |
/// | `stream` | 2·observation + world, or any number of the caller | any |
/// | `first_word` | position of `out[0]` in the stream | any |
///
/// # Guarantee
/// Equal to `rand_chacha::ChaCha8Rng` with the same key, stream and word position
/// (`unit::equals_rand_chacha`).
///
/// # Example
/// ```
/// use dpscope_core::random::{Purpose, stream_words};
/// let mut words = [0; 2];
/// stream_words(7, Purpose::Test, 0, 0, &mut words);
/// println!("{words:08x?}");
/// # let mut second = [0; 1];
/// # stream_words(7, Purpose::Test, 0, 1, &mut second);
/// # assert_eq!(second[0], words[1]);
/// ```
#[inline]
pub fn stream_words(seed: u64, purpose: Purpose, stream: u64, first_word: u64, out: &mut [u32]) {
    let key = key(seed, purpose);
    let (mut block, mut skip) = (first_word / 16, (first_word % 16) as usize);
    let mut rest = out;
    while !rest.is_empty() {
        let words = chacha8::block(&key, block, stream);
        let count = rest.len().min(16 - skip);
        let (head, tail) = rest.split_at_mut(count);
        head.copy_from_slice(&words[skip..skip + count]);
        (rest, block, skip) = (tail, block.wrapping_add(1), 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_chacha::ChaCha8Rng;
    use rand_chacha::rand_core::{Rng, SeedableRng};

    fn peer(seed: u64, purpose: Purpose, stream: u64, first_word: u64) -> ChaCha8Rng {
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&seed.to_le_bytes());
        bytes[8..12].copy_from_slice(&(purpose as u32).to_le_bytes());
        let mut rng = ChaCha8Rng::from_seed(bytes);
        rng.set_stream(stream);
        rng.set_word_pos(u128::from(first_word));
        rng
    }

    /// Seeds, streams and positions with all kinds of bit patterns.
    fn cases() -> impl Iterator<Item = (u64, u64, u64)> {
        let spread = |i: u64, odd: u64| (i + 1).wrapping_mul(odd) >> (i % 61);
        (0..500).map(move |i| {
            let position = spread(i, 0xd6e8_feb8_6659_fd93) >> (i % 7 * 8);
            (spread(i, 0x9e37_79b9_7f4a_7c15), spread(i, 0xc2b2_ae3d_27d4_eb4f), position)
        })
    }

    #[test]
    fn equals_rand_chacha() {
        for (seed, stream, position) in cases() {
            let mut words = [0; 37];
            stream_words(seed, Purpose::FileSplit, stream, position, &mut words);
            let mut rng = peer(seed, Purpose::FileSplit, stream, position);
            let expected: [u32; 37] = std::array::from_fn(|_| rng.next_u32());
            assert_eq!(words, expected, "{seed} {stream} {position}");

            // Broken twins: another purpose, the other world's stream, one word further.
            for mut other in [
                peer(seed, Purpose::Test, stream, position),
                peer(seed, Purpose::FileSplit, stream ^ 1, position),
                peer(seed, Purpose::FileSplit, stream, position + 1),
            ] {
                assert_ne!(words, std::array::from_fn(|_| other.next_u32()));
            }
        }
    }

    #[test]
    fn words_are_stable() {
        let mut words = [0; 3];
        stream_words(20_261_121, Purpose::Test, 5, 15, &mut words);
        assert_eq!(words, [2_166_958_972, 2_939_686_074, 2_496_376_896]);
    }
}
