//! Several epochs: slices of each epoch's largest output, composed, and the upper value of the
//! pair.

use super::run::check_given;
use super::slices::{GridDistribution, dominated, dominating};
use super::{TargetSlots, max_slice};
use crate::accounting::answer::Basis;
use crate::accounting::{
    Accounted, AccountingError, AccountingResult, Given, Kind, Method, PrivacyLossDistribution,
    Rounding, Training,
};
use crate::adjacency::{Directions, Scope};
use crate::math;

/// Error of one slice's loss from rounding, nats.
const LOSS_ERROR: f64 = 4e-13;

/// Which of the two distributions of an epoch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Below,
    Above,
}

/// The distribution of all epochs, and the error of its losses from rounding.
struct Composed {
    distribution: PrivacyLossDistribution,
    loss_error: f64,
}

/// ε or δ from the slices of every epoch, composed, or of one epoch if that is larger, as at very
/// small δ, or if the grid for all would be too large.
pub(super) fn lower(run: &TargetSlots, given: Given) -> AccountingResult {
    check_given(given)?;
    let one = max_slice::lower(&TargetSlots { epochs: 1, ..*run }, given)?;
    if run.epochs == 1 {
        return Ok(one);
    }
    match all_epochs(run, given) {
        Ok(all) if all.value(given) >= one.value(given) => Ok(all),
        Ok(_) | Err(AccountingError::Grid { .. }) => Ok(one),
        error => error,
    }
}

fn all_epochs(run: &TargetSlots, given: Given) -> AccountingResult {
    let (value, error) = match given {
        Given::Delta(delta) => {
            let at = |step: f64| {
                let composed = composed(run, Side::Below, step, given)?;
                let value = composed.distribution.epsilon_at(delta)? - composed.loss_error;
                Ok((value.max(0.0), composed.loss_error))
            };
            let (value, loss_error) = at(step(run))?;
            // the error falls with the square of the step: a third of the cost of doubling remains
            let doubled = at(2.0 * step(run))?.0;
            (value, ((value - doubled) / 3.0).max(grid_error(run)) + loss_error)
        }
        Given::Epsilon(epsilon) => {
            let at = |step: f64| {
                let composed = composed(run, Side::Below, step, given)?;
                let value = composed.distribution.delta_at(epsilon + composed.loss_error)?;
                Ok((value, composed.distribution.delta_at(epsilon - grid_error(run))? - value))
            };
            let (value, change) = at(step(run))?;
            (value, ((value - at(2.0 * step(run))?.0) / 3.0).max(change))
        }
    };
    Ok(Accounted::new(Kind::Lower, given, value, basis(Method::MaxSlice, error)))
}

/// An upper bound on the pair's ε or δ, remove direction.
pub(super) fn upper(run: &Training, given: Given) -> AccountingResult {
    check_given(given)?;
    let run = &TargetSlots::from(*run);
    let (value, error) = match given {
        Given::Delta(delta) => {
            let at = |step: f64| {
                let composed = composed(run, Side::Above, step, given)?;
                Ok((
                    composed.distribution.epsilon_at(delta)? + composed.loss_error,
                    composed.loss_error,
                ))
            };
            let (value, loss_error) = at(step(run))?;
            let doubled = at(2.0 * step(run))?.0;
            (value, ((doubled - value) / 3.0).max(grid_error(run)) + loss_error)
        }
        Given::Epsilon(epsilon) => {
            let at = |step: f64| {
                let composed = composed(run, Side::Above, step, given)?;
                let value = composed.distribution.delta_at(epsilon - composed.loss_error)?;
                Ok((value, value - composed.distribution.delta_at(epsilon + grid_error(run))?))
            };
            let (value, change) = at(step(run))?;
            (value, ((at(2.0 * step(run))?.0 - value) / 3.0).max(change))
        }
    };
    let method = Method::PrivacyLossDistribution;
    Ok(Accounted::new(Kind::Upper, given, value, basis(method, error)))
}

fn basis(method: Method, numeric_error: f64) -> Basis {
    Basis { scope: Scope::Pair, directions: Directions::Remove, method, numeric_error }
}

/// Grid step h, nats.
fn step(run: &TargetSlots) -> f64 {
    (1e-4 / run.epochs as f64).sqrt()
}

/// Approximate contribution of the grid to the error of ε, for every start of the grid: h²/4 per
/// epoch.
fn grid_error(run: &TargetSlots) -> f64 {
    0.25 * run.epochs as f64 * step(run) * step(run)
}

fn composed(
    run: &TargetSlots,
    side: Side,
    step: f64,
    given: Given,
) -> Result<Composed, AccountingError> {
    let epochs = run.epochs as f64;
    let ln_delta = match given {
        Given::Delta(delta) => math::ln(delta),
        Given::Epsilon(_) => -700.0,
    };
    let ln_outside = (ln_delta - 20.0).min(-40.0) - math::ln(2.0 * epochs);
    let epoch = match side {
        Side::Below => dominated(run, ln_outside, step),
        Side::Above => dominating(run, ln_outside, step),
    };
    let loss_error = epochs * LOSS_ERROR * epoch.slices as f64;
    let distribution = distribution(epoch, side)?.self_composed_near(run.epochs, given)?;
    Ok(Composed { distribution, loss_error })
}

/// The grid's distribution; mass outside is dropped for lower bounds, infinite for upper bounds.
fn distribution(
    epoch: GridDistribution,
    side: Side,
) -> Result<PrivacyLossDistribution, AccountingError> {
    debug_assert!((epoch.total() - 1.0).abs() < 1e-9);
    let (infinite, rounding) = match side {
        Side::Below => (0.0, Rounding::Optimistic),
        Side::Above => (epoch.outside, Rounding::Pessimistic),
    };
    let GridDistribution { step, offset, lowest_index, masses, .. } = epoch;
    Ok(PrivacyLossDistribution::from_masses(step, lowest_index, masses, infinite)?
        .with_offset(offset)
        .with_rounding(rounding))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rounding every loss up on a grid of 2e-5 yields larger values, by at least half a step per
    /// epoch.
    #[test]
    fn many_epochs_leak_at_least_what_one_does() {
        let shuffled = |noise_multiplier, slots, epochs| TargetSlots {
            noise_multiplier,
            slots,
            presence: 1.0,
            gap: 2.0,
            epochs,
        };
        let wide = shuffled(0.05, 3, 100_000_000);
        let given = Given::Epsilon(3.0);
        assert!(matches!(all_epochs(&wide, given), Err(AccountingError::Grid { .. })));
        let one = lower(&TargetSlots { epochs: 1, ..wide }, given).unwrap();
        assert!(one.delta > 0.999, "{one:?}");
        assert_eq!(lower(&wide, given).unwrap(), one);
        for (run, delta, is_all) in
            [(shuffled(1.0, 3, 4), 1e-5, true), (shuffled(3.0, 1_000, 2), 1e-30, false)]
        {
            let given = Given::Delta(delta);
            let all = all_epochs(&run, given).unwrap().epsilon;
            let one = lower(&TargetSlots { epochs: 1, ..run }, given).unwrap().epsilon;
            assert_eq!(all > one, is_all, "{all} {one}");
            assert_eq!(lower(&run, given).unwrap().epsilon, all.max(one));
        }
    }

    /// By numerical integration of the test that merges all outputs below the start, and powers of its
    /// characteristic function; the full ratio gives 164.19 to 169.14, 1,123.41 and more.
    #[test]
    fn epochs_without_the_target_lose_nothing_to_the_grid() {
        for (noise_multiplier, epochs, exact) in
            [(0.5, 100, 164.2074), (0.5, 1000, 1066.7648), (1.0, 1000, 273.97)]
        {
            // 999 of 1,999 records are left out
            let presence = 1000.0 / 1999.0;
            let run = TargetSlots { noise_multiplier, slots: 1, presence, gap: 2.0, epochs };
            let seen = lower(&run, Given::Delta(1e-5)).unwrap();
            assert!((seen.epsilon - exact).abs() < 2e-3, "{run:?}: {seen:?}");
        }
    }

    #[test]
    fn leaks_hidden_by_rounding_count_as_none() {
        for (noise_multiplier, slots, presence) in
            [(3000.0, 100_000_000, 0.999), (1e6, 1_000_000_000, 0.5), (1.0, 1_000_000_000, 1e-13)]
        {
            let run = TargetSlots { noise_multiplier, slots, presence, gap: 2.0, epochs: 10 };
            let seen = lower(&run, Given::Delta(1e-10)).unwrap();
            assert!(seen.epsilon < 1e-6, "{run:?}: {seen:?}");
        }
    }

    #[test]
    fn upper_values_match_losses_that_are_rounded_up() {
        for (noise_multiplier, steps_per_epoch, epochs, theirs) in
            [(0.6, 10, 5, 22.178784010867872), (0.6, 100, 10, 35.91566139823535)]
        {
            let run = Training { noise_multiplier, steps_per_epoch, epochs, sampling_rate: None };
            let seen = upper(&run, Given::Delta(1e-5)).unwrap();
            let change = seen.epsilon - theirs;
            assert!(change < 5e-5 && change > -2e-5 * epochs as f64, "{run:?}: {change:e}");
            assert_eq!(seen.scope, Scope::Pair);
            let low = lower(&run.into(), Given::Delta(1e-5)).unwrap().epsilon;
            assert!(low < seen.epsilon);
        }
    }
}
