//! Seeds as they travel: decimal text below 2⁵³.

use crate::failure::{Failure, FailureKind};

/// The seed of that text; fresh entropy where there is none.
///
/// # Errors
/// Text that is not a whole number below 2⁵³; a browser without entropy.
pub fn seed_or_fresh(text: Option<&str>) -> Result<u64, Failure> {
    let Some(text) = text.filter(|text| !text.is_empty()) else {
        let fresh = getrandom::u64().map_err(|error| {
            let message = format!("the browser gives no entropy ({error}); give a seed");
            Failure::new(FailureKind::Internal, message).of("seed")
        })?;
        return Ok(fresh >> 11);
    };
    let digits = text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok());
    digits.flatten().filter(|&seed: &u64| seed < 1 << 53).ok_or_else(|| {
        let message = "seed must be a whole number from 0 to 9007199254740991, in decimal digits";
        Failure::new(FailureKind::Input, message).of("seed")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_are_decimal_and_below_2_to_the_53() {
        for (text, seed) in [("0", 0), ("7", 7), ("9007199254740991", (1 << 53) - 1)] {
            assert_eq!(seed_or_fresh(Some(text)), Ok(seed));
        }
        for text in ["9007199254740992", "-1", "+1", "1.0", "1e5", " 1", "0x1", "٣", "x"] {
            let refused = seed_or_fresh(Some(text)).unwrap_err();
            assert_eq!(
                (refused.kind, refused.field.as_deref()),
                (FailureKind::Input, Some("seed"))
            );
        }
    }

    #[test]
    fn no_seed_is_a_fresh_one() {
        let fresh = [None, Some("")].map(|text| seed_or_fresh(text).unwrap());
        assert!(fresh[0] != fresh[1] && fresh.iter().all(|&seed| seed < 1 << 53));
    }
}
