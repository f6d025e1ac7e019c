//! The audited mechanism, from the options of `audit dpsgd`.

use dpscope_core::accounting::{Calibration, Parameter};
use dpscope_core::mechanism::{BatchSampler, BatchedGaussian, SamplerKind, ThreatModel};

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
    let uses = args.sampler.parameters.uses_per_epoch.unwrap_or(1).max(1);
    // Poisson batches are drawn from all records, whose number need not be a multiple of B
    let is_poisson = args.sampler.sampler == SamplerKind::Poisson;
    let steps = match is_poisson {
        true => args.records.div_ceil(u64::from(batch_size)),
        false => args.records.saturating_mul(uses) / u64::from(batch_size),
    };
    check_records(args, batch_size, (steps, uses))?;
    let noise_multiplier = match (args.noise_multiplier, args.poisson_epsilon) {
        (Some(noise_multiplier), _) => noise_multiplier,
        (None, epsilon) => {
            let epochs = u64::from(args.epochs);
            let epsilon = epsilon.unwrap_or(f64::NAN);
            let rate = match is_poisson {
                true => Some(f64::from(batch_size) / args.records as f64),
                false => (uses > 1).then(|| uses as f64 / steps as f64),
            };
            calibrated_noise(epsilon, args.run.statement.delta, (steps, epochs), rate)?
        }
    };
    let sampler = match args.sampler.sampler(Some(steps * u64::from(batch_size)))? {
        BatchSampler::Poisson if !args.records.is_multiple_of(batch_size.into()) => {
            BatchSampler::PoissonOfRecords { dataset_size: args.records }
        }
        sampler => sampler,
    };
    let steps_per_epoch = u32::try_from(steps).unwrap_or(u32::MAX);
    let mechanism = BatchedGaussian {
        noise_multiplier,
        steps_per_epoch,
        epochs: args.epochs,
        sampler,
        threat_model: threat_model(args),
        batch_size: Some(batch_size),
    };
    mechanism.distribution()?;
    Ok(mechanism)
}

/// Refuses records that fill no batch, and says which are dropped; `steps` and `uses` are per epoch.
fn check_records(
    args: &DpSgdArgs,
    batch_size: u32,
    (steps, uses): (u64, u64),
) -> Result<(), Failure> {
    let sampler = args.sampler.sampler;
    if args.records < u64::from(batch_size) {
        return Err(Failure::input(format!(
            "--batch-size {batch_size} is larger than --records {}; choose a smaller batch",
            args.records
        )));
    }
    if sampler.truncates() && !args.records.is_multiple_of(batch_size.into()) {
        let whole = steps.saturating_mul(batch_size.into());
        return Err(Failure::input(format!(
            "--records {} is no multiple of --batch-size {batch_size}, and only --sampler poisson \
             simulates batches of records that the batch size does not divide; pass --records {whole}{}",
            args.records,
            dividing_batch_size(args.records, batch_size)
        )));
    }
    let dropped = args.records.saturating_sub(steps.saturating_mul(batch_size.into()) / uses);
    if dropped > 0 {
        let mut note = format!(
            "dropped the last {dropped} of {} records, which do not fill a batch of {batch_size}; \
             {steps} steps per epoch remain",
            args.records
        );
        if !sampler.cuts_an_order() {
            // its own implementations would draw from all records
            note += &format!(
                ". A sampler like {} draws from all records, but only --sampler poisson simulates this \
                 here; for the others pass --records {}{}",
                sampler.name(),
                args.records - dropped,
                dividing_batch_size(args.records, batch_size)
            );
        }
        print_note(&note);
    }
    Ok(())
}

/// The batch size next to this one that divides the records, as another remedy.
fn dividing_batch_size(records: u64, batch_size: u32) -> String {
    let (wanted, most) = (u64::from(batch_size), 100_000);
    let near = (1..most).flat_map(|off| [wanted.saturating_sub(off), wanted.saturating_add(off)]);
    let mut near = near.filter(|&size| size > 1 && size < records);
    let found = near.find(|&size| records.is_multiple_of(size));
    found.map_or(String::new(), |size| format!(" or --batch-size {size}"))
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
