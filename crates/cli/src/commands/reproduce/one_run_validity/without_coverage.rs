//! Published procedures that have no coverage, or only for independent canaries: for comparison.

use dpscope_core::audit::one_run::{CanaryGame, Guesses, OneRunError};
use dpscope_core::gdp::gdp_epsilon;
use dpscope_core::interval::{clopper_pearson_lower, clopper_pearson_upper};
use dpscope_core::math;
use dpscope_core::special::normal::normal_quantile;

use super::canaries::ScoredCanaries;

/// Distance of neighbouring numbers of guesses.
const STEP: usize = 10;

/// δ, and the chance that a bound may exceed the truth.
#[derive(Debug, Clone, Copy)]
pub(in crate::commands::reproduce) struct Statement {
    pub(in crate::commands::reproduce) delta: f64,
    pub(in crate::commands::reproduce) significance: f64,
}

/// The largest Steinke bound over pairs of guesses and correct guesses.
fn largest(
    game: CanaryGame,
    counts: impl Iterator<Item = (u64, u64)>,
    statement: Statement,
) -> Result<f64, OneRunError> {
    let Statement { delta, significance } = statement;
    let mut best = 0.0;
    for (guesses, correct) in counts {
        // a larger bound needs a larger share than that of the bound
        if (correct as f64) * (1.0 + math::exp(-best)) <= guesses as f64 {
            continue;
        }
        let counts = Guesses::new(game, guesses, correct)?;
        if counts.steinke_p_value(best, delta)? < significance {
            best = counts.steinke_epsilon_lower(delta, significance)?.max(best);
        }
    }
    Ok(best)
}

/// Over k = 10, 20, …, m, half of the guesses IN.
pub(in crate::commands::reproduce) fn largest_over_guesses(
    canaries: &ScoredCanaries,
    statement: Statement,
) -> Result<f64, OneRunError> {
    let game = CanaryGame::coins(canaries.count())?;
    let sizes = (STEP as u64..=canaries.count()).step_by(STEP);
    largest(game, sizes.map(|size| (size, canaries.correct(size))), statement)
}

/// Over all pairs of IN and OUT guesses, each of 0, 10, 20, ….
///
/// For one total, the pair with the most correct guesses has the largest bound.
pub(super) fn largest_over_sides(
    canaries: &ScoredCanaries,
    statement: Statement,
) -> Result<f64, OneRunError> {
    let game = CanaryGame::coins(canaries.count())?;
    let totals = (STEP as u64..=canaries.count()).step_by(STEP);
    let most = |total: u64| {
        let correct = |in_guesses: u64| canaries.correct_of_sides(in_guesses, total - in_guesses);
        (0..=total).step_by(STEP).map(correct).max().unwrap_or(0)
    };
    largest(game, totals.map(|total| (total, most(total))), statement)
}

/// At the vertices of the concave hull of the ROC curve, IN guesses alone, at the significance
/// divided by the number of vertices.
pub(super) fn hull_bonferroni(
    canaries: &ScoredCanaries,
    statement: Statement,
) -> Result<f64, OneRunError> {
    let hull = hull(canaries);
    let significance = statement.significance / hull.len() as f64;
    let game = CanaryGame::coins(canaries.count())?;
    let counts = hull.into_iter().filter(|(guesses, _)| *guesses > 0);
    largest(game, counts, Statement { significance, ..statement })
}

/// Vertices of the hull as guesses and correct guesses, both ends included.
fn hull(canaries: &ScoredCanaries) -> Vec<(u64, u64)> {
    let mut hull = vec![(0, 0)];
    for point in canaries.operating_points() {
        while let [.., before, last] = hull[..] {
            let change = |from: (u64, u64), to: (u64, u64)| {
                let (positives, right) = (to.0 - from.0, to.1 - from.1);
                ((positives - right) as f64, right as f64)
            };
            let ((wrong, right), (next_wrong, next_right)) =
                (change(before, last), change(last, point));
            if right * next_wrong > next_right * wrong {
                break;
            }
            hull.pop();
        }
        hull.push(point);
    }
    hull
}

/// ε of the lower limit of the distance of two normal distributions of one variance.
pub(super) fn gaussian_fit(
    canaries: &ScoredCanaries,
    statement: Statement,
) -> Result<f64, anyhow::Error> {
    let of_side = |is_in: bool| {
        let scores = canaries.scores().iter().enumerate();
        scores.filter(move |(place, _)| canaries.is_included(*place) == is_in).map(|(_, x)| *x)
    };
    let count = [canaries.included() as f64, (canaries.count() - canaries.included()) as f64];
    let [included, excluded] = count;
    if included < 2.0 || excluded < 2.0 {
        return Ok(0.0);
    }
    let mean = [of_side(true).sum::<f64>() / included, of_side(false).sum::<f64>() / excluded];
    let squares: f64 = [true, false]
        .into_iter()
        .zip(mean)
        .map(|(is_in, mean)| of_side(is_in).map(|x| (x - mean) * (x - mean)).sum::<f64>())
        .sum();
    let variance = squares / (included + excluded - 2.0);
    if !(variance > 0.0) {
        return Ok(0.0);
    }
    let distance = (mean[0] - mean[1]) / variance.sqrt();
    let error =
        (1.0 / included + 1.0 / excluded + 0.5 * distance * distance / (included + excluded))
            .sqrt();
    let lower = distance + normal_quantile(statement.significance)? * error;
    Ok(if lower > 0.0 { gdp_epsilon(lower, statement.delta)? } else { 0.0 })
}

/// ln((TPR − δ)/FPR) from Clopper–Pearson limits at a fixed cut.
pub(super) fn clopper_pearson(
    canaries: &ScoredCanaries,
    cut: f64,
    statement: Statement,
) -> Result<f64, anyhow::Error> {
    let positives = canaries.scores().partition_point(|&score| score >= cut) as u64;
    let true_positives = canaries.included_in_first(positives);
    let (included, excluded) = (canaries.included(), canaries.count() - canaries.included());
    if included == 0 || excluded == 0 {
        return Ok(0.0);
    }
    let tail = 0.5 * statement.significance;
    let tpr = clopper_pearson_lower(true_positives, included, tail)? - statement.delta;
    let fpr = clopper_pearson_upper(positives - true_positives, excluded, tail)?;
    Ok(if tpr > fpr { math::ln(tpr / fpr) } else { 0.0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    const STATEMENT: Statement = Statement { delta: 1e-5, significance: 0.05 };

    /// Canaries in this order, all scores different.
    fn ranked(coins: &[bool]) -> ScoredCanaries {
        let scores: Vec<f64> = (0..coins.len()).map(|place| -(place as f64)).collect();
        ScoredCanaries::ranked(&scores, coins, || 0)
    }

    #[test]
    fn hulls_have_the_vertices_of_the_largest_slopes() {
        let coins = [true, false, true, true, false, false, true, false];
        // (wrong, right): (0,1), (1,1), (1,2), (1,3), (2,3), (3,3), (3,4), (4,4)
        assert_eq!(hull(&ranked(&coins)), [(0, 0), (1, 1), (4, 3), (7, 4), (8, 4)]);
        let tied = ScoredCanaries::ranked(&[1.0; 4], &[true, false, true, true], || 0);
        assert_eq!(hull(&tied), [(0, 0), (4, 3)]);
    }

    #[test]
    fn largest_bounds_are_the_largest_of_all_sizes() {
        let coins: Vec<bool> = (0..100).map(|place| place % 7 < 3 || place < 12).collect();
        let canaries = ranked(&coins);
        let game = CanaryGame::coins(100).unwrap();
        let bound = |size: u64, correct: u64| {
            let counts = Guesses::new(game, size, correct).unwrap();
            counts.steinke_epsilon_lower(1e-5, 0.05).unwrap()
        };
        let expected = (1..=10).map(|tenth| bound(10 * tenth, canaries.correct(10 * tenth)));
        let expected = expected.fold(0.0, f64::max);
        assert_eq!(largest_over_guesses(&canaries, STATEMENT).unwrap(), expected);
        let sides = (0..=10).flat_map(|i| (0..=10 - i).map(move |o| (10 * i, 10 * o)));
        let sides = sides.filter(|(i, o)| i + o > 0);
        let expected = sides.map(|(i, o)| bound(i + o, canaries.correct_of_sides(i, o)));
        let expected = expected.fold(0.0, f64::max);
        let found = largest_over_sides(&canaries, STATEMENT).unwrap();
        assert!(expected > 1.0 && found == expected, "{found} {expected}");
    }

    #[test]
    fn fits_find_the_distance_of_normal_scores() {
        use dpscope_core::random::{Purpose, WideNormals};
        let mut scores = vec![0.0; 100_000];
        WideNormals::new(1, Purpose::Test, 0).fill(&mut scores);
        let coins: Vec<bool> = (0..scores.len()).map(|place| place % 2 == 0).collect();
        scores.iter_mut().step_by(2).for_each(|score| *score += 1.0);
        let canaries = ScoredCanaries::ranked(&scores, &coins, || 0);
        let found = gaussian_fit(&canaries, STATEMENT).unwrap();
        let truth = gdp_epsilon(1.0, 1e-5).unwrap();
        assert!(found < truth + 0.05 && found > truth - 0.2, "{found} {truth}");
        let cut = clopper_pearson(&canaries, 1.645, STATEMENT).unwrap();
        assert!((cut - math::ln(0.2595 / 0.05)).abs() < 0.15, "{cut}");
    }
}
