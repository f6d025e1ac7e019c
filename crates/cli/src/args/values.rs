//! Values of options: numbers, seeds and shards.

use dpscope_engine::Shard;

/// A non-negative integer, also as 1e7 or 10_000_000.
pub(crate) fn count(text: &str) -> Result<u64, String> {
    const LARGEST: u64 = 1 << 53;
    let plain = text.replace('_', "");
    let parsed = plain.parse::<u64>().ok().or_else(|| {
        let value: f64 = plain.parse().ok()?;
        // Beyond 2⁵³ the cast saturates, and the limit refuses it.
        (value.fract() == 0.0 && value >= 0.0).then_some(value as u64)
    });
    match parsed {
        Some(value) if value <= LARGEST => Ok(value),
        Some(_) => Err(format!("`{text}` is too large: the largest value is 2^53")),
        None => Err(format!(
            "`{text}` is not allowed: expected a non-negative integer such as 10000000 or 1e7"
        )),
    }
}

/// As [`count`], at least 1.
pub(crate) fn positive(text: &str) -> Result<u64, String> {
    match count(text)? {
        0 => Err(format!("`{text}` is too small: the smallest value is 1")),
        value => Ok(value),
    }
}

/// Any number; its domain is checked where it is used.
pub(crate) fn number(text: &str) -> Result<f64, String> {
    text.parse()
        .map_err(|_| format!("`{text}` is not a number: expected a value such as 0.5 or 1e-5"))
}

/// A claimed, target or limiting epsilon: a finite number >= 0 in every command.
pub(crate) fn epsilon(text: &str) -> Result<f64, String> {
    let parsed = text.parse().ok().filter(|&value: &f64| value >= 0.0 && value.is_finite());
    // turns -0 into 0
    parsed.map(|value| value + 0.0).ok_or_else(|| {
        format!("`{text}` is not an epsilon: expected a finite number >= 0, such as 0.5 or 8")
    })
}

/// A seed that fits a JSON number and a URL.
pub(crate) fn seed(text: &str) -> Result<u64, String> {
    let parsed = text.parse().ok().filter(|&seed: &u64| seed < 1 << 53);
    parsed.ok_or_else(|| {
        format!("`{text}` is not allowed: expected an integer from 0 and below 2^53")
    })
}

/// A number of epochs, possibly with a fraction.
pub(crate) fn epochs(text: &str) -> Result<f64, String> {
    let parsed = text.replace('_', "").parse().ok();
    let parsed = parsed.filter(|&value: &f64| value > 0.0 && value.is_finite());
    parsed.ok_or_else(|| {
        format!("`{text}` is not allowed: expected a number above 0, such as 10 or 2.5")
    })
}

/// A number strictly between 0 and 1.
pub(crate) fn open_unit(text: &str) -> Result<f64, String> {
    let parsed = text.parse().ok().filter(|&value: &f64| value > 0.0 && value < 1.0);
    parsed.ok_or_else(|| format!("`{text}` is not strictly between 0 and 1"))
}

/// A delta: 0 or more, below 1.
pub(crate) fn delta(text: &str) -> Result<f64, String> {
    let parsed = text.parse().ok().filter(|value| (0.0..1.0).contains(value));
    // turns -0 into 0
    parsed.map(|value: f64| value + 0.0).ok_or_else(|| {
        format!("`{text}` is not a delta: expected 0 (pure DP) or more, and below 1")
    })
}

/// Probability that a bound is wrong, below 0.5.
pub(crate) fn significance(text: &str) -> Result<f64, String> {
    match open_unit(text)? {
        value if value < 0.5 => Ok(value),
        0.5 => Err(format!("`{text}` is too large: the significance must be below 0.5")),
        _ => Err(format!(
            "`{text}` would leave the bound more often wrong than right; the significance is the \
             probability that it is wrong: pass --confidence {text}, or --significance {}",
            one_minus(text).unwrap_or(0.05)
        )),
    }
}

/// The significance of a confidence such as `95%` or `0.95`, above one half.
pub(crate) fn confidence(text: &str) -> Result<f64, String> {
    let significance = match text.strip_suffix('%') {
        Some(percent) => one_minus(&format!("{}e-2", percent.trim_end())),
        None => one_minus(text),
    };
    significance.filter(|&significance| significance > 0.0 && significance < 0.5).ok_or_else(|| {
        format!(
            "`{text}` is not a confidence: expected more than 50% and less than 100%, such as 95%"
        )
    })
}

/// 1 − x to 15 decimals, so that the significance of 0.95 is 0.05.
fn one_minus(text: &str) -> Option<f64> {
    let value: f64 = text.parse().ok()?;
    format!("{:.15}", 1.0 - value).parse().ok()
}

pub(crate) fn small_count(text: &str) -> Result<u32, String> {
    u32::try_from(count(text)?).map_err(|_| format!("`{text}` is too large"))
}

pub(crate) fn batch_size(text: &str) -> Result<u32, String> {
    match small_count(text)? {
        0 => Err("a batch contains at least one record".to_owned()),
        size => Ok(size),
    }
}

/// A shard i/N, where the i-th of those that are counted from 0 is (i+1)/N, written i+1/N.
pub(crate) fn shard(text: &str) -> Result<Shard, String> {
    let invalid =
        || format!("`{text}` is not a shard: expected i/N with 1 <= i <= N, for example 2/8");
    let (index, count) = text.split_once('/').ok_or_else(invalid)?;
    let number = |part: &str| part.trim().parse::<u64>().map_err(|_| invalid());
    let index = match index.strip_suffix("+1") {
        Some(from_zero) => number(from_zero)?.checked_add(1).ok_or_else(invalid)?,
        None => number(index)?,
    };
    let shard = Shard { index, count: number(count)? };
    if (1..=shard.count).contains(&shard.index) { Ok(shard) } else { Err(invalid()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_accept_exponents_and_underscores() {
        for (text, value) in [
            ("1e7", 10_000_000),
            ("10_000", 10_000),
            ("2.5e3", 2500),
            ("0", 0),
            ("9007199254740992", 1 << 53),
        ] {
            assert_eq!(count(text), Ok(value));
        }
        for text in ["", "1.5", "-1", "1e300", "nan", "inf", "ten", "9007199254740993"] {
            assert!(count(text).is_err(), "{text}");
        }
    }

    #[test]
    fn probabilities_and_seeds_outside_their_domain_are_rejected() {
        assert_eq!((open_unit("1e-5"), seed("9007199254740991")), (Ok(1e-5), Ok((1 << 53) - 1)));
        for text in ["0", "1", "-1", "nan", "inf", "", "x"] {
            assert!(open_unit(text).is_err(), "{text}");
        }
        assert_eq!((delta("0"), delta("1e-300")), (Ok(0.0), Ok(1e-300)));
        assert!(delta("-0").is_ok_and(f64::is_sign_positive));
        for text in ["1", "-1e-9", "nan", "inf", "", "x"] {
            assert!(delta(text).is_err(), "{text}");
        }
        assert_eq!((epsilon("0"), epsilon("1e-300"), epsilon("8")), (Ok(0.0), Ok(1e-300), Ok(8.0)));
        for text in ["-1", "-1e-9", "nan", "inf", "-inf", "1e400", "", "x"] {
            assert!(epsilon(text).is_err(), "{text}");
        }
        for text in ["9007199254740992", "-1", "1.5", "", "x"] {
            assert!(seed(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_confidence_is_one_minus_the_significance() {
        let levels =
            [("95%", 0.05), ("0.95", 0.05), ("99.9 %", 0.001), ("0.999999", 1e-6), ("51%", 0.49)];
        for (text, level) in levels {
            assert_eq!(confidence(text), Ok(level), "{text}");
        }
        for text in ["5%", "0.05", "50%", "100%", "1", "95", "-95%", "nan%", "", "%", "x"] {
            assert!(confidence(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_significance_that_is_a_confidence_is_rejected_with_the_remedy() {
        assert_eq!((significance("0.05"), significance("0.49")), (Ok(0.05), Ok(0.49)));
        let message = significance("0.95").unwrap_err();
        assert!(message.ends_with("pass --confidence 0.95, or --significance 0.05"), "{message}");
        for text in ["0.5", "1", "0", "nan"] {
            assert!(significance(text).is_err(), "{text}");
        }
    }

    #[test]
    fn shards_are_numbered_from_one() {
        assert_eq!(shard("2/8"), Ok(Shard { index: 2, count: 8 }));
        assert_eq!([shard("0+1/8"), shard("7+1/8")], [shard("1/8"), shard("8/8")]);
        for text in ["0/8", "9/8", "1", "a/b", "1/0", "-1/3", "1/2/3", "8+1/8", "+1/8", "0+2/8"] {
            assert!(shard(text).is_err(), "{text}");
        }
        assert!(shard("18446744073709551615+1/8").is_err());
    }
}
