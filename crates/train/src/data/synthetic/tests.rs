//! Guarantees of the synthetic data sets.

use super::*;

fn filled(set: &Examples) -> (Vec<f32>, Vec<u32>) {
    let (mut examples, mut labels) = (Vec::new(), Vec::new());
    let records: Vec<u32> = (0..set.len() as u32).collect();
    set.fill(&records, &mut examples, &mut labels);
    (examples, labels)
}

/// Accuracy of the nearest-class-mean classifier on the held-out records, whose labels are rotated
/// by
/// `offset` positions.
fn nearest_mean(set: &Examples, offset: usize) -> f64 {
    let features = set.shape().len();
    let (examples, labels) = filled(set);
    let mut means = vec![vec![0.0_f64; features]; set.classes()];
    let mut counts = vec![0.0_f64; set.classes()];
    for (row, &label) in examples.chunks_exact(features).zip(&labels) {
        let class = label as usize;
        counts[class] += 1.0;
        for (mean, &value) in means[class].iter_mut().zip(row) {
            *mean += f64::from(value);
        }
    }
    for (mean, count) in means.iter_mut().zip(&counts) {
        mean.iter_mut().for_each(|value| *value /= count.max(1.0));
    }
    let held_out = set.held_out().unwrap();
    let (examples, mut labels) = filled(held_out);
    labels.rotate_left(offset);
    let correct = examples.chunks_exact(features).zip(&labels).filter(|(row, label)| {
        let distance = |mean: &[f64]| {
            mean.iter()
                .zip(*row)
                .map(|(m, &v)| (m - f64::from(v)) * (m - f64::from(v)))
                .sum::<f64>()
        };
        let own = distance(&means[**label as usize]);
        means.iter().filter(|mean| distance(mean) <= own).count() == 1
    });
    correct.count() as f64 / held_out.len() as f64
}

#[test]
fn content_is_stable() {
    let digests = SyntheticData::ALL.map(|set| {
        let data = set.generate(300, 100).unwrap();
        [data.digest().to_owned(), data.held_out().unwrap().digest().to_owned()]
    });
    assert_eq!(
        digests,
        [
            [
                "54d730f00ed8ad308d907d784844197b6c4599e6405992713ab1e302254021ec",
                "044a5c3b8ae09cdff98717645e487b56bed4254e030249c9b3e5975a35802530",
            ],
            [
                "c56a816ba5e25cd8744a3dfd642a2ce53b6770e73a42cf9adef02082c4cb21fc",
                "a22110664f998c698f0a021c48aa9f8095484ccb59ec454742ae84738f9e8841",
            ],
            [
                "9e6c6507de0e38b956fdf9cae7fb6f8d9efa3bc80908f20864d7ae3513aad3f8",
                "b3819fb5bc435adfdadef83af99dc42330d3c5a270eb471e30e35c75b76a02fa",
            ],
            [
                "77248420c6613ad82325cbad85287be4ddd8554e0b0b49e318cdff26eb40f539",
                "623a1d9922e962af3ff2d4356ec63fd6b5d16c247329a29ca9555b4e200ae644",
            ],
        ]
    );
}

#[test]
fn smaller_sets_are_prefixes_of_larger_ones() {
    for set in SyntheticData::ALL {
        let (few, more) = (set.generate(20, 5).unwrap(), set.generate(50, 30).unwrap());
        let start = |part: &Examples, records: usize| {
            let (examples, labels) = filled(part);
            (examples[..records * set.shape().len()].to_vec(), labels[..records].to_vec())
        };
        assert_eq!(start(&few, 20), start(&more, 20), "{set:?}");
        let parts = [&few, &more].map(|data| data.held_out().unwrap());
        assert_eq!(start(parts[0], 5), start(parts[1], 5), "{set:?}");
        assert_ne!(
            start(&more, 5),
            start(parts[1], 5),
            "{set:?}: held-out records differ from training records"
        );
        assert!(set.generate(3, 0).unwrap().held_out().is_none());
    }
}

#[test]
fn shapes_and_classes_match_the_published_sets() {
    for (set, shape, classes) in [
        (SyntheticData::P100Like, (600, 1, 1), 100),
        (SyntheticData::LocationLike, (446, 1, 1), 30),
        (SyntheticData::FmnistLike, (1, 28, 28), 2),
        (SyntheticData::CifarLike, (3, 32, 32), 2),
    ] {
        let data = set.generate(2000, 0).unwrap();
        let (channels, height, width) = shape;
        assert_eq!(data.shape(), Shape { channels, height, width });
        assert_eq!((data.classes(), data.name(), data.len()), (classes, set.name(), 2000));
        let mut counts = vec![0.0; classes];
        data.labels().iter().for_each(|&label| counts[label as usize] += 1.0);
        let each = 2000.0 / classes as f64;
        let chi: f64 = counts.iter().map(|c| (c - each) * (c - each) / each).sum();
        let free = classes as f64 - 1.0;
        assert!((chi - free) / (2.0 * free).sqrt() < 4.5, "{set:?}: {counts:?}");
        assert_eq!(set.name().parse(), Ok(set));
    }
}

#[test]
fn a_simple_classifier_is_partly_accurate() {
    for set in SyntheticData::ALL {
        let data = set.generate(4000, 1000).unwrap();
        let accuracy = nearest_mean(&data, 0);
        assert!((0.7..0.99).contains(&accuracy), "{set:?}: {accuracy}");
        // Negative control: labels unrelated to the records.
        let chance = nearest_mean(&data, 1);
        let guess = 1.0 / data.classes() as f64;
        assert!((chance - guess).abs() < 0.1, "{set:?}: {chance}");
    }
}

#[test]
fn invalid_sizes_and_names_are_rejected() {
    let message = |records, held_out| {
        SyntheticData::FmnistLike.generate(records, held_out).unwrap_err().to_string()
    };
    assert_eq!(message(0, 5), "0 records are requested; 1 to 1048576 are possible");
    assert_eq!(
        message(usize::MAX, 5),
        format!("{} records are requested; 1 to 1048576 are possible", usize::MAX)
    );
    assert!(message(5, (1 << 20) + 1).contains("1048577"));
    let error = "p100\u{1b}".parse::<SyntheticData>().unwrap_err().to_string();
    assert_eq!(
        error,
        "unknown synthetic data set `p100\\u{1b}`; available: p100-like, location-like, fmnist-like and cifar-like"
    );
}
