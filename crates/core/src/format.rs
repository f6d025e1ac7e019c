//! Formats numbers for display.

/// Formats a number in decimals, or in powers of ten if it would have many zeros.
///
/// # Example
/// ```
/// use dpscope_core::format::given;
/// assert_eq!([0.05, 60_000.0, 1e-300].map(given), ["0.05", "60000", "1e-300"]);
/// ```
#[must_use]
pub fn given(value: f64) -> String {
    let is_long = value.is_finite() && value != 0.0 && !(1e-4..1e15).contains(&value.abs());
    // + 0 for the sign of -0
    if is_long { format!("{value:e}") } else { (value + 0.0).to_string() }
}

/// Formats a number with a fixed number of decimals, or in powers of ten if it would have many
/// digits.
///
/// # Example
/// ```
/// use dpscope_core::format::rounded;
/// assert_eq!([rounded(1.0 / 3.0, 2), rounded(1e300, 2)], ["0.33", "1.00e300"]);
/// ```
#[must_use]
pub fn rounded(value: f64, decimals: usize) -> String {
    if value.abs() >= 1e15 { format!("{value:.decimals$e}") } else { format!("{value:.decimals$}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_few_digits() {
        let values = [f64::MAX, f64::MIN, 1e15, 9.9e14, f64::MIN_POSITIVE, f64::NAN, f64::INFINITY];
        for value in values {
            assert!(rounded(value, 4).len() <= 20 && given(value).len() <= 24, "{value:e}");
        }
        assert_eq!([rounded(-0.126, 2), rounded(1e14, 1)], ["-0.13", "100000000000000.0"]);
    }

    #[test]
    fn long_numbers_are_powers_of_ten() {
        let written = [3.0, -0.0, 0.05, 1e-300, -1e300, 60_000.0, f64::NAN, f64::INFINITY];
        let expected = ["3", "0", "0.05", "1e-300", "-1e300", "60000", "NaN", "inf"];
        assert_eq!(written.map(given), expected);
    }
}
