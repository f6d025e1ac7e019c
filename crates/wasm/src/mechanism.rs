//! The simulated mechanism, as a page describes it.

use dpscope_core::mechanism::{BatchedGaussian, MechanismError, SamplerKind, ThreatModel};

use crate::failure::Failure;
use crate::record::Record;

/// Fields that [`mechanism`] reads.
pub const FIELDS: [&str; 7] = [
    "noise_multiplier",
    "steps",
    "epochs",
    "sampler",
    "threat_model",
    "batch_size",
    "buffer_examples",
];

/// Reads a mechanism; its threat model is the sampler's default one if not given.
///
/// # Errors
/// A field that is missing, or that the sampler does not have; values are checked by
/// [`BatchedGaussian::distribution`].
pub fn mechanism(given: &Record) -> Result<BatchedGaussian, Failure> {
    let sampler = given.needed_text("sampler")?.parse::<SamplerKind>();
    let sampler = sampler.map_err(MechanismError::from)?;
    let threat_model = match given.text("threat_model")? {
        Some(name) => name.parse::<ThreatModel>().map_err(MechanismError::from)?,
        None => sampler.default_threat_model(),
    };
    Ok(BatchedGaussian {
        noise_multiplier: given.needed_number("noise_multiplier")?,
        steps_per_epoch: small("steps", given.needed_whole("steps", 1)?)?,
        epochs: small("epochs", given.needed_whole("epochs", 1)?)?,
        sampler: sampler.with_buffer(given.whole("buffer_examples", 0)?)?,
        threat_model,
        batch_size: given.whole("batch_size", 0)?.map(|b| small("batch_size", b)).transpose()?,
    })
}

/// A number below 2³².
///
/// # Errors
/// A larger one.
pub fn small(field: &'static str, number: u64) -> Result<u32, Failure> {
    let refused = |_| Failure::outside(field, number as f64, "a whole number below 2^32");
    u32::try_from(number).map_err(refused)
}

impl From<MechanismError> for Failure {
    fn from(error: MechanismError) -> Self {
        let field = match &error {
            MechanismError::NoiseMultiplier { .. } => "noise_multiplier",
            MechanismError::StepsPerEpoch { .. } => "steps",
            MechanismError::Epochs { .. } => "epochs",
            MechanismError::BatchSize { .. }
            | MechanismError::MovingBatchSize { .. }
            | MechanismError::BatchSizeMissing { .. } => "batch_size",
            MechanismError::Buffer { .. }
            | MechanismError::BufferMissing { .. }
            | MechanismError::BufferUnused { .. } => "buffer_examples",
            MechanismError::UndefinedPair { .. } | MechanismError::UnknownThreatModel(_) => {
                "threat_model"
            }
            _ => "sampler",
        };
        Failure { field: Some(field), ..Failure::refused(&error) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Value;
    use dpscope_core::mechanism::BatchSampler;

    fn read(changes: &[(&'static str, Value)]) -> Result<BatchedGaussian, Failure> {
        let mut fields = vec![
            ("noise_multiplier", Value::Number(1.0)),
            ("steps", Value::Number(10.0)),
            ("epochs", Value::Number(1.0)),
            ("sampler", Value::Text("shuffle".to_owned())),
        ];
        for change in changes {
            fields.retain(|(name, _)| *name != change.0);
            fields.push(change.clone());
        }
        mechanism(&Record::of(&fields, &FIELDS)?)
    }

    #[test]
    fn what_is_left_out_is_the_samplers_default() {
        let found = read(&[]).unwrap();
        assert_eq!(
            (found.sampler, found.threat_model),
            (BatchSampler::Shuffle, ThreatModel::WorstCase)
        );
        let poisson = read(&[("sampler", Value::Text("poisson".to_owned()))]).unwrap();
        assert_eq!(poisson.threat_model, ThreatModel::TargetCanary);
    }

    #[test]
    fn failures_name_the_field() {
        for (field, value) in [
            ("steps", Value::Number(0.0)),
            ("steps", Value::Number(4_294_967_296.0)),
            ("sampler", Value::Text("Shuffle".to_owned())),
            ("threat_model", Value::Text("best-case".to_owned())),
            ("buffer_examples", Value::Number(3.0)),
            ("noise_multiplier", Value::Flag(true)),
        ] {
            assert_eq!(read(&[(field, value)]).unwrap_err().field, Some(field));
        }
        let noise = read(&[("noise_multiplier", Value::Number(0.1))]).unwrap();
        assert_eq!(
            Failure::from(noise.distribution().unwrap_err()).field,
            Some("noise_multiplier")
        );
    }
}
