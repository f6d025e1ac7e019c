//! The end of an interval of rejected values.

use crate::math;

/// The largest x ≥ 0 with f(x) < `level`, for an increasing f with values in [0, 1]; 0 if there is none.
///
/// Never above the exact end by more than a rounding of f: the rejected end of the last bracket is
/// returned.
pub(in crate::audit) fn last_below(level: f64, f: impl Fn(f64) -> f64) -> f64 {
    let ln_level = math::ln(level);
    let excess = |x: f64| math::ln(f(x).max(1e-300)) - ln_level;
    let mut low = (0.0, excess(0.0));
    if low.1 >= 0.0 {
        return 0.0;
    }
    let mut high = (1.0, excess(1.0));
    while high.1 < 0.0 {
        if high.0 > 1e6 {
            return high.0;
        }
        low = high;
        high = (2.0 * high.0, excess(2.0 * high.0));
    }
    let (mut weight_low, mut weight_high) = (low.1, high.1);
    for step in 0..200 {
        let width = high.0 - low.0;
        if width <= 2e-14 * (1.0 + high.0) {
            break;
        }
        let guess = low.0 - width * weight_low / (weight_high - weight_low);
        let middle = 0.5 * (low.0 + high.0);
        let x = if step % 4 == 3 || !(guess > low.0 && guess < high.0) { middle } else { guess };
        let value = excess(x);
        // the other end's weight is halved, so that no end stays for ever (Illinois)
        if value < 0.0 {
            low = (x, value);
            (weight_low, weight_high) = (value, 0.5 * weight_high);
        } else {
            high = (x, value);
            (weight_low, weight_high) = (0.5 * weight_low, value);
        }
    }
    low.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_is_found_from_below() {
        for end in [1e-6, 0.3, 1.0, 7.0, 300.0] {
            let found = last_below(0.05, |x| 0.05 * math::exp((x - end) / end));
            assert!(
                found <= end * (1.0 + 1e-15) && found > end - 3e-14 * (1.0 + end),
                "{end} {found}"
            );
        }
        assert_eq!(last_below(0.05, |_| 0.06), 0.0);
    }
}
