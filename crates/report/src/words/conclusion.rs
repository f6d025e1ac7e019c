//! The conclusion from the claim of Poisson accounting and the bounds of a sampler.

use dpscope_core::mechanism::SamplerKind;
use serde::{Deserialize, Serialize};

use super::batches;
use crate::number::{bound as shown_bound, confidence, decimals};

/// A bound on ε that a conclusion can rest on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum KnownBound {
    /// Poisson accounting: the claim.
    Poisson,
    /// The upper bound of balls-in-bins.
    BallsInBins,
    /// The upper bound of every shuffle.
    Deterministic,
    /// The lower bound from the largest output.
    ShuffleMaxSlice,
    /// The lower bound from the sum of outputs.
    ShuffleSum,
    /// The larger of both.
    ShuffleBest,
    /// The lower bound of a persistent shuffle.
    PersistentShuffle,
    /// The lower bound from draws of the worst-case pair.
    PairLower,
}

/// What the claim and the bounds of a sampler imply.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Conclusion {
    /// The lower bound that it rests on: the largest proven one, or a drawn one that alone exceeds
    /// the claim.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lower: Option<KnownBound>,
    /// The upper bound that it rests on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub upper: Option<KnownBound>,
    /// How many times the claim is exceeded, rounded down; none where no digit shows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub factor: Option<String>,
    /// For people.
    pub sentence: String,
}

impl Conclusion {
    /// The conclusion from each known ε; bounds of other samplers are ignored. The drawn bound is
    /// wrong with probability `significance`.
    pub fn new(
        sampler: SamplerKind,
        significance: f64,
        epsilon: impl Fn(KnownBound) -> Option<f64>,
    ) -> Self {
        let known = |bound: KnownBound| Some((bound, epsilon(bound)?));
        let claimed = epsilon(KnownBound::Poisson);
        let lower = largest_lower(sampler, claimed, known);
        let upper = match sampler {
            SamplerKind::Poisson => None,
            SamplerKind::BallsInBins => known(KnownBound::BallsInBins),
            _ => known(KnownBound::Deterministic),
        };
        let factor = lower.zip(claimed).and_then(|((_, lower), claimed)| times(lower, claimed));
        let sentence = claimed.map_or_else(
            || "Poisson accounting has no value for this setting.".to_owned(),
            |claimed| {
                let basis = |bound| match bound {
                    KnownBound::PairLower => format!("{} confidence", confidence(significance)),
                    _ => "proven".to_owned(),
                };
                let lower = lower.map(|(bound, epsilon)| (epsilon, basis(bound)));
                let upper = upper.map(|(_, epsilon)| epsilon);
                sentence(sampler, claimed, lower, upper, factor.as_deref())
            },
        );
        Conclusion {
            lower: lower.map(|(bound, _)| bound),
            upper: upper.map(|(bound, _)| bound),
            factor,
            sentence,
        }
    }
}

/// A drawn bound replaces a proven one only where it alone exceeds the claim.
fn largest_lower(
    sampler: SamplerKind,
    claimed: Option<f64>,
    known: impl Fn(KnownBound) -> Option<(KnownBound, f64)>,
) -> Option<(KnownBound, f64)> {
    let proven: &[KnownBound] = match sampler {
        SamplerKind::Shuffle | SamplerKind::BatchThenShuffle => {
            &[KnownBound::ShuffleMaxSlice, KnownBound::ShuffleSum, KnownBound::ShuffleBest]
        }
        SamplerKind::PersistentShuffle => &[KnownBound::PersistentShuffle],
        _ => &[],
    };
    let larger = |one: (KnownBound, f64), other: (KnownBound, f64)| {
        if other.1 > one.1 { other } else { one }
    };
    let proven = proven.iter().filter_map(|bound| known(*bound)).reduce(larger);
    let exceeds = |bound: &(KnownBound, f64)| claimed.is_some_and(|claimed| bound.1 > claimed);
    let is_shuffle = sampler == SamplerKind::Shuffle && !proven.is_some_and(|it| exceeds(&it));
    let drawn = if is_shuffle { known(KnownBound::PairLower) } else { None };
    drawn.filter(exceeds).or(proven)
}

/// How many times larger a value is, rounded down; none where no digit shows it.
pub(super) fn times(value: f64, than: f64) -> Option<String> {
    if !(than > 0.0 && value > than) {
        return None;
    }
    let shown = [1, 2].map(|digits| shown_bound(value / than, false, digits));
    shown.into_iter().find(|text| text != "1.0" && text != "1.00")
}

fn sentence(
    sampler: SamplerKind,
    claimed: f64,
    lower: Option<(f64, String)>,
    upper: Option<f64>,
    factor: Option<&str>,
) -> String {
    let digits = lower.as_ref().map_or(2, |(least, _)| decimals(claimed, *least, 2));
    let claim = format!("Poisson accounting claims ε = {}", shown_bound(claimed, true, digits));
    if sampler == SamplerKind::Poisson {
        return format!("{claim}. These batches are Poisson sampled, so the claim is proven.");
    }
    let batches = batches(sampler);
    let least = lower.as_ref().map(|(least, basis)| {
        let least = shown_bound(*least, false, digits);
        format!("the worst-case pair leaks at least {least} ({basis})")
    });
    let most = upper.map(|most| {
        let most = shown_bound(most, true, digits);
        format!("no dataset leaks more than {most} (proven)")
    });
    let bounds = match (&least, &most) {
        (Some(least), Some(most)) => format!("{least}, and {most}"),
        (Some(bound), None) | (None, Some(bound)) => bound.clone(),
        (None, None) => return format!("{claim}. No bound for {batches} is available here."),
    };
    let end = match (factor, &lower) {
        (Some(factor), _) => format!("The leakage is at least {factor} times the claim."),
        (None, Some((least, _))) if *least > claimed => "The leakage exceeds the claim.".to_owned(),
        _ if upper.is_some_and(|most| most <= claimed) => "So the claim is proven.".to_owned(),
        (None, Some(_)) => "The claim is neither refuted nor confirmed.".to_owned(),
        (None, None) => "Run an audit for a lower bound.".to_owned(),
    };
    format!("{claim}; with {batches}, {bounds}. {end}")
}

#[cfg(test)]
mod tests {
    use super::*;

    const SETTING: [(KnownBound, f64); 6] = [
        (KnownBound::Poisson, 0.718_04),
        (KnownBound::BallsInBins, 0.6257),
        (KnownBound::ShuffleSum, 0.34),
        (KnownBound::ShuffleMaxSlice, 4.063_15),
        (KnownBound::PairLower, 4.064_15),
        (KnownBound::Deterministic, 4.377_18),
    ];

    fn conclusion(sampler: SamplerKind, changes: &[(KnownBound, f64)]) -> Conclusion {
        Conclusion::new(sampler, 0.05, |bound| {
            let all = changes.iter().chain(&SETTING);
            all.copied().find(|(known, _)| *known == bound).map(|(_, epsilon)| epsilon)
        })
    }

    #[test]
    fn the_gap_is_rounded_outward_and_a_proof_precedes_draws() {
        let found = conclusion(SamplerKind::Shuffle, &[]);
        assert_eq!(
            found.sentence,
            "Poisson accounting claims ε = 0.72; with shuffled batches, the worst-case pair leaks at \
             least 4.06 (proven), and no dataset leaks more than 4.38 (proven). The leakage is at \
             least 5.6 times the claim."
        );
        assert_eq!(found.factor.as_deref(), Some("5.6"));
        assert_eq!(found.lower, Some(KnownBound::ShuffleMaxSlice));
        assert_eq!(found.upper, Some(KnownBound::Deterministic));
    }

    #[test]
    fn a_drawn_bound_is_used_only_where_it_alone_exceeds_the_claim() {
        let found = conclusion(SamplerKind::Shuffle, &[(KnownBound::ShuffleMaxSlice, 0.5)]);
        assert_eq!(found.lower, Some(KnownBound::PairLower));
        assert!(found.sentence.contains("4.06 (95 % confidence)"));
        let weak = [(KnownBound::ShuffleMaxSlice, 0.3), (KnownBound::PairLower, 0.4)];
        let found = conclusion(SamplerKind::Shuffle, &weak);
        assert_eq!((found.lower, found.factor), (Some(KnownBound::ShuffleSum), None));
        assert!(found.sentence.ends_with("The claim is neither refuted nor confirmed."));
    }

    #[test]
    fn a_claim_below_its_bound_is_shown_below_it() {
        let small = [
            (KnownBound::Poisson, 0.062_65),
            (KnownBound::ShuffleMaxSlice, 0.066_02),
            (KnownBound::ShuffleSum, 0.06),
            (KnownBound::Deterministic, 0.7),
        ];
        let found = conclusion(SamplerKind::Shuffle, &small);
        let start = "Poisson accounting claims ε = 0.063; with shuffled batches, the worst-case pair \
                     leaks at least 0.066";
        assert!(found.sentence.starts_with(start), "{}", found.sentence);
    }

    #[test]
    fn a_gap_too_small_for_a_factor_is_stated() {
        let found = conclusion(SamplerKind::Shuffle, &[(KnownBound::ShuffleMaxSlice, 0.7205)]);
        assert_eq!(found.factor, None);
        assert!(found.sentence.ends_with("The leakage exceeds the claim."));
    }

    #[test]
    fn a_factor_is_stated_only_if_it_exceeds_one() {
        let times = [5.659, 1.1, 1.099, 1.04, 1.004, 1.0, 0.5].map(|value| times(value, 1.0));
        let texts = times.each_ref().map(|text| text.as_deref().unwrap_or_default());
        assert_eq!(texts, ["5.6", "1.1", "1.09", "1.04", "", "", ""]);
        assert_eq!(super::times(1.0, 0.0), None);
    }

    #[test]
    fn each_sampler_has_a_sentence_with_and_without_values() {
        for sampler in SamplerKind::ALL {
            assert!(conclusion(sampler, &[]).sentence.contains("0.72"));
            let none = Conclusion::new(sampler, 0.05, |_| None);
            assert!(none.sentence.contains("no value"));
            let claim = |bound| (bound == KnownBound::Poisson).then_some(1.0);
            let claim = Conclusion::new(sampler, 0.05, claim).sentence;
            assert_eq!(claim.contains("No bound"), sampler != SamplerKind::Poisson, "{claim}");
        }
        let bins = conclusion(SamplerKind::BallsInBins, &[]);
        assert!(bins.sentence.ends_with("So the claim is proven."));
        assert_eq!(conclusion(SamplerKind::PartialShuffle, &[]).lower, None);
    }
}
