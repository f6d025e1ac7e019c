//! Audits of a training by its random hold-out: no canaries were planted.
//!
//! N rows were divided at random into those that were trained on and those that were held out. That draw
//! is the coin: whoever names the members better than chance shows that training leaks, and how much.
//!
//! | type | what is guessed | certifies |
//! |---|---|---|
//! | [`NamedRows`] | k rows as members, or as non-members | replace and add/remove |
//! | [`NamedStrata`] | k rows in each stratum of a stratified split | replace and add/remove |
//! | [`BothSides`] | k rows as members and k′ as non-members, each at half the level | replace and add/remove |
//! | [`SplitGuesses`] | rows by their scores ([`SplitScores`]), by one of the rules below | replace and add/remove |
//! | [`SplitSets`] | the odd one of random sets of rows; its guesses are [`ListGuesses`] | replace and add/remove |
//!
//! All need a hold-out that was drawn uniformly from the rows, or from those of each stratum, and scores
//! that do not know the sides but through the training.

mod audit;
mod cut;
mod error;
mod nearest;
mod plan;
mod scored;
mod sets;
mod sides;
mod strata;

pub use audit::{SplitCounts, SplitGuesses};
pub use cut::{AddRemoveLimits, NamedRows};
pub use error::SplitError;
pub use nearest::nearest_distances;
pub use plan::{SplitAttack, default_guesses};
pub use scored::SplitScores;
pub use sets::SplitSets;
pub use sides::BothSides;
pub use strata::{NamedStrata, Stratum};

#[cfg(doc)]
use super::one_run::ListGuesses;
