//! One block of ChaCha8.
//!
//! Written here, not taken from `rand_chacha`: the kernels inline this function into their lanes.

/// "expand 32-byte k".
const CONSTANTS: [u32; 4] = [0x6170_7865, 0x3320_646e, 0x7962_2d32, 0x6b20_6574];

macro_rules! quarter_round {
    ($s:ident, $a:literal, $b:literal, $c:literal, $d:literal) => {
        $s[$a] = $s[$a].wrapping_add($s[$b]);
        $s[$d] = ($s[$d] ^ $s[$a]).rotate_left(16);
        $s[$c] = $s[$c].wrapping_add($s[$d]);
        $s[$b] = ($s[$b] ^ $s[$c]).rotate_left(12);
        $s[$a] = $s[$a].wrapping_add($s[$b]);
        $s[$d] = ($s[$d] ^ $s[$a]).rotate_left(8);
        $s[$c] = $s[$c].wrapping_add($s[$d]);
        $s[$b] = ($s[$b] ^ $s[$c]).rotate_left(7);
    };
}

macro_rules! double_round {
    ($s:ident) => {
        quarter_round!($s, 0, 4, 8, 12);
        quarter_round!($s, 1, 5, 9, 13);
        quarter_round!($s, 2, 6, 10, 14);
        quarter_round!($s, 3, 7, 11, 15);
        quarter_round!($s, 0, 5, 10, 15);
        quarter_round!($s, 1, 6, 11, 12);
        quarter_round!($s, 2, 7, 8, 13);
        quarter_round!($s, 3, 4, 9, 14);
    };
}

/// One block: 16 words of the key stream.
///
/// State: constants, `key`, `block` (low word first), `stream` (low word first): the layout with a
/// 64-bit counter and a 64-bit nonce.
///
/// # Guarantee
/// The published vectors, and `rand_chacha::ChaCha8Rng`, word for word (`unit::published_blocks`,
/// `crates/core/src/random/mod.rs::equals_rand_chacha`).
///
/// # Reference
/// D. J. Bernstein, "ChaCha, a variant of Salsa20" (2008), 8 rounds.
#[inline(always)]
#[must_use]
pub fn block(key: &[u32; 8], block: u64, stream: u64) -> [u32; 16] {
    #[rustfmt::skip]
    let start = [
        CONSTANTS[0], CONSTANTS[1], CONSTANTS[2], CONSTANTS[3],
        key[0], key[1], key[2], key[3],
        key[4], key[5], key[6], key[7],
        block as u32, (block >> 32) as u32, stream as u32, (stream >> 32) as u32,
    ];
    let mut s = start;
    double_round!(s);
    double_round!(s);
    double_round!(s);
    double_round!(s);
    for i in 0..16 {
        s[i] = s[i].wrapping_add(start[i]);
    }
    s
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(words: [u32; 16]) -> String {
        words.iter().flat_map(|w| w.to_le_bytes()).map(|b| format!("{b:02x}")).collect()
    }

    /// Test vectors TC1 and TC2 (256-bit key, 8 rounds) of draft-strombergson-chacha-test-vectors.
    #[test]
    fn published_blocks() {
        let zero = [0; 8];
        assert_eq!(
            bytes(block(&zero, 0, 0)),
            "3e00ef2f895f40d67f5bb8e81f09a5a12c840ec3ce9a7f3b181be188ef711a1e\
             984ce172b9216f419f445367456d5619314a42a3da86b001387bfdb80e0cfe42"
        );
        assert_eq!(
            bytes(block(&zero, 1, 0)),
            "d2aefa0deaa5c151bf0adb6c01f2a5adc0fd581259f9a2aadcf20f8fd566a26b\
             5032ec38bbc5da98ee0c6f568b872a65a08abf251deb21bb4b56e5d8821e68aa"
        );
        assert_eq!(
            bytes(block(&[1, 0, 0, 0, 0, 0, 0, 0], 0, 0)),
            "cf5ee9a0494aa9613e05d5ed725b804b12f4a465ee635acc3a311de8740489ea\
             289d04f43c7518db56eb4433e498a1238cd8464d3763ddbb9222ee3bd8fae3c8"
        );
    }
}
