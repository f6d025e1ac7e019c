//! ε of noisy votes of teachers.

use dpscope_core::accounting::pate::{NoisyVote, VoteNoise};
use dpscope_report::record::input::VotesQuestion;
use dpscope_report::record::page::VotesAnswer;
use wasm_bindgen::prelude::*;

use crate::failure::Failure;
use crate::input::read;
use crate::output::{JsResult, to_js};

/// Orders of the published moments.
const ORDERS: u32 = 100;

pub(crate) fn answered(asked: &VotesQuestion) -> Result<VotesAnswer, Failure> {
    let &VotesQuestion { teachers, gamma, votes, delta } = asked;
    let vote = NoisyVote::new(teachers, gamma, VoteNoise::BothCounts)?;
    Ok(VotesAnswer {
        value: vote.votes_epsilon(votes, delta, ORDERS)?,
        vote_epsilon: vote.epsilon(),
        unanimous: vote.unanimous(),
    })
}

/// ε of noisy votes of teachers: `dpscope bound pate`.
///
/// # Errors
/// A `Failure` that names the input.
#[wasm_bindgen(unchecked_return_type = "VotesAnswer")]
pub fn votes_epsilon(
    #[wasm_bindgen(unchecked_param_type = "VotesQuestion")] asked: &JsValue,
) -> JsResult {
    to_js(&answered(&read(asked, "asked")?)?)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    const ASKED: VotesQuestion =
        VotesQuestion { teachers: 5, gamma: 1e-3, votes: 10_240, delta: 1e-5 };

    pub(crate) fn example() -> VotesAnswer {
        answered(&ASKED).unwrap()
    }

    #[test]
    fn more_votes_cost_more() {
        let more = answered(&VotesQuestion { votes: 20_480, ..ASKED }).unwrap();
        let composed = example().value.composed;
        assert!(composed.lower <= composed.upper && composed.upper < more.value.composed.lower);
        assert!(composed.upper < example().value.moments.epsilon);
    }

    #[test]
    fn arguments_outside_their_domain_are_refused() {
        for (asked, field) in [
            (VotesQuestion { teachers: 0, ..ASKED }, "teachers"),
            (VotesQuestion { gamma: f64::NAN, ..ASKED }, "gamma"),
            (VotesQuestion { votes: 0, ..ASKED }, "votes"),
            (VotesQuestion { delta: 0.0, ..ASKED }, "delta"),
        ] {
            assert_eq!(answered(&asked).unwrap_err().field, Some(field));
        }
    }
}
