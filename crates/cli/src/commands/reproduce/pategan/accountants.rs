//! ε that published moments accountants claim for votes, beside what holds.

use dpscope_core::accounting::AccountingError;
use dpscope_core::accounting::pate::{NoisyVote, VoteNoise};
use dpscope_core::math;
use dpscope_synth::VoteAccountant;
use serde_json::{Value, json};

/// Votes of one iteration: 5 steps of the student on 64 rows.
pub(super) const VOTES: u64 = 320;
pub(super) const GAMMA: f64 = 1.0;

const TEACHERS: u32 = 5;
const ORDERS: u32 = 100;
const DELTA: f64 = 1e-5;

/// ε of unanimous votes and of votes with a majority of one, by accountant, with the names of the faults
/// that implementations with it have; none where it has no number.
pub(super) fn compared() -> Result<Vec<Value>, AccountingError> {
    use VoteAccountant::{ConditionIgnored, NoLogarithm, OneOrderLess, Valid};
    let vote = NoisyVote::new(TEACHERS, GAMMA, VoteNoise::BothCounts)?;
    let row = |name: &str, faults: &[&str], unanimous: Option<f64>, narrow: Option<f64>| {
        let mut row = json!({ "name": name, "faults": faults });
        for (name, epsilon) in [("unanimous", unanimous), ("narrow", narrow)] {
            row[name] = json!(epsilon);
            if epsilon.is_none() {
                row[format!("{name}_text")] = "no number".into();
            }
        }
        row
    };
    let of = |name, faults: &[&str], moment: &dyn Fn(u32, u32) -> Moment| {
        let unanimous = epsilon(|order| moment(TEACHERS, order))?;
        let narrow = epsilon(|order| moment(TEACHERS.div_ceil(2), order))?;
        Ok(row(name, faults, unanimous, narrow))
    };
    let published =
        |accountant: VoteAccountant| move |ones, order| accountant.moment(&vote, ones, order);
    let all_votes = Some(vote.votes_epsilon(VOTES, DELTA, ORDERS)?.composed.upper);
    Ok(vec![
        row("composition, any votes", &[], all_votes, all_votes),
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
        let of = |name: &str| {
            let row = accountants.iter().find(|row| row["name"] == name).unwrap();
            ["unanimous", "narrow"].map(|votes| row[votes].as_f64())
        };
        let [any, exact] = ["moments, any votes", "exact, these votes"].map(of);
        // a majority of one has no valid data-dependent moment
        assert_eq!(of("moments, these votes")[1], any[1]);
        assert!(of("without the condition on q")[1] < exact[1]);
        assert!(of("one order less")[0] < exact[0] && of("one order less")[1] < exact[1]);
        assert!(exact[0] <= any[0] && exact[1] <= any[1]);
        assert!(of("composition, any votes")[1] < any[1]);
    }
}
