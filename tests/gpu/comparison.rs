//! How two lists of numbers compare, and nothing about where they come from.

use std::fmt::Debug;

use libtest_mimic::Failed;

/// The outcome of a comparison; unchecked until `agrees` or `differs` is called.
#[must_use = "a comparison checks nothing until `agrees` or `differs` is called"]
pub(crate) enum Comparison {
    /// Nothing could be compared: the reason.
    Refused(String),
    Agrees,
    /// The worst place with both values.
    Differs(String),
}

/// Value by value, none may differ.
pub(crate) fn exact<T: PartialEq + Debug>(found: &[T], expected: &[T]) -> Comparison {
    if let Some(refused) = mismatch(found.len(), expected.len()) {
        return refused;
    }
    let differing: Vec<usize> =
        (0..found.len()).filter(|&index| found[index] != expected[index]).collect();
    match differing.first() {
        None => Comparison::Agrees,
        Some(&first) => Comparison::Differs(format!(
            "{} of {} differ, first at {first}: {:?} instead of {:?}",
            differing.len(),
            found.len(),
            found[first],
            expected[first],
        )),
    }
}

/// Each within its own tolerance; none of these may be above `class`, the error that is derived for
/// the whole class of values.
pub(crate) fn within(
    found: &[f64],
    expected: &[f64],
    tolerances: &[f64],
    class: f64,
) -> Comparison {
    let lengths = mismatch(found.len(), expected.len());
    if let Some(refused) = lengths.or_else(|| mismatch(tolerances.len(), expected.len())) {
        return refused;
    }
    let mut worst = (0.0, 0);
    for (index, &tolerance) in tolerances.iter().enumerate() {
        if !(tolerance <= class) {
            let reason =
                format!("tolerance {tolerance:e} at {index} is above its class, {class:e}");
            return Comparison::Refused(reason);
        }
        let ratio = (found[index] - expected[index]).abs() / tolerance;
        if !(ratio <= worst.0) {
            worst = (ratio, index);
        }
    }
    match worst {
        (ratio, _) if ratio <= 1.0 => Comparison::Agrees,
        (ratio, index) => Comparison::Differs(format!(
            "worst of {} at {index}: {} instead of {}, {ratio} times its tolerance",
            found.len(),
            found[index],
            expected[index],
        )),
    }
}

fn mismatch(found: usize, expected: usize) -> Option<Comparison> {
    let reason = || format!("{found} values beside {expected}");
    (found != expected || found == 0).then(|| Comparison::Refused(reason()))
}

impl Comparison {
    /// The values agree; else what is wrong with them.
    pub(crate) fn agrees(self, what: &str) -> Result<(), Failed> {
        match self {
            Comparison::Agrees => Ok(()),
            Comparison::Differs(how) | Comparison::Refused(how) => {
                Err(format!("{what}: {how}").into())
            }
        }
    }

    /// A broken twin was compared, and is rejected.
    pub(crate) fn differs(self, what: &str) -> Result<(), Failed> {
        match self {
            Comparison::Differs(_) => Ok(()),
            Comparison::Agrees => Err(format!("the broken twin passes: {what}").into()),
            Comparison::Refused(how) => Err(format!("{what}: {how}").into()),
        }
    }
}

/// Checks of this file itself, which need no adapter.
pub(crate) fn self_check() -> Result<(), Failed> {
    exact(&[1, 2], &[1, 2]).agrees("equal")?;
    exact(&[1, 3], &[1, 2]).differs("one changed")?;
    let tolerances = [0.1; 2];
    within(&[1.0, 2.05], &[1.0, 2.0], &tolerances, 0.1).agrees("close")?;
    within(&[1.0, 2.2], &[1.0, 2.0], &tolerances, 0.1).differs("far")?;
    within(&[1.0, f64::NAN], &[1.0, 2.0], &tolerances, 0.1).differs("not a number")?;
    let refused = [
        exact::<u32>(&[], &[]),
        exact(&[1], &[1, 2]),
        within(&[1.0], &[1.0], &[0.2], 0.1),
        within(&[1.0], &[1.0], &[f64::NAN], 0.1),
        within(&[1.0], &[1.0], &[], 0.1),
    ];
    match refused.iter().position(|comparison| !matches!(comparison, Comparison::Refused(_))) {
        None => Ok(()),
        Some(index) => Err(format!("comparison {index} should be refused").into()),
    }
}
