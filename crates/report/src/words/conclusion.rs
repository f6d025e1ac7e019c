//! The conclusion from the claim of Poisson accounting and the bounds of a sampler.

use dpscope_core::accounting::{BOUNDS, Cost, Kind, KnownBound, deciding_bounds};
use dpscope_core::adjacency::Adjacency;
use dpscope_core::mechanism::SamplerKind;
use dpscope_core::training_check::{CheckVerdict, EpsilonBounds};
use serde::{Deserialize, Serialize};

use super::batches;
use super::one_run::adjacency_in_words;
use crate::number::{bound as shown_bound, confidence, decimals, shown_ratio};

/// What the claim and the bounds of a sampler imply.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Conclusion {
    /// The lower bound that it rests on: the largest proven one, or a drawn one that alone exceeds
    /// the claim.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lower: Option<KnownBound>,
    /// The upper bound that it rests on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub upper: Option<KnownBound>,
    /// How many times the claim is exceeded as shown, rounded down; none where no digit shows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub factor: Option<String>,
    /// For people.
    pub sentence: String,
    /// The reader's own claim; none without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub claim: Option<OwnClaim>,
}

/// A claim of the reader, beside the bounds of a sampler.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OwnClaim {
    /// The claimed ε.
    pub epsilon: f64,
    /// Adjacency of the claim.
    pub adjacency: Adjacency,
    /// What the bounds say of it.
    pub verdict: CheckVerdict,
    /// For people.
    pub sentence: String,
}

impl Conclusion {
    /// The conclusion from each known ε; bounds of other samplers are ignored. The drawn bound is
    /// wrong with probability `significance`. `claim` is the reader's claimed ε and its adjacency; the
    /// claim of Poisson accounting is under add/remove.
    pub fn new(
        sampler: SamplerKind,
        significance: f64,
        claim: Option<(f64, Adjacency)>,
        epsilon: impl Fn(KnownBound) -> Option<f64>,
    ) -> Self {
        let known =
            |bound: KnownBound| Some(Limit { bound, epsilon: epsilon(bound)?, significance });
        let poisson = known(KnownBound::Poisson);
        let claimed = poisson.map(|poisson| poisson.epsilon);
        let lower = largest_lower(sampler, claimed, known);
        let upper = deciding_bounds(sampler)[1].and_then(known);
        let factor = lower.zip(claimed).and_then(|(lower, claimed)| times(lower.epsilon, claimed));
        let sentence = claimed.map_or_else(
            || "Poisson accounting has no value for this setting.".to_owned(),
            |claimed| sentence(sampler, claimed, lower, upper, factor.as_deref()),
        );
        let claim = claim.map(|(claim, adjacency)| {
            let upper = if sampler == SamplerKind::Poisson { poisson } else { upper };
            let lower = largest_lower(sampler, Some(claim), known);
            own_claim(sampler, (claim, adjacency), lower, upper)
        });
        Conclusion {
            lower: lower.map(|limit| limit.bound),
            upper: upper.map(|limit| limit.bound),
            factor,
            sentence,
            claim,
        }
    }
}

/// A bound with its ε.
#[derive(Clone, Copy)]
struct Limit {
    bound: KnownBound,
    epsilon: f64,
    significance: f64,
}

impl Limit {
    fn leaks_at_least(&self, digits: usize) -> String {
        let least = shown_bound(self.epsilon, false, digits);
        let basis = match self.bound.row().cost {
            Cost::Draws => confidence(self.significance) + " confidence",
            _ => "proven".to_owned(),
        };
        let who = match self.bound.row().sampler.truncates() {
            true => "the worst known dataset",
            false => "the worst-case pair",
        };
        format!("{who} leaks at least {least} ({basis})")
    }

    /// Words for the adjacency of an upper bound that does not hold under add/remove as well.
    fn adjacency(&self) -> &'static str {
        if self.bound.row().holds_for_add_remove { "" } else { " under zero-out adjacency" }
    }

    fn leaks_at_most(&self, digits: usize) -> String {
        let (most, adjacency) = (shown_bound(self.epsilon, true, digits), self.adjacency());
        format!("no dataset leaks more than {most}{adjacency} (proven)")
    }

    fn covers(&self, digits: usize) -> String {
        let (most, adjacency) = (shown_bound(self.epsilon, true, digits), self.adjacency());
        format!("holds{adjacency}: no dataset leaks more than {most} (proven)")
    }
}

/// A drawn bound replaces a proven one only where it alone exceeds the claim.
fn largest_lower(
    sampler: SamplerKind,
    claimed: Option<f64>,
    known: impl Fn(KnownBound) -> Option<Limit>,
) -> Option<Limit> {
    let limits = |is_drawn: bool| {
        let rows = BOUNDS.iter().filter(move |row| {
            row.kind == Kind::Lower && row.bounds(sampler) && (row.cost == Cost::Draws) == is_drawn
        });
        rows.filter_map(|row| known(row.bound))
    };
    // of equal bounds the later one names its method
    let larger = |one: Limit, other: Limit| if other.epsilon >= one.epsilon { other } else { one };
    let proven = limits(false).reduce(larger);
    let exceeds = |limit: &Limit| claimed.is_some_and(|claimed| limit.epsilon > claimed);
    if proven.as_ref().is_some_and(exceeds) {
        return proven;
    }
    limits(true).find(exceeds).or(proven)
}

/// How many times a claim a bound is, both as shown beside it with two decimals or as many as show their
/// order; none where no digit shows it.
pub(super) fn times(bound: f64, claim: f64) -> Option<String> {
    if !(claim > 0.0 && bound > claim) {
        return None;
    }
    let ratio = shown_ratio(bound, claim, decimals(claim, bound, 2));
    let shown = [1, 2].map(|digits| shown_bound(ratio, false, digits));
    shown.into_iter().find(|text| text != "1.0" && text != "1.00")
}

fn sentence(
    sampler: SamplerKind,
    claimed: f64,
    lower: Option<Limit>,
    upper: Option<Limit>,
    factor: Option<&str>,
) -> String {
    let digits = lower.map_or(2, |lower| decimals(claimed, lower.epsilon, 2));
    let claim = format!("Poisson accounting claims ε = {}", shown_bound(claimed, true, digits));
    if sampler == SamplerKind::Poisson {
        return format!("{claim}. These batches are Poisson sampled, so the claim is proven.");
    }
    let batches = batches(sampler);
    let least = lower.map(|lower| lower.leaks_at_least(digits));
    let most = upper.map(|upper| upper.leaks_at_most(digits));
    let bounds = match (&least, &most) {
        (Some(least), Some(most)) => format!("{least}, and {most}"),
        (Some(bound), None) | (None, Some(bound)) => bound.clone(),
        (None, None) => return format!("{claim}. No bound for {batches} is available here."),
    };
    let known = bounds_of(sampler, Adjacency::AddRemove, lower, upper);
    let end = match (known.verdict(claimed), factor) {
        (CheckVerdict::Refuted, Some(factor)) => {
            format!("The leakage is at least {factor} times the claim.")
        }
        (CheckVerdict::Refuted, None) => "The leakage exceeds the claim.".to_owned(),
        (CheckVerdict::HoldsAsDescribed, _) => "So the claim is proven.".to_owned(),
        _ if known.holds_for_zero_out_alone(claimed) => {
            "Under zero-out adjacency the claim holds; under add/remove adjacency, that of most \
             accountants, it is neither refuted nor confirmed."
                .to_owned()
        }
        _ if lower.is_some() => "The claim is neither refuted nor confirmed.".to_owned(),
        _ => "Run an audit for a lower bound.".to_owned(),
    };
    format!("{claim}; with {batches}, {bounds}. {end}")
}

/// Bounds for a claim, from bounds of a sampler that are proven under zero-out adjacency.
fn bounds_of(
    sampler: SamplerKind,
    claimed: Adjacency,
    lower: Option<Limit>,
    upper: Option<Limit>,
) -> EpsilonBounds {
    let [lower, upper] = [lower, upper].map(|limit| limit.map(|limit| limit.epsilon));
    EpsilonBounds::new(sampler.into(), (Adjacency::ZeroOut, claimed), lower, upper)
}

fn own_claim(
    sampler: SamplerKind,
    (claim, adjacency): (f64, Adjacency),
    lower: Option<Limit>,
    upper: Option<Limit>,
) -> OwnClaim {
    let digits = lower.map_or(2, |lower| decimals(claim, lower.epsilon, 2));
    let known = bounds_of(sampler, adjacency, lower, upper);
    let verdict = known.verdict(claim);
    let says = match (verdict, lower, upper) {
        (CheckVerdict::Refuted, Some(lower), _) => {
            format!("is refuted: {}", lower.leaks_at_least(digits))
        }
        (CheckVerdict::HoldsAsDescribed, _, Some(upper)) => upper.covers(digits),
        (_, _, Some(upper)) if known.holds_for_zero_out_alone(claim) => format!(
            "is neither refuted nor confirmed under {} adjacency; under zero-out adjacency it holds: \
             no dataset leaks more than {} (proven)",
            adjacency_in_words(adjacency),
            shown_bound(upper.epsilon, true, digits)
        ),
        _ => "is neither refuted nor confirmed by these bounds".to_owned(),
    };
    let sentence = format!("Your claim ε = {} {says}.", shown_bound(claim, true, digits));
    OwnClaim { epsilon: claim, adjacency, verdict, sentence }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dpscope_core::mechanism::SamplerParameter;

    const SETTING: [(KnownBound, f64); 6] = [
        (KnownBound::Poisson, 0.718_04),
        (KnownBound::BallsInBins, 0.6257),
        (KnownBound::ShuffleSum, 0.34),
        (KnownBound::ShuffleMaxSlice, 4.063_15),
        (KnownBound::PairLower, 4.064_15),
        (KnownBound::Deterministic, 4.377_18),
    ];

    fn conclusion(sampler: SamplerKind, changes: &[(KnownBound, f64)]) -> Conclusion {
        Conclusion::new(sampler, 0.05, None, |bound| known(changes, bound))
    }

    fn known(changes: &[(KnownBound, f64)], bound: KnownBound) -> Option<f64> {
        let all = changes.iter().chain(&SETTING);
        all.copied().find(|(known, _)| *known == bound).map(|(_, epsilon)| epsilon)
    }

    fn verdict_under(adjacency: Adjacency, sampler: SamplerKind, claim: f64) -> OwnClaim {
        let epsilon = |bound| known(&[], bound);
        Conclusion::new(sampler, 0.05, Some((claim, adjacency)), epsilon).claim.unwrap()
    }

    fn verdict(sampler: SamplerKind, claim: f64) -> OwnClaim {
        verdict_under(Adjacency::ZeroOut, sampler, claim)
    }

    #[test]
    fn a_bound_under_zero_out_decides_no_add_remove_claim() {
        for (sampler, expected) in [
            (SamplerKind::Shuffle, CheckVerdict::Inconclusive),
            (SamplerKind::Deterministic, CheckVerdict::Inconclusive),
            (SamplerKind::BallsInBins, CheckVerdict::HoldsAsDescribed),
            (SamplerKind::Poisson, CheckVerdict::HoldsAsDescribed),
        ] {
            let found = verdict_under(Adjacency::AddRemove, sampler, 5.0);
            assert_eq!(found.verdict, expected, "{sampler}: {}", found.sentence);
        }
        assert_eq!(
            verdict_under(Adjacency::AddRemove, SamplerKind::Shuffle, 5.0).sentence,
            "Your claim ε = 5.00 is neither refuted nor confirmed under add/remove adjacency; under \
             zero-out adjacency it holds: no dataset leaks more than 4.38 (proven)."
        );
        let above = [(KnownBound::Poisson, 5.0)];
        let headline = conclusion(SamplerKind::Shuffle, &above).sentence;
        let end = "Under zero-out adjacency the claim holds; under add/remove adjacency, that of most \
                   accountants, it is neither refuted nor confirmed.";
        assert!(headline.ends_with(end), "{headline}");
    }

    #[test]
    fn an_own_claim_is_refuted_proven_or_neither() {
        use CheckVerdict::{HoldsAsDescribed, Inconclusive, Refuted};
        use SamplerKind::{BallsInBins, Deterministic, PartialShuffle, Poisson, Shuffle};
        for (sampler, claim, expected) in [
            (Shuffle, 0.0, Refuted),
            (Shuffle, 4.063_149, Refuted),
            (Shuffle, 4.063_15, Refuted), // by draws alone
            (Shuffle, 4.2, Inconclusive),
            (Shuffle, 4.377_18, HoldsAsDescribed),
            (Poisson, 0.718_04, HoldsAsDescribed),
            (Poisson, 0.7, Inconclusive),
            (BallsInBins, 0.63, HoldsAsDescribed),
            (Deterministic, 4.4, HoldsAsDescribed),
            (PartialShuffle, 4.3, Inconclusive),
        ] {
            let found = verdict(sampler, claim);
            assert_eq!(found.verdict, expected, "{sampler}: {}", found.sentence);
        }
        assert_eq!(
            verdict(SamplerKind::Shuffle, 2.0).sentence,
            "Your claim ε = 2.00 is refuted: the worst-case pair leaks at least 4.06 (proven)."
        );
        assert_eq!(
            verdict(SamplerKind::Shuffle, 5.0).sentence,
            "Your claim ε = 5.00 holds under zero-out adjacency: no dataset leaks more than 4.38 (proven)."
        );
        // more decimals, until the claim is shown below the bound
        let close = verdict(SamplerKind::Shuffle, 4.063_1).sentence;
        assert!(close.starts_with("Your claim ε = 4.06310 is refuted"), "{close}");
        let drawn = verdict(SamplerKind::Shuffle, 4.0635).sentence;
        assert!(drawn.contains("95 % confidence"), "{drawn}");
    }

    /// At T = 235, 9.5 times stood beside 0.40 and 3.75.
    #[test]
    fn a_factor_is_at_most_the_ratio_of_the_shown_values() {
        assert_eq!(times(3.7599, 0.3943).as_deref(), Some("9.3"));
        let mut claim = 0.011;
        while claim < 9.0 {
            for bound in [1.013 * claim, 1.9 * claim, claim + 0.3, 11.0 * claim] {
                let digits = decimals(claim, bound, 2);
                let [above, below] = [(bound, false), (claim, true)].map(|(value, is_upper)| {
                    shown_bound(value, is_upper, digits).parse::<f64>().unwrap()
                });
                let factor = times(bound, claim).map_or(0.0, |text| text.parse().unwrap());
                assert!(factor * below <= above * (1.0 + 1e-12), "{factor}: {above} {below}");
            }
            claim *= 1.017;
        }
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
        let times = [5.66, 1.1, 1.09, 1.04, 1.004, 1.0, 0.5].map(|value| times(value, 1.0));
        let texts = times.each_ref().map(|text| text.as_deref().unwrap_or_default());
        assert_eq!(texts, ["5.6", "1.1", "1.09", "1.04", "", "", ""]);
        assert_eq!(super::times(1.0, 0.0), None);
    }

    #[test]
    fn each_sampler_has_a_sentence_with_and_without_values() {
        for sampler in SamplerKind::ALL {
            assert!(conclusion(sampler, &[]).sentence.contains("0.72"));
            let none = Conclusion::new(sampler, 0.05, None, |_| None);
            assert!(none.sentence.contains("no value"));
            let claim = |bound| (bound == KnownBound::Poisson).then_some(1.0);
            let claim = Conclusion::new(sampler, 0.05, None, claim).sentence;
            assert_eq!(claim.contains("No bound"), sampler != SamplerKind::Poisson, "{claim}");
        }
        let subsets = [(KnownBound::FixedSize, 5.08), (KnownBound::FixedSizeLower, 5.0)];
        let fixed = conclusion(SamplerKind::FixedSize, &subsets);
        assert_eq!(fixed.lower, Some(KnownBound::FixedSizeLower));
        assert_eq!(fixed.upper, Some(KnownBound::FixedSize));
        assert!(fixed.sentence.ends_with("The leakage is at least 6.9 times the claim."));
        let with = |parameter: SamplerParameter| {
            let sampler = parameter.samplers().next().unwrap();
            (sampler, deciding_bounds(sampler).map(Option::unwrap))
        };
        let (sampler, [lower, upper]) = with(SamplerParameter::MaxBatchSize);
        let truncated = conclusion(sampler, &[(upper, 3.611), (lower, 0.69)]);
        assert_eq!(truncated.upper, Some(upper));
        let expected = format!(
            "Poisson accounting claims ε = 0.72; with {}, the worst known dataset leaks at least 0.69 \
             (proven), and no dataset leaks more than 3.62 under zero-out adjacency (proven). The claim \
             is neither refuted nor confirmed.",
            batches(sampler)
        );
        assert_eq!(truncated.sentence, expected);
        let (sampler, [_, upper]) = with(SamplerParameter::UsesPerEpoch);
        let above = conclusion(sampler, &[(upper, 0.9)]);
        assert!(above.sentence.ends_with("Run an audit for a lower bound."), "{}", above.sentence);
        let bins = conclusion(SamplerKind::BallsInBins, &[]);
        assert!(bins.sentence.ends_with("So the claim is proven."));
        assert_eq!(conclusion(SamplerKind::PartialShuffle, &[]).lower, None);
    }
}
