//! The audited mechanism, from the options of `audit dpsgd`.

use dpscope_core::accounting::{Calibration, Parameter};
use dpscope_core::format::given;
use dpscope_core::mechanism::{BatchedGaussian, SamplerKind, ThreatModel};

use super::DpSgdArgs;
use super::one_run::ProtocolArg;
use crate::failure::Failure;
use crate::output::print_note;

/// The threat model: by default target-canary with many canaries, else partially-informed if it is
/// defined for the sampler.
fn threat_model(args: &DpSgdArgs) -> ThreatModel {
    let defined = args.sampler.sampler.threat_models();
    let default = if args.protocol == Some(ProtocolArg::OneRun) {
        ThreatModel::TargetCanary
    } else if defined.contains(&ThreatModel::PartiallyInformed) {
        ThreatModel::PartiallyInformed
    } else {
        args.sampler.sampler.default_threat_model()
    };
    args.sampler.threat_model.unwrap_or(default)
}

/// The audited mechanism, with its steps per epoch and its noise, which may be calibrated.
pub(crate) fn mechanism(args: &DpSgdArgs) -> Result<BatchedGaussian, Failure> {
    let batch_size = args.sampler.batch_size.ok_or_else(|| {
        Failure::input(
            "--batch-size is missing; pass the number of records per batch, for example 100",
        )
    })?;
    if args.records < u64::from(batch_size) {
        return Err(Failure::input(format!(
            "--batch-size {batch_size} is larger than --records {}; choose a smaller batch",
            args.records
        )));
    }
    let uses = args.sampler.parameters.uses_per_epoch.unwrap_or(1).max(1);
    let drawn = args.records.saturating_mul(uses);
    let steps = match args.sampler.sampler.cuts_an_order() {
        true => drawn / u64::from(batch_size),
        false => drawn.div_ceil(u64::from(batch_size)), // as accounting counts
    };
    let mechanism = BatchedGaussian {
        noise_multiplier: f64::NAN,
        steps_per_epoch: u32::try_from(steps).unwrap_or(u32::MAX),
        epochs: args.epochs,
        sampler: args.sampler.sampler(Some(args.records))?,
        threat_model: threat_model(args),
        batch_size: Some(batch_size),
        dataset_size: None,
    };
    let mechanism = mechanism.of_records(args.records);
    note_records(args.records, &mechanism);
    let noise_multiplier = match (args.noise_multiplier, args.poisson_epsilon) {
        (Some(noise_multiplier), _) => noise_multiplier,
        (None, epsilon) => {
            let length = (steps, u64::from(args.epochs));
            let (epsilon, rate) = (epsilon.unwrap_or(f64::NAN), mechanism.sampling_rate());
            calibrated_noise(epsilon, args.run.statement.delta, length, Some(rate))?
        }
    };
    let mechanism = BatchedGaussian { noise_multiplier, ..mechanism };
    mechanism.distribution()?;
    Ok(mechanism)
}

/// Says which records are dropped, or that batches have another mean size than the stated one.
fn note_records(records: u64, mechanism: &BatchedGaussian) {
    let batch_size = mechanism.batch_size.unwrap_or(1);
    let mean = mechanism.mean_batch_size().unwrap_or(1.0);
    let used = mechanism.records_per_epoch().unwrap_or(records);
    let steps = mechanism.steps_per_epoch;
    if used < records {
        print_note(&format!(
            "dropped the last {} of {records} records, which do not fill a batch of {batch_size}; \
             {steps} steps per epoch remain",
            records - used
        ));
    } else if mean != f64::from(batch_size) {
        let uses = mechanism.sampler.uses_per_epoch().unwrap_or(1);
        print_note(&format!(
            "each of {records} records is in {uses} of {steps} batches per epoch: a batch has {} records \
             on average, by which sums of gradients are divided, not --batch-size {batch_size}",
            given((100.0 * mean).round() / 100.0)
        ));
    }
}

/// The noise multiplier at which Poisson accounting claims `epsilon`; the sampling rate is 1/T by
/// default.
fn calibrated_noise(
    epsilon: f64,
    delta: f64,
    (steps, epochs): (u64, u64),
    sampling_rate: Option<f64>,
) -> Result<f64, Failure> {
    let calibration = Calibration {
        parameter: Parameter::Noise,
        sampler: SamplerKind::Poisson,
        epsilon,
        delta,
        noise_multiplier: None,
        steps: Some(steps),
        epochs: Some(epochs),
        sampling_rate,
        truncation: None,
        adjacency: None,
    };
    let found = calibration.run().map_err(Failure::input)?;
    Ok(found.value)
}
