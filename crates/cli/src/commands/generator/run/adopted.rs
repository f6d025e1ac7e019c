//! Processes that left everything by which a run is recognised: on Linux, this program adopts them.

use std::collections::BTreeSet;
use std::io::Result;
use std::process::{Child, Command};
use std::sync::{Mutex, PoisonError};

/// Commands that this program started and has not waited for.
#[derive(Debug)]
pub(super) struct StartedCommands {
    running: Mutex<BTreeSet<u32>>,
    /// Children from before: a shell may have started them, and become this program.
    earlier: Vec<i32>,
}

impl StartedCommands {
    /// Makes this program the parent of processes whose parent ends, if it is a program of its own.
    pub(super) fn adopting_orphans() -> Self {
        #[cfg(target_os = "linux")]
        if !crate::host::is_guest() {
            // where it is refused, orphans are found by their mark alone
            let _ = nix::sys::prctl::set_child_subreaper(true);
        }
        StartedCommands { running: Mutex::default(), earlier: children() }
    }

    pub(super) fn spawn(&self, command: &mut Command) -> Result<Child> {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        let child = command.spawn()?;
        running.insert(child.id());
        Ok(child)
    }

    /// Forgets a command that was waited for. Where no other runs, ends all adopted processes: which
    /// command an orphan without a mark belongs to is not known.
    pub(super) fn finished(&self, child: &Child) {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        running.remove(&child.id());
        if running.is_empty() && !crate::host::is_guest() {
            end_children(&self.earlier);
        }
    }
}

/// Ends the children of this program but the earlier ones, and theirs, which it adopts.
#[cfg(target_os = "linux")]
fn end_children(earlier: &[i32]) {
    use nix::sys::signal::{Signal, kill};
    use nix::sys::wait::{WaitPidFlag, waitpid};
    use nix::unistd::Pid;
    /// Limited, since a process that waits for a device cannot be ended.
    const MOST_ROUNDS: usize = 1_000;
    for _ in 0..MOST_ROUNDS {
        let mut found = children();
        found.retain(|number| !earlier.contains(number));
        if found.is_empty() {
            return;
        }
        for process in found.into_iter().map(Pid::from_raw) {
            let _ = kill(process, Signal::SIGKILL); // it may have ended already
            let _ = waitpid(process, Some(WaitPidFlag::WNOHANG)); // in the next round otherwise
        }
        std::thread::park_timeout(std::time::Duration::from_millis(1));
    }
}

#[cfg(not(target_os = "linux"))]
fn end_children(_: &[i32]) {}

#[cfg(not(target_os = "linux"))]
fn children() -> Vec<i32> {
    Vec::new()
}

/// The processes whose parent is this program.
#[cfg(target_os = "linux")]
fn children() -> Vec<i32> {
    let own = i32::try_from(std::process::id()).ok();
    let parent = |number: i32| -> Option<i32> {
        let text = std::fs::read_to_string(format!("/proc/{number}/stat")).ok()?;
        // PID (NAME) STATE PARENT …, where a name may contain anything
        text.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
    };
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    numbers.filter(|&number| own.is_some() && parent(number) == own).collect()
}
