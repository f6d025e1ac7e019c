//! Coins that are committed before training and can be checked afterwards.

use sha2::{Digest, Sha256};

use crate::npy::{self, Header};
use crate::{ArrayName, FormatError, Limits, Npz};

/// The secret that determines all coins of an audit.
///
/// Coin i is the lowest bit of the first byte of
/// SHA-256("dpscope one-run coin v1" 00 seed nonce i), i as 8 bytes, little-endian.
/// `nonce` are bytes of a third party, published after the commitment; usually none.
///
/// # Example
/// ```
/// use dpscope_formats::CoinSeed;
/// let coins = CoinSeed::new([7; 32]).coins(1_000, &[]);
/// let included = coins.iter().filter(|&&coin| coin).count();
/// assert!((420..580).contains(&included));
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct CoinSeed([u8; 32]);

impl std::fmt::Debug for CoinSeed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("CoinSeed(secret)")
    }
}

impl CoinSeed {
    /// The seed with these bytes, which must come from a cryptographic source.
    #[must_use]
    pub const fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Whether each canary is included.
    #[must_use]
    pub fn coins(&self, canaries: usize, nonce: &[u8]) -> Vec<bool> {
        let hash = self.hash("coin").chain_update(nonce);
        let coin = |index: usize| {
            let digest = hash.clone().chain_update((index as u64).to_le_bytes()).finalize();
            digest[0] & 1 == 1
        };
        (0..canaries).map(coin).collect()
    }

    /// Which member of each set is included: the first 16 bytes of the hash of a coin, little-endian,
    /// modulo s.
    #[must_use]
    pub fn choices(&self, sets: usize, set_size: u32, nonce: &[u8]) -> Vec<u32> {
        let hash = self.hash("coin").chain_update(nonce);
        let choice = |index: usize| {
            let digest = hash.clone().chain_update((index as u64).to_le_bytes()).finalize();
            let number = digest[..16].iter().rev().fold(0, |n, &byte| n << 8 | u128::from(byte));
            (number % u128::from(set_size.max(1))) as u32
        };
        (0..sets).map(choice).collect()
    }

    /// A value that decides between canaries with equal scores, independent of all coins:
    /// SHA-256("dpscope one-run tie v1" 00 seed i).
    #[must_use]
    pub fn tie_breaker(&self, index: u64) -> [u8; 32] {
        self.hash("tie").chain_update(index.to_le_bytes()).finalize().into()
    }

    /// What is published before training: SHA-256("dpscope one-run commitment v1" 00 seed
    /// digest of the canaries, SHA-256(plan)).
    #[must_use]
    pub fn commitment(&self, canaries: &[u8; 32], plan: &[u8]) -> [u8; 32] {
        let hash = self.hash("commitment").chain_update(canaries);
        hash.chain_update(Sha256::digest(plan)).finalize().into()
    }

    /// The secret of each record, uniform on 0 … S − 1: the first 8 bytes x of
    /// SHA-256("dpscope secret v1" 00 seed record 0 attempt), little-endian, modulo S, for the first attempt
    /// whose x is below the largest multiple of S; record, 0 and attempt as 8 bytes each, little-endian.
    #[must_use]
    pub fn secrets(&self, records: u64, values: u64) -> Vec<u64> {
        (0..records).map(|record| self.drawn(record, 0, values)).collect()
    }

    /// R values of a record besides its secret, without replacement: those of attempts 0, 1, … of
    /// [`CoinSeed::secrets`] with 1, 2, … in place of 0, but for values that are known already.
    ///
    /// At most ⌊S/2⌋ are drawn, so few attempts are rejected.
    #[must_use]
    pub fn decoys(&self, record: u64, values: u64, decoys: u64) -> Vec<u64> {
        let mut known = std::collections::BTreeSet::from([self.drawn(record, 0, values)]);
        let mut drawn = Vec::new();
        let mut place = 0;
        while (drawn.len() as u64) < decoys.min(values / 2) {
            place += 1;
            let value = self.drawn(record, place, values);
            if known.insert(value) {
                drawn.push(value);
            }
        }
        drawn
    }

    /// What is published of secrets before training: SHA-256("dpscope secret commitment v1" 00 seed
    /// SHA-256(plan)).
    #[must_use]
    pub fn secret_commitment(&self, plan: &[u8]) -> [u8; 32] {
        let hash = Sha256::new_with_prefix("dpscope secret commitment v1\0").chain_update(self.0);
        hash.chain_update(Sha256::digest(plan)).finalize().into()
    }

    fn drawn(&self, record: u64, place: u64, values: u64) -> u64 {
        let hash = Sha256::new_with_prefix("dpscope secret v1\0").chain_update(self.0);
        let hash = hash.chain_update(record.to_le_bytes()).chain_update(place.to_le_bytes());
        let values = values.max(1);
        let end = u64::MAX - u64::MAX % values; // a multiple of S
        let attempt = |attempt: u64| {
            let digest = hash.clone().chain_update(attempt.to_le_bytes()).finalize();
            digest[..8].iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte))
        };
        (0..).map(attempt).find(|&number| number < end).unwrap_or_default() % values
    }

    fn hash(&self, purpose: &str) -> Sha256 {
        let hash = Sha256::new_with_prefix("dpscope one-run ").chain_update(purpose);
        hash.chain_update(" v1\0").chain_update(self.0)
    }
}

/// Coins as an npy file of bytes, 1 for an included canary: (canaries) of one run, (runs, canaries) of
/// several.
#[must_use]
pub fn write_coins(runs: &[Vec<bool>]) -> Vec<u8> {
    let mut bytes = match runs {
        [coins] => npy::header_with("|u1", &[coins.len()]),
        _ => npy::header_with("|u1", &[runs.len(), runs.first().map_or(0, Vec::len)]),
    };
    bytes.extend(runs.iter().flatten().map(|&coin| u8::from(coin)));
    bytes
}

/// How often each canary of a pool is included, as an npy file of bytes.
#[must_use]
pub fn write_copies(copies: &[u8]) -> Vec<u8> {
    let mut bytes = npy::header_with("|u1", &[copies.len()]);
    bytes.extend(copies);
    bytes
}

/// Values of secrets as an npy file of 64-bit integers: (records), or (records, values of each).
#[must_use]
pub fn write_secrets(rows: &[Vec<u64>]) -> Vec<u8> {
    let columns = rows.first().map_or(0, Vec::len);
    let shape = [rows.len(), columns];
    let mut bytes = npy::header_with("<u8", if columns == 1 { &shape[..1] } else { &shape });
    bytes.extend(rows.iter().flatten().flat_map(|value| value.to_le_bytes()));
    bytes
}

/// Digest of the arrays of canaries: for each, name 00 type 00 shape 00 bytes.
#[derive(Debug, Clone, Default)]
pub struct CanariesDigest(Sha256);

impl CanariesDigest {
    /// The digest so far, continued by an array.
    ///
    /// `descr` is numpy's name of the element type, such as `<f4`; `bytes` are in row-major order.
    #[must_use]
    pub fn with_array(self, name: &str, descr: &str, shape: &[u64], bytes: &[u8]) -> Self {
        let lengths: Vec<String> = shape.iter().map(u64::to_string).collect();
        let header = format!("{name}\0{descr}\0{}\0", lengths.join(","));
        Self(self.0.chain_update(header).chain_update(bytes))
    }

    /// The digest of an npz file, array by array in the order of the file, or of an npy file, as one
    /// array without a name.
    ///
    /// # Errors
    /// A file of another format, arrays in Fortran order, and those of the format's reader.
    pub fn of_file(bytes: &[u8], limits: &Limits) -> Result<[u8; 32], FormatError> {
        let mut digest = Self::default();
        let mut add = |name: &str, (header, data): (Header, Vec<u8>)| {
            let Some(descr) = header.dtype.code().filter(|_| !header.fortran_order) else {
                return Err(FormatError::Damaged {
                    array: ArrayName::of(name),
                    reason: "it is in Fortran order; save np.ascontiguousarray(x)".to_owned(),
                });
            };
            digest = std::mem::take(&mut digest).with_array(name, descr, &header.shape, &data);
            Ok(())
        };
        if bytes.starts_with(npy::MAGIC) {
            limits.file(bytes)?;
            let available_bytes = bytes.len() as u64;
            let mut reader = bytes;
            add("", npy::read_stored(&ArrayName::only(), &mut reader, available_bytes, limits)?)?;
        } else {
            let npz = Npz::open(bytes, limits)?;
            for name in npz.names() {
                add(name, npz.stored(name)?)?;
            }
        }
        Ok(digest.finish())
    }

    /// The digest of all arrays.
    #[must_use]
    pub fn finish(self) -> [u8; 32] {
        self.0.finalize().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn purposes_nonces_and_seeds_separate_hashes() {
        let seed = CoinSeed::new([1; 32]);
        assert_ne!(seed.coins(64, &[]), seed.coins(64, &[9]));
        assert_ne!(seed.coins(64, &[]), CoinSeed::new([2; 32]).coins(64, &[]));
        let ties: Vec<bool> = (0..64).map(|i| seed.tie_breaker(i)[0] & 1 == 1).collect();
        assert_ne!(seed.coins(64, &[]), ties);
        assert_eq!(seed.coins(64, &[])[..10], seed.coins(10, &[])[..]);
    }

    #[test]
    fn written_coins_are_read_back() {
        let coins = CoinSeed::new([3; 32]).coins(100, &[]);
        let read = |runs: &[Vec<bool>]| {
            let read = crate::read_npy(&write_coins(runs), &Limits::default()).unwrap();
            let coins: Vec<bool> = read.data().iter().map(|&value| value != 0.0).collect();
            (read.shape().to_vec(), coins)
        };
        assert_eq!(read(std::slice::from_ref(&coins)), (vec![100], coins.clone()));
        let runs: Vec<Vec<bool>> = coins.chunks(20).map(<[bool]>::to_vec).collect();
        assert_eq!(read(&runs), (vec![5, 20], coins));
    }

    #[test]
    fn every_member_of_a_set_is_chosen_equally_often() {
        let choices = CoinSeed::new([5; 32]).choices(3_000, 3, &[]);
        for member in 0..3 {
            let count = choices.iter().filter(|&&choice| choice == member).count();
            assert!((900..1_100).contains(&count), "{member}: {count}");
        }
        let other = CoinSeed::new([5; 32]).choices(3_000, 3, &[1]);
        assert_ne!(choices, other);
    }

    #[test]
    fn secrets_are_not_printed() {
        assert_eq!(format!("{:?}", CoinSeed::new([7; 32])), "CoinSeed(secret)");
    }

    #[test]
    fn the_digest_of_a_file_is_that_of_its_arrays() {
        let array = crate::Array::new(vec![2, 2], vec![0.5, 1.0, -1.0, 2.0]).unwrap();
        let data: Vec<u8> = array.data().iter().flat_map(|value| value.to_le_bytes()).collect();
        let of_arrays = |names: &[&str]| {
            let add = |digest: CanariesDigest, name: &&str| {
                digest.with_array(name, "<f8", &[2, 2], &data)
            };
            names.iter().fold(CanariesDigest::default(), add).finish()
        };
        let of_file = |bytes: &[u8]| CanariesDigest::of_file(bytes, &Limits::default());
        let npz = crate::write_npz(&[("inputs", &array), ("labels", &array)]).unwrap();
        assert_eq!(of_file(&npz), Ok(of_arrays(&["inputs", "labels"])));
        let npy = crate::write_npy(&array);
        assert_eq!(of_file(&npy), Ok(of_arrays(&[""])));
        let mut changed = npy.clone();
        *changed.last_mut().unwrap() ^= 1;
        assert_ne!(of_file(&changed), of_file(&npy));
        assert!(
            of_file(&npy[..npy.len() - 1]).is_err() && of_file(&[npy, vec![0]].concat()).is_err()
        );
        assert!(of_file(b"0.5,1.0").is_err());
    }

    #[test]
    fn shapes_are_part_of_the_digest() {
        let digest = |shape: &[u64]| {
            CanariesDigest::default().with_array("inputs", "<f4", shape, &[0; 24]).finish()
        };
        assert_ne!(digest(&[2, 3]), digest(&[3, 2]));
    }
}
