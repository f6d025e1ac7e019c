//! Seeds as decimal strings.

use crate::failure::{Failure, FailureKind};

/// The seed in decimal digits, or fresh entropy for an empty text; below 2⁵³.
///
/// # Errors
/// Anything but an integer below 2⁵³; no entropy.
pub fn seed_or_fresh(text: &str) -> Result<u64, Failure> {
    if text.is_empty() {
        let fresh = getrandom::u64().map_err(|_| Failure {
            kind: FailureKind::Internal,
            field: Some("seed"),
            message: "the browser has no source of entropy; set a seed".to_owned(),
        });
        return Ok(fresh? >> 11);
    }
    let is_decimal = text.len() <= 16 && text.bytes().all(|byte| byte.is_ascii_digit());
    let seed = text.parse().ok().filter(|seed| is_decimal && *seed < 1 << 53);
    seed.ok_or_else(|| Failure::input("seed", &["must be an integer below 2^53"]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_are_decimal_and_below_two_to_the_53() {
        assert_eq!(seed_or_fresh("0"), Ok(0));
        assert_eq!(seed_or_fresh("9007199254740991"), Ok((1 << 53) - 1));
        for text in ["9007199254740992", "-1", "+1", "1.5", " 1", "1e3", "x", "00000000000000001"] {
            assert!(seed_or_fresh(text).is_err(), "{text}");
        }
        let (first, second) = (seed_or_fresh("").unwrap(), seed_or_fresh("").unwrap());
        assert!(first < 1 << 53 && first != second);
    }
}
