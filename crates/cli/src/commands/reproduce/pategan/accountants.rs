//! ε that published moments accountants claim for votes, beside what holds.

use dpscope_core::accounting::AccountingError;
use dpscope_core::accounting::pate::{NoisyVote, VoteNoise};
use dpscope_core::math;
use dpscope_synth::VoteAccountant;
use serde::Serialize;
use serde_json::{Value, json};

/// Votes of one iteration: 5 steps of the student on 64 rows.
pub(super) const VOTES: u64 = 320;
pub(super) const GAMMA: f64 = 1.0;

const TEACHERS: u32 = 5;
const ORDERS: u32 = 100;
const DELTA: f64 = 1e-5;

/// ε that an accountant claims for votes of one kind, beside what holds.
#[derive(Serialize)]
pub(super) struct ComparedAccountant {
    name: &'static str,
    /// Names of the faults with this accountant.
    faults: Vec<&'static str>,
    /// ε of unanimous votes; none where it has no number.
    unanimous: Option<f64>,
    /// ε of votes with a majority of one; none where it has no number.
    narrow: Option<f64>,
}

impl ComparedAccountant {
    pub(super) fn row(&self) -> Value {
        let mut row = json!(self);
        for (name, epsilon) in [("unanimous_text", self.unanimous), ("narrow_text", self.narrow)] {
            if epsilon.is_none() {
                row[name] = "no number".into();
            }
        }
        row
    }
}

pub(super) fn compared() -> Result<Vec<ComparedAccountant>, AccountingError> {
    use VoteAccountant::{ConditionIgnored, NoLogarithm, OneOrderLess, Valid};
    let vote = NoisyVote::new(TEACHERS, GAMMA, VoteNoise::BothCounts)?;
    let of = |name, faults: &[&'static str], moment: &dyn Fn(u32, u32) -> Moment| {
        Ok(ComparedAccountant {
            name,
            faults: faults.to_vec(),
            unanimous: epsilon(|order| moment(TEACHERS, order))?,
            narrow: epsilon(|order| moment(TEACHERS.div_ceil(2), order))?,
        })
    };
    let published =
        |accountant: VoteAccountant| move |ones, order| accountant.moment(&vote, ones, order);
    let all_votes = vote.votes_epsilon(VOTES, DELTA, ORDERS)?.composed.upper;
    Ok(vec![
        ComparedAccountant {
            name: "composition, any votes",
            faults: Vec::new(),
            unanimous: Some(all_votes),
            narrow: Some(all_votes),
        },
        of("moments, any votes", &[], &|_, order| Ok(vote.moment(order)))?,
        of("moments, these votes", &[], &published(Valid))?,
        of("exact, these votes", &[], &|ones, order| {
            let [forward, reverse] =
                [vote.exact_moment(ones, order)?, vote.exact_reverse_moment(ones, order)?];
            Ok(forward.max(reverse))
        })?,
        of("without the condition on q", &["E7"], &published(ConditionIgnored))?,
        of("one order less", &["S2"], &published(OneOrderLess))?,
        of("without logarithm", &["B1", "N1"], &published(NoLogarithm))?,
    ])
}

type Moment = Result<f64, AccountingError>;

/// min_l (α(l) + ln 1/δ)/l of any numbers; none if one of them is NaN, as in the published code.
fn epsilon(moment: impl Fn(u32) -> Moment) -> Result<Option<f64>, AccountingError> {
    let mut least = f64::INFINITY;
    for order in 1..=ORDERS {
        let moment = moment(order)?;
        if moment.is_nan() {
            return Ok(None);
        }
        least = least.min((VOTES as f64 * moment - math::ln(DELTA)) / f64::from(order));
    }
    Ok(least.is_finite().then_some(least))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accountants_with_faults_claim_less_than_holds() {
        let accountants = compared().unwrap();
        let of =
            |name: &str| accountants.iter().find(|accountant| accountant.name == name).unwrap();
        let (any, exact) = (of("moments, any votes"), of("exact, these votes"));
        // a majority of one has no valid data-dependent moment
        assert_eq!(of("moments, these votes").narrow, any.narrow);
        assert!(of("without the condition on q").narrow < exact.narrow);
        assert!(of("one order less").unanimous < exact.unanimous);
        assert!(of("one order less").narrow < exact.narrow);
        assert!(exact.unanimous <= any.unanimous && exact.narrow <= any.narrow);
        let composed = of("composition, any votes");
        assert!(composed.narrow < any.narrow);
    }
}
