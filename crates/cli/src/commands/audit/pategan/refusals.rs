//! Refusals of an audit, with its options.

use dpscope_engine::Plan as _;
use dpscope_report::number::counted;
use dpscope_synth::audit::{Audit, AuditError};
use dpscope_synth::mechanism::MechanismError;
use dpscope_synth::workload::PateGanPlan;

use crate::failure::Failure;

/// The most memory that runs may take.
pub(super) const MOST_BYTES: u64 = 16 << 30;

pub(in crate::commands) fn check_memory(audit: &Audit, runs: u64) -> Result<(), Failure> {
    let needed = audit.memory_bytes(runs, rayon::current_num_threads() as u64);
    if needed <= MOST_BYTES {
        return Ok(());
    }
    Err(Failure::input(format!(
        "{} of each world need about {} GiB of memory, more than {}; use fewer --runs or --rows, \
         fewer --threads, or fewer columns",
        counted(runs, "run"),
        needed.div_ceil(1 << 30),
        MOST_BYTES >> 30
    )))
}

/// Refuses runs whose file could not be read again.
pub(super) fn check_saved(audit: &Audit, runs: u64) -> Result<(), Failure> {
    let needed = audit.saved_bytes(runs);
    if needed <= PateGanPlan::MAX_BYTES as u64 {
        return Ok(());
    }
    Err(Failure::input(format!(
        "a file of {} of each world would have up to {} MiB, more than {}; use fewer --runs, or leave \
         --checkpoint, --shard and --out out",
        counted(runs, "run"),
        needed.div_ceil(1 << 20),
        PateGanPlan::MAX_BYTES >> 20
    )))
}

/// The options in front of a message.
pub(super) fn named(error: AuditError) -> Failure {
    match &error {
        AuditError::Mechanism(MechanismError::NoEpsilon { fault }) => Failure::input(format!(
            "--fault {fault} concerns when to stop; pass --epsilon, in place of --iterations"
        )),
        AuditError::Mechanism(MechanismError::Settings(_)) => Failure::input(format!(
            "{error}; see --teachers, --gamma, --batch-size, --rows, --epsilon and --delta"
        )),
        AuditError::Mechanism(MechanismError::NoLabel { .. }) => {
            Failure::input(format!("{error}; name a column of categories with --label"))
        }
        _ => Failure::input(error),
    }
}
