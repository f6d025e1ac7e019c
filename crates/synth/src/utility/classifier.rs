//! Classifiers that rank real rows. Own code: those of smartcore depend on the platform's `exp`, and ask for
//! features of shared crates that make the whole workspace compile anew.

use dpscope_core::math;

use crate::attack::{Forest, ForestOptions};

/// Neighbours that vote.
const NEIGHBOURS: usize = 5;
/// Share of the largest variance that is added to all.
const SMOOTHING: f64 = 1e-9;
/// Steps of Newton's method, and of the conjugate gradients in each.
const STEPS: usize = 30;
const INNER_STEPS: usize = 50;

/// A classifier, with the parameters that scikit-learn has by default.
///
/// # Guarantee
/// AUROC and average precision are those of scikit-learn's within 1e-4, of the forest within 0.03, on frozen
/// features (`crates/synth/tests/classifiers.rs::areas_are_those_of_scikit_learn`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Classifier {
    /// Σ ln(1 + e^−margin) + |w|²/2.
    LogisticRegression,
    /// Normal features, independent within a class.
    NaiveBayes,
    /// Share of the class among the 5 nearest rows.
    NearestNeighbours,
    /// [`Forest`] of 100 trees.
    RandomForest,
}

impl Classifier {
    /// All.
    pub const ALL: [Classifier; 4] = [
        Classifier::LogisticRegression,
        Classifier::NaiveBayes,
        Classifier::NearestNeighbours,
        Classifier::RandomForest,
    ];

    /// As in a table.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Classifier::LogisticRegression => "logistic regression",
            Classifier::NaiveBayes => "naive Bayes",
            Classifier::NearestNeighbours => "nearest neighbours",
            Classifier::RandomForest => "random forest",
        }
    }

    /// Scores of rows, higher for the class; constant if the rows to learn from have one class or none.
    ///
    /// | argument | meaning | shape |
    /// |---|---|---|
    /// | `rows` | features to learn from, standardised | n × d |
    /// | `is_positive` | whether they are of the class | n |
    /// | `test` | features to score | m × d |
    /// | `seed` | seed of the forest | – |
    #[must_use]
    pub fn scores(
        self,
        rows: &[Vec<f64>],
        is_positive: &[bool],
        test: &[Vec<f64>],
        seed: u64,
    ) -> Vec<f64> {
        let positives = is_positive.iter().filter(|positive| **positive).count();
        if positives == 0 || positives == is_positive.len() || rows.len() != is_positive.len() {
            return vec![0.0; test.len()];
        }
        match self {
            Classifier::LogisticRegression => logistic_regression(rows, is_positive, test),
            Classifier::NaiveBayes => naive_bayes(rows, is_positive, test),
            Classifier::NearestNeighbours => nearest_neighbours(rows, is_positive, test),
            Classifier::RandomForest => {
                let options = ForestOptions { seed, ..ForestOptions::default() };
                let forest = Forest::grow(rows, is_positive, &options);
                test.iter().map(|row| forest.score(row)).collect()
            }
        }
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Logit of a row by weights with the intercept last.
fn logit(weights: &[f64], row: &[f64]) -> f64 {
    dot(weights, row) + weights.last().copied().unwrap_or(0.0)
}

fn logistic_regression(rows: &[Vec<f64>], is_positive: &[bool], test: &[Vec<f64>]) -> Vec<f64> {
    let width = rows.first().map_or(0, Vec::len);
    let mut weights = vec![0.0; width + 1];
    let mut loss = penalised_loss(&weights, rows, is_positive);
    for _ in 0..STEPS {
        let share = |row: &Vec<f64>| 1.0 / (1.0 + math::exp(-logit(&weights, row)));
        let shares: Vec<f64> = rows.iter().map(share).collect();
        let errors: Vec<f64> = shares
            .iter()
            .zip(is_positive)
            .map(|(share, positive)| share - f64::from(u8::from(*positive)))
            .collect();
        let curvatures: Vec<f64> = shares.iter().map(|share| share * (1.0 - share)).collect();
        let gradient = with_penalty(weighted_sum(rows, &errors), &weights);
        let product = |direction: &[f64]| {
            let along: Vec<f64> = rows
                .iter()
                .zip(&curvatures)
                .map(|(row, curvature)| curvature * logit(direction, row))
                .collect();
            with_penalty(weighted_sum(rows, &along), direction)
        };
        let step = conjugate_gradients(product, &gradient);
        let mut rate = 1.0;
        let changed = loop {
            let moved: Vec<f64> =
                weights.iter().zip(&step).map(|(weight, step)| weight - rate * step).collect();
            let moved_loss = penalised_loss(&moved, rows, is_positive);
            if moved_loss < loss {
                let gain = loss - moved_loss;
                (weights, loss) = (moved, moved_loss);
                break gain;
            }
            rate *= 0.5;
            if rate < 1e-6 {
                break 0.0;
            }
        };
        if changed <= 1e-12 * loss {
            break;
        }
    }
    test.iter().map(|row| logit(&weights, row)).collect()
}

fn penalised_loss(weights: &[f64], rows: &[Vec<f64>], is_positive: &[bool]) -> f64 {
    let loss = |(row, positive): (&Vec<f64>, &bool)| {
        let margin = if *positive { logit(weights, row) } else { -logit(weights, row) };
        (-margin).max(0.0) + math::ln_1p(math::exp(-margin.abs()))
    };
    let without_intercept = &weights[..weights.len().saturating_sub(1)];
    rows.iter().zip(is_positive).map(loss).sum::<f64>()
        + dot(without_intercept, without_intercept) / 2.0
}

/// Weighted sum of the rows, each with a 1 for the intercept, Σ cᵢ (xᵢ, 1)
fn weighted_sum(rows: &[Vec<f64>], factors: &[f64]) -> Vec<f64> {
    let mut sum = vec![0.0; rows.first().map_or(0, Vec::len) + 1];
    for (row, factor) in rows.iter().zip(factors) {
        sum.iter_mut().zip(row).for_each(|(sum, x)| *sum += factor * x);
        sum.iter_mut().rev().take(1).for_each(|sum| *sum += factor);
    }
    sum
}

/// The intercept has no penalty.
fn with_penalty(mut sum: Vec<f64>, weights: &[f64]) -> Vec<f64> {
    let count = weights.len().saturating_sub(1);
    sum.iter_mut().zip(&weights[..count]).for_each(|(sum, weight)| *sum += weight);
    sum
}

/// Solution of Hx = g by conjugate gradients, H⁻¹ g
fn conjugate_gradients(product: impl Fn(&[f64]) -> Vec<f64>, gradient: &[f64]) -> Vec<f64> {
    let mut solution = vec![0.0; gradient.len()];
    let mut rest = gradient.to_vec();
    let mut direction = rest.clone();
    let mut square = dot(&rest, &rest);
    let enough = 1e-20 * square;
    for _ in 0..INNER_STEPS {
        if square <= enough {
            break;
        }
        let image = product(&direction);
        let curvature = dot(&direction, &image);
        if !(curvature > 0.0) {
            break;
        }
        let rate = square / curvature;
        solution.iter_mut().zip(&direction).for_each(|(x, d)| *x += rate * d);
        rest.iter_mut().zip(&image).for_each(|(x, image)| *x -= rate * image);
        let next = dot(&rest, &rest);
        direction.iter_mut().zip(&rest).for_each(|(d, rest)| *d = rest + next / square * *d);
        square = next;
    }
    solution
}

/// Log-odds.
fn naive_bayes(rows: &[Vec<f64>], is_positive: &[bool], test: &[Vec<f64>]) -> Vec<f64> {
    let width = rows.first().map_or(0, Vec::len);
    // mean and variance of a column among rows
    let moments = |at: usize, of: &dyn Fn(bool) -> bool| {
        let column =
            || rows.iter().zip(is_positive).filter(|(_, p)| of(**p)).map(|(row, _)| row[at]);
        let count = column().count().max(1) as f64;
        let mean = column().sum::<f64>() / count;
        (mean, column().map(|x| (x - mean) * (x - mean)).sum::<f64>() / count)
    };
    let largest = (0..width).map(|at| moments(at, &|_| true).1).fold(0.0, f64::max);
    let floor = SMOOTHING * if largest > 0.0 { largest } else { 1.0 };
    let class = |class: bool| -> Vec<(f64, f64)> {
        let smoothed = |(mean, variance)| (mean, variance + floor);
        (0..width).map(|at| smoothed(moments(at, &|positive| positive == class))).collect()
    };
    let classes = [class(true), class(false)];
    let log_density = |columns: &[(f64, f64)], row: &[f64]| -> f64 {
        let terms = columns.iter().zip(row).map(|((mean, variance), x)| {
            -0.5 * ((x - mean) * (x - mean) / variance + math::ln(*variance))
        });
        terms.sum()
    };
    test.iter().map(|row| log_density(&classes[0], row) - log_density(&classes[1], row)).collect()
}

fn nearest_neighbours(rows: &[Vec<f64>], is_positive: &[bool], test: &[Vec<f64>]) -> Vec<f64> {
    let share = |row: &Vec<f64>| {
        // squared distances with classes, nearest first
        let mut nearest: Vec<(f64, bool)> = Vec::with_capacity(NEIGHBOURS + 1);
        for (other, positive) in rows.iter().zip(is_positive) {
            let squared: f64 = row.iter().zip(other).map(|(a, b)| (a - b) * (a - b)).sum();
            if nearest.len() < NEIGHBOURS || nearest.last().is_some_and(|last| squared < last.0) {
                nearest.insert(
                    nearest.partition_point(|near| near.0 <= squared),
                    (squared, *positive),
                );
                nearest.truncate(NEIGHBOURS);
            }
        }
        nearest.iter().filter(|near| near.1).count() as f64 / nearest.len().max(1) as f64
    };
    test.iter().map(share).collect()
}
