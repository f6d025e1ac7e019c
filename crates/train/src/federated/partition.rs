//! Division of a data set among clients.

use dpscope_core::math;
use dpscope_core::random::{Purpose, Words};

use crate::data::Examples;

/// The records of each client, `per_client` each; no record has two clients.
///
/// Without `concentration` a uniform division. With a concentration α each client draws shares of the
/// labels from a Dirichlet distribution with all parameters α, then its records one by one by these
/// shares among the labels that are left: Hsu et al., arXiv 1909.06335.
pub(super) fn partition(
    examples: &Examples,
    (clients, per_client): (u32, u32),
    concentration: Option<f64>,
    seed: u64,
) -> Vec<Vec<u32>> {
    let mut words = Words::new(seed, Purpose::FederatedPartition, 0);
    let mut records: Vec<u32> = (0..examples.len() as u32).collect();
    words.shuffle(&mut records);
    let Some(concentration) = concentration else {
        let parts = records.chunks_exact(per_client as usize);
        return parts.take(clients as usize).map(<[u32]>::to_vec).collect();
    };
    let mut by_label = vec![Vec::new(); examples.classes()];
    for record in records {
        by_label[examples.labels()[record as usize] as usize].push(record);
    }
    let drawn = (0..clients).map(|_| {
        let logs: Vec<f64> =
            by_label.iter().map(|_| ln_gamma_draw(&mut words, concentration)).collect();
        let records = (0..per_client).filter_map(|_| draw_record(&mut words, &mut by_label, &logs));
        records.collect()
    });
    drawn.collect()
}

/// A record whose label has probability proportional to e^`logs` among those with records left.
fn draw_record(words: &mut Words, by_label: &mut [Vec<u32>], logs: &[f64]) -> Option<u32> {
    let left = || (0..logs.len()).filter(|&label| !by_label[label].is_empty());
    let most = left().map(|label| logs[label]).fold(f64::NEG_INFINITY, f64::max);
    let weight = |label: usize| math::exp(logs[label] - most);
    let mut rest = words.uniform() * left().map(weight).sum::<f64>();
    let mut chosen = None;
    for label in left() {
        chosen = Some(label);
        rest -= weight(label);
        if rest < 0.0 {
            break;
        }
    }
    by_label[chosen?].pop()
}

/// ln of a draw of the gamma distribution with shape α and scale 1: Marsaglia and Tsang, 2000.
///
/// By hand, since the logarithms of libraries differ between platforms.
fn ln_gamma_draw(words: &mut Words, shape: f64) -> f64 {
    let boost = if shape < 1.0 { math::ln(words.uniform()) / shape } else { 0.0 };
    let d = if shape < 1.0 { shape + 1.0 } else { shape } - 1.0 / 3.0;
    let c = 1.0 / (9.0 * d).sqrt();
    loop {
        let normal = words.normal();
        let root = 1.0 + c * normal;
        if root <= 0.0 {
            continue;
        }
        let cube = root * root * root;
        let ln_cube = math::ln(cube);
        if math::ln(words.uniform()) < normal * normal / 2.0 + d * (1.0 - cube + ln_cube) {
            return math::ln(d) + ln_cube + boost;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::data::SyntheticData;

    fn parts(concentration: Option<f64>) -> (Examples, Vec<Vec<u32>>) {
        let examples = SyntheticData::P100Like.generate(3_000, 0).unwrap();
        let parts = partition(&examples, (250, 12), concentration, 7);
        (examples, parts)
    }

    #[test]
    fn each_record_has_one_client() {
        for concentration in [None, Some(0.05), Some(1.0), Some(1e3)] {
            let (_, parts) = parts(concentration);
            assert_eq!(parts.len(), 250);
            assert!(parts.iter().all(|part| part.len() == 12), "{concentration:?}");
            let distinct: HashSet<u32> = parts.iter().flatten().copied().collect();
            assert_eq!(distinct.len(), 3_000);
        }
    }

    #[test]
    fn small_concentrations_give_clients_few_labels() {
        let labels = |concentration| {
            let (examples, parts) = parts(concentration);
            let of_client = |part: &Vec<u32>| {
                let labels = part.iter().map(|&record| examples.labels()[record as usize]);
                labels.collect::<HashSet<u32>>().len()
            };
            // the last clients take what is left
            parts[..150].iter().map(of_client).sum::<usize>() as f64 / 150.0
        };
        let (skewed, even, uniform) = (labels(Some(0.01)), labels(Some(1e4)), labels(None));
        assert!(skewed < 4.0 && even > 10.0 && (even - uniform).abs() < 0.5, "{skewed} {even}");
    }

    #[test]
    fn gamma_draws_have_their_mean_and_variance() {
        for shape in [0.3, 1.0, 7.5] {
            let mut words = Words::new(1, Purpose::Test, 4);
            let draws: Vec<f64> =
                (0..20_000).map(|_| math::exp(ln_gamma_draw(&mut words, shape))).collect();
            let mean = draws.iter().sum::<f64>() / 2e4;
            let variance = draws.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / 2e4;
            assert!((mean - shape).abs() < 5.0 * (shape / 2e4).sqrt(), "{shape} {mean}");
            let fourth = 3.0 * shape * shape + 6.0 * shape;
            let error = ((fourth - shape * shape) / 2e4).sqrt();
            assert!((variance - shape).abs() < 5.0 * error, "{shape} {variance}");
        }
    }
}
