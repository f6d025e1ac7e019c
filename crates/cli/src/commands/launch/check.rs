//! Checks an audit by what its first shard refuses.

use std::ffi::OsString;
use std::sync::Arc;

use super::sharded::ShardedAudit;
use crate::args::DeviceChoice;
use crate::device::{found, pick};
use crate::failure::{Exit, Failure};
use crate::given::program;
use crate::host::{Memory, Supervisor, with_memory};
use crate::progress::is_interrupted;

/// Stack size of the thread, as of the program's main one.
const STACK: usize = 8 << 20;

/// Refuses what the first of `shards` refuses before it counts; the device need not be here.
pub(super) fn check(audit: &ShardedAudit, shards: u64) -> Result<(), Failure> {
    let prepared = prepare(audit, &audit.device, shards);
    let missing = match audit.device {
        DeviceChoice::Cpu => None,
        _ => pick(&audit.device, &found()).err(),
    };
    let Some(missing) = missing else { return prepared };
    // Some audits are computed on the CPU alone; what else is wrong shows there too.
    match prepared {
        Err(failure) if format!("{:#}", failure.error) != format!("{:#}", missing.error) => {
            Err(failure)
        }
        _ => prepare(audit, &DeviceChoice::Cpu, shards),
    }
}

/// Runs the first shard until its results would begin, with files in memory.
fn prepare(audit: &ShardedAudit, device: &DeviceChoice, shards: u64) -> Result<(), Failure> {
    let own = ["--shard".to_owned(), format!("1/{shards}")];
    let words = audit.arguments_on(device).into_iter().chain(audit.merge.iter().cloned());
    let words: Vec<OsString> = words.chain(own).map(OsString::from).collect();
    let supervisor = Arc::<Supervisor>::default();
    supervisor.stop();
    let memory = Memory {
        arguments: words.clone(),
        outputs: audit.writes.iter().map(|path| (path.into(), Vec::new())).collect(),
        supervisor,
        ..Memory::default()
    };
    let execute = program()?.execute;
    // a thread of its own: that of the caller may have files in memory too
    let run = std::thread::Builder::new()
        .stack_size(STACK)
        .spawn(move || with_memory(memory, || execute(words)).0)
        .map_err(|error| Failure::with(Exit::Internal, error))?;
    let result = run.join().map_err(|_| Failure::with(Exit::Internal, "the audit panicked"))?;
    match result {
        _ if is_interrupted() => Err(Failure::interrupted()),
        Err(failure) if failure.code != Exit::Interrupted => Err(failure),
        _ => Ok(()),
    }
}
