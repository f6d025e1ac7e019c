//! Means over classifiers and runs.

use dpscope_core::ranking::RankingQuality;
use dpscope_report::record::{ClassifierFigures, GeneratorUtility, UtilityFigure, UtilityFigures};

use super::Classifier;

/// Figures of one generator.
///
/// | argument | meaning |
/// |---|---|
/// | `name` | what tells it from others |
/// | `epsilons` | ε that is claimed or accounted for, and the lower bound that was measured |
/// | `qualities` | areas of each classifier of [`Classifier::ALL`], run by run |
#[must_use]
pub fn generator_utility(
    name: String,
    [claimed_epsilon, measured_epsilon]: [Option<f64>; 2],
    qualities: &[Vec<RankingQuality>],
) -> GeneratorUtility {
    GeneratorUtility {
        name,
        claimed_epsilon,
        measured_epsilon,
        runs: qualities.len() as u64,
        figures: figures(qualities),
    }
}

/// Mean over classifiers and runs, its standard error, and the largest value.
///
/// The standard error is that between runs: classifiers of a run share its rows, and are not independent.
///
/// | argument | meaning | shape |
/// |---|---|---|
/// | `qualities` | areas of each classifier of [`Classifier::ALL`], run by run | runs × 4 |
#[must_use]
pub fn figures(qualities: &[Vec<RankingQuality>]) -> UtilityFigures {
    let of = |area: fn(&RankingQuality) -> f64, classifier: Option<usize>| {
        let run = |run: &Vec<RankingQuality>| -> Vec<f64> {
            let chosen = run.iter().enumerate();
            let chosen = chosen.filter(|(at, _)| classifier.is_none_or(|chosen| chosen == *at));
            chosen.map(|(_, quality)| area(quality)).collect()
        };
        figure(&qualities.iter().map(run).collect::<Vec<_>>())
    };
    let both = |classifier| [of(|q| q.auroc, classifier), of(|q| q.auprc, classifier)];
    let [auroc, auprc] = both(None);
    let classifiers = Classifier::ALL.iter().enumerate().map(|(at, classifier)| {
        let [auroc, auprc] = both(Some(at));
        ClassifierFigures { name: classifier.name().into(), auroc, auprc }
    });
    UtilityFigures { auroc, auprc, classifiers: classifiers.collect() }
}

fn figure(runs: &[Vec<f64>]) -> UtilityFigure {
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len().max(1) as f64;
    let means: Vec<f64> = runs.iter().map(|run| mean(run)).collect();
    let (centre, count) = (mean(&means), means.len() as f64);
    let squares: f64 = means.iter().map(|mean| (mean - centre) * (mean - centre)).sum();
    let standard_error = (means.len() > 1).then(|| (squares / (count - 1.0) / count).sqrt());
    let largest = runs.iter().flatten().copied().fold(0.0, f64::max);
    UtilityFigure { mean: centre, standard_error, largest }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_those_by_hand() {
        let run = |areas: [f64; 4]| areas.map(|auroc| RankingQuality { auroc, auprc: 0.5 * auroc });
        let runs = [run([0.5, 0.6, 0.7, 1.0]).to_vec(), run([0.7, 0.8, 0.9, 0.8]).to_vec()];
        let found = generator_utility("a".to_owned(), [Some(1.0), None], &runs);
        let auroc = found.figures.auroc;
        // means 0.7 and 0.8 of the runs
        assert!((auroc.mean - 0.75).abs() < 1e-12 && (auroc.largest - 1.0).abs() < 1e-12);
        assert!((auroc.standard_error.unwrap() - 0.05).abs() < 1e-12);
        assert!((found.figures.auprc.mean - 0.375).abs() < 1e-12);
        let first = &found.figures.classifiers[0];
        assert_eq!((&*first.name, found.runs), ("logistic regression", 2));
        assert!((first.auroc.mean - 0.6).abs() < 1e-12);
        assert!((first.auroc.standard_error.unwrap() - 0.1).abs() < 1e-12);
        assert_eq!(figures(&runs[..1]).auroc.standard_error, None);
    }
}
