//! Moments of noisy votes, as in `pate.json`: the library's, and those of accountants with faults.

use dpscope_core::accounting::AccountingError;
use dpscope_core::accounting::pate::{NoisyVote, VoteNoise, moments_epsilon};
use dpscope_synth::VoteAccountant;

use super::document::{Case, GoldenError};
use super::{Finding, Outcome};

/// Relative error that is allowed.
const ERROR: f64 = 1e-9;

/// What a variant of the golden file computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VoteMoments {
    /// [`NoisyVote::moment`].
    DataIndependent,
    /// [`NoisyVote::exact_moment`].
    Exact,
    /// The larger of [`NoisyVote::exact_moment`] and [`NoisyVote::exact_reverse_moment`].
    ExactBothDirections,
    /// Uses the data-dependent moment wherever q < 1/2.
    ConditionIgnoredBelowHalf,
    /// That of an accountant of synthetic-data generators.
    Accountant(VoteAccountant),
}

impl VoteMoments {
    fn named(name: &str) -> Option<(Self, VoteNoise)> {
        let both = |moments| (moments, VoteNoise::BothCounts);
        let accountant = |accountant| both(Self::Accountant(accountant));
        Some(match name {
            "correct_pate_bound" => accountant(VoteAccountant::Valid),
            "data_independent_two_noise" => both(Self::DataIndependent),
            "exact_two_noise" => both(Self::Exact),
            "exact_two_noise_both_directions" => both(Self::ExactBothDirections),
            "exact_one_noise" => (Self::Exact, VoteNoise::OneCount),
            "data_independent_one_noise" => (Self::DataIndependent, VoteNoise::OneCount),
            "tf_pate2017_qlt_half" => both(Self::ConditionIgnoredBelowHalf),
            "updated" => accountant(VoteAccountant::ConditionIgnored),
            "synthcity" => accountant(VoteAccountant::OneOrderLess),
            "borealis" | "smartnoise" => accountant(VoteAccountant::NoLogarithm),
            _ => return None,
        })
    }

    /// The moment of order l of a vote; NaN where a published accountant has none.
    ///
    /// # Errors
    /// More votes than teachers.
    pub fn moment(self, vote: &NoisyVote, ones: u32, order: u32) -> Result<f64, AccountingError> {
        Ok(match self {
            Self::Accountant(accountant) => accountant.moment(vote, ones, order)?,
            Self::DataIndependent => vote.moment(order),
            Self::Exact => vote.exact_moment(ones, order)?,
            Self::ExactBothDirections => {
                vote.exact_moment(ones, order)?.max(vote.exact_reverse_moment(ones, order)?)
            }
            Self::ConditionIgnoredBelowHalf if minority(vote, ones)? >= 0.5 => vote.moment(order),
            Self::ConditionIgnoredBelowHalf => {
                let moment = VoteAccountant::ConditionIgnored.moment(vote, ones, order)?;
                if moment.is_nan() { vote.moment(order) } else { moment.min(vote.moment(order)) }
            }
        })
    }
}

fn minority(vote: &NoisyVote, ones: u32) -> Result<f64, AccountingError> {
    let probability = vote.probability(ones)?;
    let zeros = vote.teachers() - ones;
    vote.probability(ones.min(zeros)).map(|other| probability.min(other))
}

pub(super) fn evaluate(case: &Case<'_>) -> Result<Vec<Finding>, GoldenError> {
    let count = |case: &Case<'_>, name: &str| {
        let field = case.at(name)?;
        u32::try_from(field.count()?).map_err(|_| field.error("exceeds 2^32"))
    };
    let (teachers, orders) = (count(case, "k")?, count(case, "L")?);
    let (gamma, delta) = (case.at("lambda")?.number()?, case.at("delta")?.number()?);
    let votes: Vec<u32> = case.at("votes_for_1")?.parsed()?;
    let refusal = |error: AccountingError| case.error(&error.to_string());
    let vote = |noise| NoisyVote::new(teachers, gamma, noise).map_err(refusal);
    let both = vote(VoteNoise::BothCounts)?;
    let mut found = Vec::new();
    for (ones, expected) in case.at("q_two_noise")?.entries()? {
        let ones = ones.parse().map_err(|_| expected.error("is not a number of votes"))?;
        let q = minority(&both, ones).map_err(|error| error.to_string());
        found.push(expected.compared(q, |value| ERROR * value)?);
    }
    for (name, expected) in case.at("variants")?.entries()? {
        let Some((variant, noise)) = VoteMoments::named(name) else {
            return Err(expected.error("is not the name of an accountant"));
        };
        let vote = vote(noise)?;
        let moment = |order: u32| {
            let moments = votes.iter().map(|&ones| variant.moment(&vote, ones, order));
            moments.sum::<Result<f64, _>>()
        };
        let moments = (1..=orders).map(moment).collect::<Result<Vec<f64>, _>>().map_err(refusal)?;
        let alpha = expected.at("alpha")?;
        let list = alpha.list()?;
        if list.len() != moments.len() {
            return Err(alpha.error("must have a moment for each order"));
        }
        for (value, &moment) in list.iter().zip(&moments) {
            found.push(if value.is_no_number() {
                let outcome = match moment.is_finite() {
                    true => Outcome::Failed(format!("expected no number, computed {moment}")),
                    false => Outcome::Passed,
                };
                value.finding(0.0, outcome)
            } else {
                value.compared(Ok(moment), |value| ERROR * value)?
            });
        }
        let finite = moments.iter().map(|&m| if m.is_finite() { m } else { f64::INFINITY });
        let epsilon = moments_epsilon(finite, delta).map_err(|error| error.to_string());
        let order = epsilon.clone().map(|found| f64::from(found.order));
        found
            .push(expected.at("eps")?.compared(epsilon.map(|found| found.epsilon), |v| ERROR * v)?);
        found.push(expected.at("l_at_min")?.compared(order, |_| 0.0)?);
    }
    Ok(found)
}
