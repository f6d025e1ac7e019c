//! Classifiers beside scikit-learn's.

use dpscope_core::ranking::RankingQuality;
use dpscope_synth::utility::Classifier;

/// Features and classes, standardised by the first half.
fn frozen() -> (Vec<Vec<f64>>, Vec<bool>) {
    let (mut rows, mut classes) = (Vec::new(), Vec::new());
    for line in include_str!("forest_data/features.csv").lines() {
        let mut numbers = line.split(',').map(|cell| cell.parse::<f64>().unwrap());
        classes.push(numbers.next().unwrap() == 1.0);
        rows.push(numbers.collect::<Vec<_>>());
    }
    for at in 0..rows[0].len() {
        let mean = rows[..300].iter().map(|row| row[at]).sum::<f64>() / 300.0;
        let squares = rows[..300].iter().map(|row| (row[at] - mean) * (row[at] - mean));
        let spread = (squares.sum::<f64>() / 300.0).sqrt();
        rows.iter_mut().for_each(|row| row[at] = (row[at] - mean) / spread);
    }
    (rows, classes)
}

fn expected(classifier: Classifier) -> [f64; 2] {
    let all = include_str!("classifier_data/expected.json");
    let own = all.split(&format!("\"{}\"", classifier.name())).nth(1).unwrap();
    ["auroc", "auprc"].map(|name| {
        let rest = own.split(&format!("\"{name}\": ")).nth(1).unwrap();
        rest.split([',', '\n']).next().unwrap().parse().unwrap()
    })
}

#[test]
fn areas_are_those_of_scikit_learn() {
    let (rows, classes) = frozen();
    let areas = |classifier: Classifier, learned: &[bool]| {
        let scores = classifier.scores(&rows[..300], learned, &rows[300..], 1);
        let found = RankingQuality::of(&scores, &classes[300..]).unwrap();
        [found.auroc, found.auprc]
    };
    for classifier in Classifier::ALL {
        // forests differ by their draws
        let tolerance = if classifier == Classifier::RandomForest { 0.03 } else { 1e-4 };
        let (found, expected) = (areas(classifier, &classes[..300]), expected(classifier));
        let error = |found: [f64; 2]| {
            found.iter().zip(expected).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
        };
        assert!(error(found) < tolerance, "{classifier:?}: {found:?} {expected:?}");
        // trained on classes with the first fifth exchanged
        let mut exchanged = classes[..300].to_vec();
        exchanged[..60].iter_mut().for_each(|class| *class = !*class);
        let other = areas(classifier, &exchanged);
        assert!(error(other) > tolerance, "{classifier:?}: {other:?} {expected:?}");
    }
}
