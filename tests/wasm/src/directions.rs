//! Directions of canary clients: norms, dot products and cosines.

use dpscope_core::random::Purpose;
use dpscope_shaders::random::stream_normals;
use dpscope_simulation::noisy_sum::CosineDraws;
use dpscope_simulation::{CanaryDirections, ModelChange};

use crate::Fingerprints;

fn change(dimension: usize) -> ModelChange {
    let change: Vec<f32> = stream_normals(9, Purpose::Test, 7, dimension);
    ModelChange::of(&change).expect("it has a norm")
}

pub(crate) fn mean_cosine(dimension: usize, canaries: u32) -> f64 {
    let (change, mut directions) = (change(dimension), CanaryDirections::new(1, dimension));
    let cosines = (0..canaries.into()).map(|canary| directions.cosine(canary, &change));
    cosines.sum::<f64>() / f64::from(canaries)
}

pub(crate) fn collect(found: &mut Fingerprints) {
    // one block and parts of it, several, and the last one short
    for (seed, dimension) in (1..).zip([2, 31, 4_095, 4_096, 4_097, 12_345]) {
        let (change, mut directions) = (change(dimension), CanaryDirections::new(seed, dimension));
        for canary in [0, 1, 1_000_003, u64::MAX] {
            found.float("cosines of canaries", directions.cosine(canary, &change));
            let direction = directions.direction(canary);
            found.hashed("directions of canaries", direction.iter().map(|c| c.to_bits()));
        }
    }
    for (run, sigma) in (0..).zip([0.1, 1.0, 3.0, 100.0]) {
        let mut cosines = Vec::new();
        CosineDraws::new(1_000_000, sigma, 3).cosines(run, 300, &mut cosines);
        found.hashed("cosines of noisy sums", cosines.iter().map(|c| c.to_bits()));
    }
}
