//! Scores of one run that calibrate themselves, as in `own_trainer.json`.

use dpscope_core::audit::one_run::CalibratedScores;
use dpscope_core::math;
use dpscope_core::special::normal_quantile;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::uniforms::Uniforms;

/// How the file's projections are drawn, in its own words.
#[derive(Debug, Deserialize)]
pub(super) struct ProjectionInputs {
    seed: u64,
    steps: i32,
    canaries: usize,
    rate: f64,
    sigma: f64,
    scale: f64,
    drift: f64,
}

/// The first scores, centres and scales of the file's projections.
pub(super) fn scores(inputs: &ProjectionInputs) -> Option<Value> {
    let mut uniforms = Uniforms(inputs.seed);
    let included: Vec<bool> = (0..inputs.canaries).map(|_| uniforms.draw() < 0.5).collect();
    let mut scores = CalibratedScores::new(inputs.canaries, inputs.rate).ok()?;
    for step in 0..inputs.steps {
        let used: Vec<bool> =
            included.iter().map(|&is_in| uniforms.draw() < inputs.rate && is_in).collect();
        let projection = |used: bool| {
            let noise = normal_quantile(uniforms.draw()).expect("inside (0, 1)");
            let sum = f64::from(u8::from(used)) + inputs.sigma * noise;
            math::powi(inputs.scale, step) * sum + inputs.drift * f64::from(step)
        };
        let projections: Vec<f64> = used.into_iter().map(projection).collect();
        scores.observe(&projections).ok()?;
    }
    let found = scores.scores();
    Some(json!({
        "scores": found.get(..6)?,
        "sum": found.iter().sum::<f64>(),
        "centres": scores.centres().get(..3)?,
        "scales": scores.scales().get(..3)?,
        "skipped": scores.skipped(),
        "included": included.iter().filter(|&&is_in| is_in).count(),
    }))
}
