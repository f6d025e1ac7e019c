//! Phases of a run with different noise or sampling rates, composed.

use super::answer::Basis;
use super::bracket::{Bracket, Pair, Question, Resolution};
use super::error::{argument, check_noise_and_rate};
use super::pld::{LossCells, Rounding, check_delta};
use super::{
    Accountant, Accounted, AccountingError, Deterministic, Given, Kind, Method, Poisson,
    PoissonReplace, PrivacyLossDistribution, Query, Training, poisson, poisson_replace,
};
use crate::adjacency::{Adjacency, Directions, Scope};

/// Steps with the same noise and the same sampling rate.
///
/// | field | meaning | domain |
/// |---|---|---|
/// | `noise_multiplier` | σ | [0.01, 1e4] |
/// | `sampling_rate` | q of Poisson sampling; 1 for the plain Gaussian mechanism | [1e-9, 1] |
/// | `steps` | n | from 1; at most 1e9 in all phases |
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Phase {
    /// Noise multiplier σ.
    pub noise_multiplier: f64,
    /// Sampling rate q.
    pub sampling_rate: f64,
    /// Number of steps, n.
    pub steps: u64,
}

/// ε of composed phases, on both sides of the exact value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PhasesEpsilon {
    /// Not above the exact value.
    pub lower: Accounted,
    /// Not below it.
    pub upper: Accounted,
}

/// Most phases that differ in noise or rate.
const MOST_PHASES: usize = 64;

/// Largest distance between the two values, nats, where grids allow it.
const ERROR: f64 = 5e-4;

/// Points of all grids of a search; a few seconds.
const MOST_WORK: f64 = 3e7;

/// Covers the rounding of the joint noise of unsampled phases.
const RELATIVE: f64 = 1e-12;

/// ε at δ of consecutive Gaussian phases with Poisson sampled batches, in any order.
///
/// Under replacement, a record changes a sum of clipped gradients by up to twice the clip norm: a phase
/// with q = 1 has half its noise, and one with q < 1 is the pair of [`PoissonReplace`]. dp-accounting has
/// the same values for `REPLACE_ONE`.
///
/// Phases of equal σ and q are joined, and so are all with q = 1: together they are one Gaussian
/// mechanism with 1/σ² = Σ n/σ². One phase is left to [`Poisson`] or [`Deterministic`]. Several are
/// composed on one grid of losses, separately for each direction, rounded up and down. If a gap remains,
/// the values are at least the largest ε of a single phase, and at most the sum of the ε of all k phases
/// at δ/k.
///
/// | argument | meaning | domain |
/// |---|---|---|
/// | `phases` | noise multiplier σ, sampling rate q and steps n of each | up to 64 that differ; none gives ε = 0 |
/// | `adjacency` | what neighbours differ in; add-remove and zero-out have the same values | – |
/// | `delta` | δ | (0, 1) |
///
/// # Guarantee
/// The interval contains the exact value
/// (`tests/oracles/replacement.rs::phases_of_replaced_records_bracket_quadrature`,
/// `tests/oracles/phases.rs::phases_of_one_step_bracket_quadrature`,
/// `tests/oracles/phases.rs::trees_agree_with_dp_accounting`).
///
/// # Errors
/// [`AccountingError::Argument`] outside the domain; [`AccountingError::Grid`] if no grid is small
/// enough.
///
/// # Numerics
/// Grids are refined until the two values are 5e-4 nats apart or the next grid is too large;
/// `numeric_error` of the values is their distance. Errors of δ are relative, about 1e-13 n.
///
/// # Example
/// ```
/// use dpscope_core::accounting::{Phase, account_phases};
/// use dpscope_core::adjacency::Adjacency;
/// let warm_up = Phase { noise_multiplier: 2.0, sampling_rate: 0.01, steps: 500 };
/// let main = Phase { noise_multiplier: 1.0, sampling_rate: 0.02, steps: 200 };
/// let found = account_phases(&[warm_up, main], Adjacency::AddRemove, 1e-5)?;
/// assert!(found.lower.epsilon <= found.upper.epsilon);
/// assert_eq!(format!("{:.2}", found.upper.epsilon), "1.91");
/// # Ok::<(), dpscope_core::accounting::AccountingError>(())
/// ```
pub fn account_phases(
    phases: &[Phase],
    adjacency: Adjacency,
    delta: f64,
) -> Result<PhasesEpsilon, AccountingError> {
    check_delta(delta)?;
    let joined = joined(phases)?;
    match joined[..] {
        [] => Ok(both(delta, Method::Analytic, Bracket { lower: 0.0, upper: 0.0 })),
        [one] => of_one(one, adjacency, delta),
        _ => of_many(&joined, adjacency, delta),
    }
}

/// Phases that differ; those without sampling are one.
fn joined(phases: &[Phase]) -> Result<Vec<Phase>, AccountingError> {
    let mut joined: Vec<Phase> = Vec::new();
    let (mut precision, mut steps, mut unsampled) = (0.0, 0_u64, 0_u64);
    let mut plain: Option<Phase> = None;
    for phase in phases.iter().filter(|phase| phase.steps > 0) {
        let Phase { noise_multiplier, sampling_rate, .. } = *phase;
        check_noise_and_rate(noise_multiplier, sampling_rate)?;
        steps = steps.saturating_add(phase.steps);
        if sampling_rate == 1.0 {
            precision += phase.steps as f64 / (noise_multiplier * noise_multiplier);
            let is_same = plain.is_none_or(|plain| plain.noise_multiplier == noise_multiplier);
            plain = Some(if is_same { *phase } else { Phase { noise_multiplier: 0.0, ..*phase } });
            unsampled = unsampled.saturating_add(phase.steps);
            continue;
        }
        let is_same = |known: &&mut Phase| {
            (known.noise_multiplier, known.sampling_rate) == (noise_multiplier, sampling_rate)
        };
        match joined.iter_mut().find(is_same) {
            Some(known) => known.steps = known.steps.saturating_add(phase.steps),
            None => joined.push(*phase),
        }
        if joined.len() > MOST_PHASES {
            return Err(argument(
                "phases",
                joined.len() as f64,
                "at most 64 that differ in noise or rate: join neighbouring ones, with the least noise \
                 and the largest rate of each, for an ε that is not below theirs",
            ));
        }
    }
    if steps > 1_000_000_000 {
        return Err(argument("steps", steps as f64, "at most 1e9 in all phases together"));
    }
    joined.extend(plain.map(|plain| match plain.noise_multiplier {
        0.0 => Phase { noise_multiplier: 1.0 / precision.sqrt(), sampling_rate: 1.0, steps: 1 },
        _ => Phase { steps: unsampled, ..plain },
    }));
    Ok(joined)
}

fn of_one(
    phase: Phase,
    adjacency: Adjacency,
    delta: f64,
) -> Result<PhasesEpsilon, AccountingError> {
    let Phase { noise_multiplier, sampling_rate, steps } = phase;
    let given = Given::Delta(delta);
    let is_replaced = adjacency == Adjacency::Replace;
    if sampling_rate == 1.0 {
        let noise_multiplier = if is_replaced { 0.5 * noise_multiplier } else { noise_multiplier };
        let query = |kind, factor: f64| {
            let noise_multiplier = noise_multiplier * factor;
            let training = Training {
                noise_multiplier,
                steps_per_epoch: 1,
                epochs: steps,
                sampling_rate: None,
            };
            Deterministic.account(&Query { kind, ..Query::upper(training, given) })
        };
        let (lower, upper) =
            (query(Kind::Lower, 1.0 + RELATIVE)?, query(Kind::Upper, 1.0 - RELATIVE)?);
        return Ok(PhasesEpsilon { lower, upper });
    }
    let sampling_rate = Some(sampling_rate);
    let training = Training { noise_multiplier, steps_per_epoch: steps, epochs: 1, sampling_rate };
    let accountant: &dyn Accountant = if is_replaced { &PoissonReplace } else { &Poisson };
    let account = |kind| accountant.account(&Query { kind, ..Query::upper(training, given) });
    Ok(PhasesEpsilon { lower: account(Kind::Lower)?, upper: account(Kind::Upper)? })
}

fn both(delta: f64, method: Method, bracket: Bracket) -> PhasesEpsilon {
    let numeric_error = bracket.gap();
    let basis = |directions| Basis { scope: Scope::Mechanism, directions, method, numeric_error };
    let value =
        |kind, value| Accounted::new(kind, Given::Delta(delta), value, basis(Directions::Both));
    PhasesEpsilon {
        lower: value(Kind::Lower, bracket.lower),
        upper: value(Kind::Upper, bracket.upper),
    }
}

/// On grids, refined until the two values are near.
fn of_many(
    phases: &[Phase],
    adjacency: Adjacency,
    delta: f64,
) -> Result<PhasesEpsilon, AccountingError> {
    let steps = phases.iter().map(|phase| phase.steps).sum();
    let share = ERROR / phases.len() as f64;
    let factor = if adjacency == Adjacency::Replace { 0.5 } else { 1.0 };
    let finest = phases
        .iter()
        .map(|phase| poisson::resolution(&training(phase, factor), delta, share))
        .reduce(|one, other| Resolution {
            step: one.step.min(other.step),
            widest: one.widest.min(other.widest),
        });
    let Some(mut resolution) = finest else {
        return Err(argument("number of phases", 0.0, "at least 1"));
    };
    let mut best: Option<Bracket> = None;
    for _ in 0..8 {
        let mut spent = 0.0;
        let grid = Grid { adjacency, steps, delta, resolution };
        let found = grid.bracket(phases, &mut spent);
        let found = match (found, best) {
            (Ok(found), best) => best.map_or(found, |best| found.tighter(best)),
            (Err(_), Some(best)) => best,
            (Err(AccountingError::Grid { .. }), None) => {
                resolution = resolution.refined(4.0);
                continue;
            }
            (Err(reason), None) => return Err(reason),
        };
        let is_last = best.is_some_and(|best| found.gap() >= 0.9 * best.gap());
        best = Some(found);
        if found.gap() <= ERROR || is_last || 2.0 * spent > MOST_WORK {
            break;
        }
        resolution = resolution.refined(0.5);
    }
    let found = match best {
        Some(found) if found.gap() <= ERROR => found,
        Some(found) => {
            one_by_one(phases, adjacency, delta).map_or(found, |apart| found.tighter(apart))
        }
        None => one_by_one(phases, adjacency, delta)?,
    };
    if !found.upper.is_finite() {
        return Err(AccountingError::Infinite { delta });
    }
    Ok(both(delta, Method::PrivacyLossDistribution, found))
}

/// All phases leak at least as much as one of them, and at most the sum of their ε at δ/k each.
fn one_by_one(
    phases: &[Phase],
    adjacency: Adjacency,
    delta: f64,
) -> Result<Bracket, AccountingError> {
    let share = delta / phases.len() as f64 * (1.0 - RELATIVE);
    let mut all = Bracket { lower: 0.0, upper: 0.0 };
    for phase in phases {
        all.lower = all.lower.max(of_one(*phase, adjacency, delta)?.lower.epsilon);
        all.upper =
            (all.upper + of_one(*phase, adjacency, share)?.upper.epsilon) * (1.0 + RELATIVE);
    }
    Ok(all)
}

fn training(phase: &Phase, factor: f64) -> Training {
    Training {
        noise_multiplier: phase.noise_multiplier * factor,
        steps_per_epoch: phase.steps,
        epochs: 1,
        sampling_rate: Some(phase.sampling_rate),
    }
}

/// A grid for all phases.
#[derive(Clone, Copy)]
struct Grid {
    adjacency: Adjacency,
    /// Steps of all phases.
    steps: u64,
    delta: f64,
    resolution: Resolution,
}

impl Grid {
    /// ε in the direction where it is larger, rounded down and up.
    fn bracket(&self, phases: &[Phase], spent: &mut f64) -> Result<Bracket, AccountingError> {
        let mut epsilon = |rounding: Rounding, is_add: bool| {
            let composed = self.composed(phases, rounding, is_add)?;
            *spent += (phases.len() * composed.masses().len()) as f64;
            composed.epsilon_at(self.delta)
        };
        let mut of = |is_add: bool| -> Result<Bracket, AccountingError> {
            Ok(Bracket {
                lower: epsilon(Rounding::Optimistic, is_add)?,
                upper: epsilon(Rounding::Pessimistic, is_add)?,
            })
        };
        let remove = of(false)?;
        // a pair that is its own mirror image has one direction
        Ok(if self.adjacency == Adjacency::Replace { remove } else { remove.larger(of(true)?) })
    }

    fn composed(
        &self,
        phases: &[Phase],
        rounding: Rounding,
        is_add: bool,
    ) -> Result<PrivacyLossDistribution, AccountingError> {
        let factor = match rounding {
            Rounding::Pessimistic => 1.0 - RELATIVE,
            Rounding::Optimistic => 1.0 + RELATIVE,
        };
        let one_step = |phase: &Phase| {
            let cells = self.cells(&training(phase, factor))?;
            let cells = if is_add { cells.reversed() } else { cells };
            cells.distribution(rounding)
        };
        let steps = phases.iter().map(one_step).collect::<Result<Vec<_>, AccountingError>>()?;
        let parts: Vec<_> =
            steps.iter().zip(phases).map(|(step, phase)| (step, phase.steps)).collect();
        PrivacyLossDistribution::sum_of(&parts, Given::Delta(self.delta), 1e-9)
    }

    /// The losses of one step of a phase.
    fn cells(&self, phase: &Training) -> Result<LossCells, AccountingError> {
        let Grid { adjacency, steps: compositions, delta, resolution } = *self;
        if adjacency != Adjacency::Replace {
            return poisson::one_step(phase, compositions, delta).cells(resolution);
        }
        let (given, directions) = (Given::Delta(delta), Directions::Remove);
        let question = Question { compositions, given, directions, error: ERROR };
        poisson_replace::one_step(phase, &question).0.cells(resolution)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: Phase = Phase { noise_multiplier: 1.0, sampling_rate: 0.01, steps: 300 };
    const PLAIN: Phase = Phase { noise_multiplier: 20.0, sampling_rate: 1.0, steps: 4 };

    fn interval(phases: &[Phase]) -> [f64; 2] {
        interval_at(phases, 1e-5)
    }

    fn interval_at(phases: &[Phase], delta: f64) -> [f64; 2] {
        let found = account_phases(phases, Adjacency::AddRemove, delta).unwrap();
        assert!(found.lower.epsilon <= found.upper.epsilon, "{found:?}");
        assert_eq!((found.lower.kind, found.upper.kind), (Kind::Lower, Kind::Upper));
        [found.lower.epsilon, found.upper.epsilon]
    }

    #[test]
    fn equal_phases_are_one() {
        let halves = [Phase { steps: 100, ..A }, Phase { steps: 200, ..A }];
        assert_eq!(interval(&halves), interval(&[A]));
        let unsampled = [Phase { steps: 1, ..PLAIN }, Phase { steps: 3, ..PLAIN }];
        assert_eq!(interval(&unsampled), interval(&[PLAIN]));
    }

    #[test]
    fn no_phase_leaks_nothing() {
        assert_eq!(interval(&[]), [0.0, 0.0]);
        assert_eq!(interval(&[Phase { steps: 0, ..A }]), [0.0, 0.0]);
    }

    /// Two nearly equal phases on a grid against the one phase that they nearly are.
    #[test]
    fn grids_agree_with_the_accountant_of_one_phase() {
        let near = |factor: f64| {
            [
                Phase { steps: 150, ..A },
                Phase { noise_multiplier: factor * A.noise_multiplier, steps: 150, ..A },
            ]
        };
        for delta in [1e-3, 1e-5, 1e-10, 1e-20, 1e-40] {
            let [lower, upper] = interval_at(&near(1.0 + 1e-9), delta);
            let [least, most] = interval_at(&[A], delta);
            assert!(lower <= most && least <= upper, "{lower} {upper} {least} {most}");
            assert!(upper - lower < 2.0 * ERROR, "{delta:e}: {lower} {upper}");
            let [_, noisier] = interval_at(&near(1.02), delta);
            assert!(noisier < least, "{delta:e}: {noisier} {least}");
        }
    }

    #[test]
    fn unsampled_phases_add_their_precisions() {
        let apart = [PLAIN, Phase { noise_multiplier: 10.0, sampling_rate: 1.0, steps: 3 }];
        // 4/20² + 3/10² = 0.04 = 1/5²
        let one = Phase { noise_multiplier: 5.0, sampling_rate: 1.0, steps: 1 };
        let ([a, b], [c, d]) = (interval(&apart), interval(&[one]));
        assert!((a - c).abs() < 1e-9 && (b - d).abs() < 1e-9, "{a} {b} {c} {d}");
    }

    #[test]
    fn order_does_not_matter_and_more_phases_leak_more() {
        let ([a, b], [c, d]) = (interval(&[A, PLAIN]), interval(&[PLAIN, A]));
        assert!((a - c).abs() < 1e-9 && (b - d).abs() < 1e-9, "{a} {b} {c} {d}");
        assert!(a > interval(&[A])[1] && a > interval(&[PLAIN])[1]);
    }

    /// No grid is fine enough for the phase that leaks little, and wide enough for the other.
    #[test]
    fn phases_too_different_for_one_grid_are_bounded_one_by_one() {
        let much = Phase { noise_multiplier: 0.3, sampling_rate: 0.5, steps: 100 };
        let little = Phase { noise_multiplier: 5.0, sampling_rate: 1e-4, steps: 1_000_000 };
        let [lower, upper] = interval(&[much, little]);
        let [least, most] = interval(&[much]);
        assert!(lower >= least && upper >= most, "{lower} {upper} {least} {most}");
        assert!(upper - lower < 0.01, "{lower} {upper}");
    }

    #[test]
    fn refuses_bad_phases() {
        let account_phases =
            |phases: &[Phase], delta| account_phases(phases, Adjacency::Replace, delta);
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(account_phases(&[Phase { noise_multiplier: bad, ..A }, A], 1e-5).is_err());
            assert!(account_phases(&[Phase { sampling_rate: bad, ..A }, A], 1e-5).is_err());
            assert!(account_phases(&[A, PLAIN], bad).is_err());
        }
        let long = Phase { steps: u64::MAX, ..A };
        assert!(account_phases(&[long, PLAIN, long], 1e-5).is_err());
        let many: Vec<Phase> =
            (0..70).map(|i| Phase { noise_multiplier: 1.0 + f64::from(i), ..A }).collect();
        assert!(account_phases(&many, 1e-5).is_err());
    }
}
