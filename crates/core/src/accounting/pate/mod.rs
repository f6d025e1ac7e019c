//! Private aggregation of teacher ensembles (PATE) with two classes: the noisy vote and its privacy.
//!
//! k teachers, trained on disjoint parts of the data, vote on a query; n₁ of them vote 1, and
//! n₀ = k − n₁ vote 0. Adding or removing a record changes at most one teacher, hence at most one
//! vote. A [`NoisyVote`] releases one noisy majority; [`moments_epsilon`] turns the moments of many
//! votes into ε, and [`NoisyVote::composed_epsilon`] brackets what the best accountant could show
//! without looking at the votes. [`NoisyVote::votes_epsilon`] is both for a number of votes, and
//! [`NoisyVote::most_votes`] the number that fits an ε, to be asked before any vote is released.
//!
//! | moment α(l) of a vote | depends on the votes | bounds |
//! |---|---|---|
//! | [`NoisyVote::moment`] | no | both directions |
//! | [`NoisyVote::moment_of`] | yes: must not be published | removal from the data at hand alone |
//! | [`NoisyVote::exact_moment`], [`NoisyVote::exact_reverse_moment`] | yes: must not be published | exact, one direction each |

mod account;
mod composition;
mod flip;
mod moments;
mod vote;

pub use account::{CountedVotesEpsilon, VoteAccounting, VotesEpsilon};
pub use composition::EpsilonBracket;
pub use moments::{MomentsEpsilon, moments_epsilon};
pub use vote::{NoisyVote, VoteNoise};
