//! Seeds as decimal strings.

use crate::failure::{Failure, FailureKind};

/// The seed that is written, or fresh entropy where nothing is; below 2⁵³.
///
/// # Errors
/// Anything but a whole number below 2⁵³; no entropy.
pub fn seed_or_fresh(given: &str) -> Result<u64, Failure> {
    if given.is_empty() {
        let fresh = getrandom::u64().map_err(|_| Failure {
            kind: FailureKind::Internal,
            field: Some("seed".to_owned()),
            message: "the browser gives no entropy; give a seed".to_owned(),
        });
        return Ok(fresh? >> 11);
    }
    let is_decimal = given.len() <= 16 && given.bytes().all(|byte| byte.is_ascii_digit());
    let seed = given.parse().ok().filter(|seed| is_decimal && *seed < 1 << 53);
    seed.ok_or_else(|| Failure::input("seed", "seed must be a whole number below 2^53".to_owned()))
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
