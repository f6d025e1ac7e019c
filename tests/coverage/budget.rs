//! How often a check of drawn data may fail although the code is right.

use crate::enumeration::BinomialDistribution;

/// Chance that one comparison of drawn data goes wrong by bad luck.
///
/// Spent once in each [`Misses`] that is judged, about twenty in the suite: new seeds would raise a
/// false alarm less than once in 40,000 times. The seeds are fixed, so no run is flaky; enumerations
/// spend nothing, and the averages of `tightness.rs` stay several standard errors from their limits.
pub(crate) const FALSE_ALARM: f64 = 1e-6;

/// How often something claimed to be rare was seen.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Misses {
    pub(crate) seen: u64,
    pub(crate) runs: u64,
}

impl Misses {
    pub(crate) fn count(&mut self, missed: bool) {
        self.seen += u64::from(missed);
        self.runs += 1;
    }

    /// The data refute "at most `nominal`".
    pub(crate) fn refute(&self, nominal: f64) -> bool {
        BinomialDistribution::new(self.runs, nominal).at_least(self.seen) <= FALSE_ALARM
    }

    /// The data refute "at least `nominal`": more than not being significantly above it.
    pub(crate) fn stay_below(&self, nominal: f64) -> bool {
        BinomialDistribution::new(self.runs, nominal).at_most(self.seen) <= FALSE_ALARM
    }
}

#[test]
fn the_nominal_rate_is_neither_refuted_nor_undercut() {
    let nominal = Misses { seen: 200, runs: 4000 };
    assert!(!nominal.refute(0.05) && !nominal.stay_below(0.05));
    let often = Misses { seen: 280, runs: 4000 };
    assert!(often.refute(0.05) && !often.stay_below(0.05));
    let rarely = Misses { seen: 120, runs: 4000 };
    assert!(!rarely.refute(0.05) && rarely.stay_below(0.05));
}
