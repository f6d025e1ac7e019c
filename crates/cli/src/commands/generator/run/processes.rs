//! The processes of a run, which end with it.
//!
//! Each inherits an environment variable that names the folder and the run. On Linux, processes are found
//! by this variable, even if they left their parent's group and session or the program that started them
//! was killed, and [`adopted`](super::adopted) without it; elsewhere, by their process group.

use std::path::Path;
use std::process::{Child, Command};

use crate::file_id::FileId;

/// Environment variable: the folder and the run that a process belongs to.
const MARK: &str = "DPSCOPE_GENERATOR_RUN";

/// Marks the processes of a folder, or of one of its runs.
#[derive(Debug, Clone)]
pub(super) struct ProcessMark(String);

impl ProcessMark {
    /// The prefix of the marks of all runs in a folder.
    pub(super) fn of_folder(folder: &Path) -> Self {
        ProcessMark(format!("{MARK}={} ", FileId::of(folder)))
    }

    /// The mark of one run in the folder.
    pub(super) fn of_run(&self, name: &str) -> Self {
        ProcessMark(format!("{}{name};", self.0))
    }

    /// Gives a command and its children this mark and a process group of their own.
    pub(super) fn mark(&self, command: &mut Command) {
        command.env(MARK, self.0.trim_start_matches(MARK).trim_start_matches('='));
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(command, 0);
    }

    /// Ends all processes whose mark starts with this one.
    #[cfg(target_os = "linux")]
    pub(super) fn end_all(&self) {
        use nix::sys::signal::{Signal, kill};
        use std::time::Duration;
        /// Limited, since a process that waits for a device cannot be ended.
        const MOST_ROUNDS: usize = 1_000;
        for _ in 0..MOST_ROUNDS {
            // again: processes may have started others meanwhile
            let found = self.processes();
            if found.is_empty() {
                return;
            }
            for process in found {
                let _ = kill(process, Signal::SIGKILL); // it may have ended already
            }
            std::thread::park_timeout(Duration::from_millis(1));
        }
    }

    #[cfg(not(target_os = "linux"))]
    pub(super) fn end_all(&self) {}

    #[cfg(target_os = "linux")]
    fn processes(&self) -> Vec<nix::unistd::Pid> {
        let is_marked = |folder: &Path| {
            let variables = std::fs::read(folder.join("environ")).unwrap_or_default();
            variables.split(|&byte| byte == 0).any(|text| text.starts_with(self.0.as_bytes()))
        };
        let own = std::process::id();
        let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
        let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
        let numbered = paths.filter_map(|path| {
            let number: u32 = path.file_name()?.to_str()?.parse().ok()?;
            (number != own && is_marked(&path)).then_some(number)
        });
        numbered
            .filter_map(|number| Some(nix::unistd::Pid::from_raw(i32::try_from(number).ok()?)))
            .collect()
    }
}

/// Ends what is left of a command: its process group, and all processes with its mark.
pub(super) fn end_processes(child: &mut Child, mark: &ProcessMark) {
    #[cfg(unix)]
    if let Ok(group) = i32::try_from(child.id()) {
        use nix::sys::signal::{Signal, killpg};
        let _ = killpg(nix::unistd::Pid::from_raw(group), Signal::SIGKILL); // it may be empty
    }
    let _ = child.kill(); // it may have ended already
    let _ = child.wait();
    mark.end_all();
}
