//! Numbers as people read them.

/// A number as it was given, in powers of ten where it would have many zeros.
///
/// # Example
/// ```
/// use dpscope_core::shown::given;
/// assert_eq!([0.05, 60_000.0, 1e-300].map(given), ["0.05", "60000", "1e-300"]);
/// ```
#[must_use]
pub fn given(value: f64) -> String {
    let is_long = value.is_finite() && value != 0.0 && !(1e-4..1e15).contains(&value.abs());
    // + 0 for the sign of -0
    if is_long { format!("{value:e}") } else { (value + 0.0).to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_numbers_are_powers_of_ten() {
        let written = [3.0, -0.0, 0.05, 1e-300, -1e300, 60_000.0, f64::NAN, f64::INFINITY];
        let expected = ["3", "0", "0.05", "1e-300", "-1e300", "60000", "NaN", "inf"];
        assert_eq!(written.map(given), expected);
    }
}
