//! Numbers as a reader sees them: bounds rounded outward, counts grouped.

use dpscope_core::accounting::Kind;
use dpscope_core::format::rounded;

/// A value ≥ 0 with so many decimals, rounded to its safe side; very small and very large ones in powers
/// of ten.
#[must_use]
pub fn plain(value: f64, kind: Kind, digits: usize) -> String {
    let is_small = value > 0.0 && value < 0.05;
    let is_short = digits <= 4 || kind == Kind::Estimate;
    if (is_small && is_short) || (value >= 1e15 && value.is_finite()) {
        return scientific(value, kind);
    }
    match kind {
        Kind::Upper => bound(value, true, digits),
        Kind::Lower => bound(value, false, digits),
        Kind::Estimate => format!("{value:.digits$}"),
    }
}

/// Powers of ten that a float has exactly.
const POWERS: [f64; 23] = [
    1.0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
];

/// The most decimals that a bound is shown with.
const MOST_DECIMALS: usize = 12;

/// A bound from 1e-19 to 1e15 as [`plain`] writes it; one outside is shown as the nearer end, or as ∞.
///
/// By integers, without the formatter of floats, which weighs 20 KiB in a bundle for pages.
#[must_use]
pub fn bound(value: f64, is_upper: bool, digits: usize) -> String {
    if value.is_nan() || (is_upper && value >= 1e15) {
        return if value.is_nan() { "NaN" } else { "∞" }.to_owned();
    }
    let Shown { whole, places, power } = Shown::new(value, is_upper, digits);
    let text = decimal(whole, places);
    if power == 0 { text } else { format!("{text}e-{power}") }
}

/// `whole` / 10^`places`.
fn decimal(whole: u64, places: usize) -> String {
    let unit = POWERS[places] as u64;
    let tail = if places == 0 { String::new() } else { format!(".{:0places$}", whole % unit) };
    format!("{}{tail}", whole / unit)
}

/// The fewest decimals, at least `digits`, at which a lower bound above an upper one is above it as shown,
/// too; `digits` where the bounds have the other order or differ by less than can be shown.
#[must_use]
pub fn decimals(upper: f64, lower: f64, digits: usize) -> usize {
    let value = |bound, is_upper, digits| Shown::new(bound, is_upper, digits).value();
    let is_above = |digits: &usize| value(lower, false, *digits) > value(upper, true, *digits);
    let mut more = digits..=MOST_DECIMALS;
    if lower > upper { more.find(is_above).unwrap_or(digits) } else { digits }
}

/// A lower bound divided by an upper one, both as shown with so many decimals: what a reader can check,
/// and never more than their ratio.
#[must_use]
pub fn shown_ratio(lower: f64, upper: f64, digits: usize) -> f64 {
    Shown::new(lower, false, digits).value() / Shown::new(upper, true, digits).value()
}

/// The digits of a bound: `whole` / 10^(`places` + `power`).
struct Shown {
    whole: u64,
    places: usize,
    /// Zero unless the bound is written with a power of ten.
    power: usize,
}

impl Shown {
    #[inline(never)]
    fn new(value: f64, is_upper: bool, digits: usize) -> Self {
        let mut places = digits.min(MOST_DECIMALS);
        let mut power = 0;
        let mut value = value.min(1e15);
        if value > 0.0 && value < 0.05 && (value >= 1e-19 || is_upper) {
            value = value.max(1e-19);
            power = 2;
            while power < 19 && value * POWERS[power] < 1.0 {
                power += 1;
            }
            places = (places.max(4) - 1).min(22 - power);
        }
        // larger whole numbers are not exact in a float
        while places > 0 && value * POWERS[places + power] >= 9e15 {
            places -= 1;
        }
        let mut whole = outward(value, is_upper, POWERS[places + power]);
        if power > 0 && whole as f64 >= POWERS[places + 1] {
            whole /= 10;
            power -= 1;
        }
        Shown { whole, places, power }
    }

    fn value(&self) -> f64 {
        self.whole as f64 / POWERS[self.places + self.power]
    }
}

/// The whole number of 1 / `per_unit` next to a value, on the safe side of it.
fn outward(value: f64, is_upper: bool, per_unit: f64) -> u64 {
    let step = if is_upper { 1.0 } else { -1.0 };
    // the product was rounded, to either side
    let mut shown = (value * per_unit).floor() - step;
    while (shown / per_unit - value) * step < 0.0 {
        shown += step;
    }
    shown as u64
}

/// A value ≥ 0 with three decimals and a power of ten, rounded to its safe side.
#[must_use]
pub fn scientific(value: f64, kind: Kind) -> String {
    let nearest = format!("{value:.3e}");
    if is_safe(&nearest, value, kind) {
        return nearest;
    }
    let Some((mantissa, power)) = nearest.split_once('e') else { return nearest };
    let change = if kind == Kind::Upper { 0.001 } else { -0.001 };
    let moved = mantissa.parse::<f64>().map(|mantissa| format!("{:.3}e{power}", mantissa + change));
    // written anew, as the step may have crossed a power of ten
    let moved = moved.ok().and_then(|text| text.parse::<f64>().ok());
    moved.map_or(nearest, |value| format!("{value:.3e}"))
}

fn is_safe(shown: &str, value: f64, kind: Kind) -> bool {
    shown.parse::<f64>().is_ok_and(|shown| match kind {
        Kind::Upper => shown >= value,
        Kind::Lower => shown <= value,
        Kind::Estimate => true,
    })
}

/// An upper limit of a rate as text, rounded up to five digits.
#[must_use]
pub fn up(limit: f64) -> String {
    let shown = format!("{limit:.4e}");
    match shown.parse::<f64>() {
        Ok(rounded) if rounded < limit => {
            let digits = shown.split('e').nth(1).and_then(|e| e.parse::<i32>().ok());
            let unit = digits.and_then(|e| format!("1e{}", e - 4).parse::<f64>().ok());
            format!("{:.4e}", rounded + unit.unwrap_or(0.0))
        }
        _ => shown,
    }
}

/// A δ in powers of ten, or 0.
#[must_use]
pub fn delta(value: f64) -> String {
    if value == 0.0 { "0".to_owned() } else { format!("{value:e}") }
}

/// A number of things: 1 event, 2 events.
#[must_use]
pub fn counted(number: u64, thing: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {thing}{plural}", grouped(number))
}

/// 1234567 as 1,234,567.
#[must_use]
pub fn grouped(value: u64) -> String {
    let digits = value.to_string();
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// 1234567 as 1.2 M.
#[must_use]
pub fn short(rate: f64) -> String {
    match rate {
        r if r >= 1e9 => format!("{:.2} G", r / 1e9),
        r if r >= 1e6 => format!("{:.1} M", r / 1e6),
        r if r >= 1e3 => format!("{:.1} k", r / 1e3),
        r => format!("{r:.1}"),
    }
}

/// A significance of 0.05 as 95 %: never more than it is, with at most six decimals.
#[must_use]
pub fn confidence(significance: f64) -> String {
    // rounded up, but for the rounding of the product itself
    let risk = (significance * 1e8 - 1e-4).ceil();
    let mut held = (1e8 - risk.max(1.0)) as u64;
    let mut places = 6;
    while places > 0 && held.is_multiple_of(10) {
        held /= 10;
        places -= 1;
    }
    let more = if risk < 1.0 || significance < 1e-8 { "more than " } else { "" };
    format!("{more}{} %", decimal(held, places))
}

/// With four decimals and a sign.
#[must_use]
pub fn signed(value: f64) -> String {
    let sign = if value.is_sign_negative() { "" } else { "+" };
    format!("{sign}{}", rounded(value, 4))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_shown_on_their_safe_side() {
        let values = [0.718_022_8, 4.063_153_5, 349.804_809, 1e-5, 3.002_5e-4, 0.05, 9.999_99, 0.0];
        for value in values {
            for digits in [2, 4] {
                let [low, high] = [Kind::Lower, Kind::Upper].map(|kind| {
                    let shown = [plain(value, kind, digits), scientific(value, kind)];
                    shown.map(|text| text.parse::<f64>().unwrap())
                });
                let margin = if digits == 2 { 0.011 } else { 1.1e-4 };
                for place in 0..2 {
                    assert!(
                        low[place] <= value && value <= high[place],
                        "{value}: {low:?} {high:?}"
                    );
                    assert!(high[place] - low[place] <= margin + 0.003 * value, "{value}");
                }
            }
        }
        assert_eq!(plain(0.718_022_8, Kind::Upper, 4), "0.7181");
        assert_eq!(plain(8.3e-4, Kind::Lower, 4), "8.300e-4");
        assert_eq!(plain(1.0001e300, Kind::Upper, 4), "1.001e300");
        assert_eq!(scientific(9.999_9e-4, Kind::Upper), "1.000e-3");
    }

    #[test]
    fn bounds_are_written_as_by_the_formatter_of_floats() {
        let next = |value: &f64| Some(value * 1.0127).filter(|value| *value < 1e11);
        let ladder = std::iter::successors(Some(1e-18), next);
        let values = [0.0, 1.0, 0.05, 1e-3, 9.999_9e-4, 0.718_022_8, 4.063_153_5, 12.5, 1e-5];
        for value in ladder.chain(values) {
            for (kind, is_upper) in [(Kind::Upper, true), (Kind::Lower, false)] {
                for digits in [0, 1, 2, 4] {
                    let shown = bound(value, is_upper, digits);
                    if value > 0.0 && value < 0.05 {
                        // below a power of ten, `scientific` moves a lower bound ten units down
                        let wide = scientific(value, kind);
                        assert!(shown == wide || wide.contains("9.990e"), "{value:e}: {shown}");
                    }
                    assert!(is_safe(&shown, value, kind), "{value:e}: {shown}");
                    let nearest: f64 = format!("{value:.digits$}").parse().unwrap();
                    let change = (shown.parse::<f64>().unwrap() - nearest).abs();
                    assert!(change <= 1.001 / POWERS[digits] + 1e-12 * value, "{value:e}: {shown}");
                }
            }
        }
        assert_eq!([0.0, 1e-30].map(|value| bound(value, false, 2)), ["0.00", "0.00"]);
        assert_eq!([1e-30, f64::INFINITY].map(|value| bound(value, true, 2)), ["1.000e-19", "∞"]);
    }

    #[test]
    fn shown_bounds_keep_their_order() {
        // claim and lower bound of σ = 5, T = 100, and pairs that are closer
        let pairs = [(0.0627, 0.0661), (0.0499, 0.0501), (1.0, 1.000_000_1), (3e-9, 3.000_1e-9)];
        for (upper, lower) in pairs {
            for digits in [0, 2, 4] {
                let digits = decimals(upper, lower, digits);
                let [above, below] = [(lower, false), (upper, true)].map(|(value, is_upper)| {
                    let shown = bound(value, is_upper, digits);
                    assert!(
                        shown.parse::<f64>().unwrap().to_bits()
                            == Shown::new(value, is_upper, digits).value().to_bits()
                    );
                    shown.parse::<f64>().unwrap()
                });
                assert!(below >= upper && above <= lower && above > below, "{upper} {lower}");
            }
        }
        assert_eq!(bound(0.0627, true, 2), "0.07");
        assert_eq!(bound(0.0661, false, 2), "0.06");
        assert_eq!(
            [(0.718, 4.063), (4.0, 0.5), (1.0, 1.0)].map(|(u, l)| decimals(u, l, 2)),
            [2; 3]
        );
        assert_eq!(decimals(0.0627, 0.0661, 2), 3);
        assert_eq!(decimals(1.0, 1.0 + 1e-15, 2), 2);
        assert_eq!(decimals(f64::NAN, 1.0, 2), 2);
    }

    #[test]
    fn bounds_are_shown_rounded_outward() {
        for limit in [1.000_000_1e-5, 0.999_999_9, 1.0, 8.732_41e-6, 0.5, 9.999_99e-3] {
            let shown = up(limit).parse::<f64>().unwrap();
            assert!(shown >= limit && shown <= limit * 1.000_2, "{limit}: {shown}");
        }
    }

    #[test]
    fn counts_are_grouped_and_confidence_is_never_overstated() {
        assert_eq!([grouped(0), grouped(999), grouped(1_234_567)], ["0", "999", "1,234,567"]);
        assert_eq!([0.05, 0.001, 0.1].map(confidence), ["95 %", "99.9 %", "90 %"]);
        assert_eq!([1e-8, 1.5e-8].map(confidence), ["99.999999 %", "99.999998 %"]);
        assert_eq!([9e-9, 1e-13, 1e-100].map(confidence), ["more than 99.999999 %"; 3]);
    }
}
