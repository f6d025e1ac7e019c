//! An audit of counts alone.

use dpscope_core::audit::one_run::{
    CanaryError, CanaryGame, GuessEvidence, Guesses, KnownSides, OneRunResult,
};
use dpscope_report::words::{CanaryGameKind, CoinsStatus, GuessRuleKind, OneRunDesign};

use super::args::{CanariesArg, OneRunArgs, option_of};
use crate::failure::Failure;
use dpscope_recorded::check_enough;

/// The result of counts alone.
pub(super) fn counted(
    args: &OneRunArgs,
    correct: u64,
) -> Result<(OneRunResult, OneRunDesign), Failure> {
    let Some(CanariesArg::Number(canaries)) = args.canaries else {
        return Err(Failure::input("--correct needs the number of canaries: pass --canaries M"));
    };
    check_enough(canaries).map_err(Failure::input)?;
    let (rule, guesses) = match (args.guesses, args.guesses_in, args.guesses_out) {
        (Some(guesses), ..) => (GuessRuleKind::Fixed, guesses),
        (None, Some(included), Some(excluded)) => {
            (GuessRuleKind::Fixed, included.saturating_add(excluded))
        }
        (None, Some(guesses), None) | (None, None, Some(guesses)) => {
            (GuessRuleKind::OneSide, guesses)
        }
        (None, None, None) => {
            return Err(Failure::input("--correct needs the number of guesses: pass --guesses K"));
        }
    };
    if args.set_size().is_some() && args.guesses.is_none() {
        return Err(CanaryError::SidesOfSets.into());
    }
    let set_size = args.set_size().unwrap_or(2);
    let game = CanaryGame::sets(canaries, set_size);
    let game = game.map_err(|error| Failure::input(option_of(&error)))?;
    let counts = Guesses::new(game, guesses, correct);
    let counts = counts.map_err(|error| Failure::input(option_of(&error)))?;
    let counts = match (args.inclusion_probability, rule) {
        (None, GuessRuleKind::OneSide) => counts.with_sides(KnownSides::One),
        (None, _) => counts,
        (Some(inclusion), GuessRuleKind::OneSide) => {
            let named = if args.guesses_in.is_some() { inclusion } else { 1.0 - inclusion };
            counts.with_inclusion_probability(named).map_err(CanaryError::from)?
        }
        (Some(inclusion), _) => {
            return Err(CanaryError::BothSidesOfUnfairCoins { inclusion }.into());
        }
    };
    let significance = args.level.significance().unwrap_or(0.05);
    let evidence = GuessEvidence::fixed(counts);
    let few = counts.few_correct().map_err(CanaryError::from)?;
    let result = OneRunResult::new(evidence, &args.deltas(), significance)?.with_findings(few);
    let game = match (args.set_size(), args.inclusion_probability) {
        (Some(_), _) => CanaryGameKind::Sets,
        (None, Some(_)) => CanaryGameKind::UnfairCoins,
        (None, None) => CanaryGameKind::Coins,
    };
    let adjacency = args.adjacency_of(game)?;
    let coins = CoinsStatus::Unseen;
    Ok((result, OneRunDesign { game, canaries, set_size, adjacency, rule, coins }))
}
