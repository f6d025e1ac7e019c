//! The CPU time of the programs that a step runs.

use std::time::Duration;

/// User and system time of every child process that has ended and was waited for, and of theirs.
/// `None` where the system does not report it.
#[cfg(unix)]
pub(super) fn children_cpu_time() -> Option<Duration> {
    use nix::sys::resource::{UsageWho, getrusage};
    use nix::sys::time::TimeValLike;

    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).ok()?;
    let time = usage.user_time() + usage.system_time();
    u64::try_from(time.num_microseconds()).ok().map(Duration::from_micros)
}

#[cfg(not(unix))]
pub(super) fn children_cpu_time() -> Option<Duration> {
    None
}

/// For example `0.5 CPU-minutes`.
pub(super) fn cpu_minutes(time: Duration) -> String {
    format!("{:.1} CPU-minutes", time.as_secs_f64() / 60.0)
}

#[cfg(test)]
mod tests {
    use super::{Duration, children_cpu_time, cpu_minutes};
    use crate::process::{cargo, output_of};

    #[test]
    #[cfg(unix)]
    fn a_child_process_adds_cpu_time() {
        let before = children_cpu_time().unwrap();
        output_of(cargo().arg("--version")).unwrap();
        assert!(children_cpu_time().unwrap() > before);
    }

    #[test]
    fn cpu_time_is_printed_in_minutes() {
        assert_eq!(cpu_minutes(Duration::from_secs(93)), "1.6 CPU-minutes");
    }
}
