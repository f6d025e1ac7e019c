//! How much memory a command may use for what it reads.

use std::path::{Path, PathBuf};

/// Reading may take one part in this many of the available memory: arrays are then copied and scored.
const SHARE: u64 = 4;
/// Bytes that may be read however little memory is available.
const LEAST_BYTES: u64 = 256 << 20;
const MOST_BYTES: u64 = 16 << 30;

/// Bytes that the content of a file may take in memory: a quarter of what is available to this process.
#[must_use]
pub fn readable_bytes() -> u64 {
    let available = [of_machine(), of_groups(Path::new("/")), of_process()];
    share(available.into_iter().flatten().min())
}

fn share(available: Option<u64>) -> u64 {
    available.map_or(MOST_BYTES, |bytes| bytes / SHARE).clamp(LEAST_BYTES, MOST_BYTES)
}

/// Memory that the kernel reports as available without swapping.
fn of_machine() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1 << 10)
}

/// Memory left by the control groups (versions 1 and 2) of this process; `root` is the root of the file
/// system.
fn of_groups(root: &Path) -> Option<u64> {
    let number = |path: PathBuf| std::fs::read_to_string(path).ok()?.trim().parse::<u64>().ok();
    let left = |folder: &Path, limit: &str, used: &str| {
        let limit = number(folder.join(limit))?; // `max` where there is none
        Some(limit.saturating_sub(number(folder.join(used)).unwrap_or(0)))
    };
    let groups = std::fs::read_to_string(root.join("proc/self/cgroup")).unwrap_or_default();
    let own = groups.lines().find_map(|line| line.strip_prefix("0::/")).unwrap_or_default();
    let mounted = root.join("sys/fs/cgroup");
    let unified = mounted.join(own).ancestors().map(Path::to_owned).collect::<Vec<_>>();
    let unified = unified.iter().take_while(|folder| folder.starts_with(&mounted));
    let unified = unified.filter_map(|folder| left(folder, "memory.max", "memory.current"));
    let older = mounted.join("memory");
    let older = left(&older, "memory.limit_in_bytes", "memory.usage_in_bytes");
    unified.chain(older).min()
}

/// The limit on the address space, as `ulimit -v` sets it.
fn of_process() -> Option<u64> {
    #[cfg(unix)]
    {
        use nix::sys::resource::{RLIM_INFINITY, Resource, getrlimit};
        let (limit, _) = getrlimit(Resource::RLIMIT_AS).ok()?;
        (limit != RLIM_INFINITY).then_some(limit)
    }
    #[cfg(not(unix))]
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_within_its_bounds() {
        assert_eq!(share(None), MOST_BYTES);
        assert_eq!(share(Some(0)), LEAST_BYTES);
        assert_eq!(share(Some(4 << 30)), 1 << 30);
        assert_eq!(share(Some(u64::MAX)), MOST_BYTES);
        assert!((LEAST_BYTES..=MOST_BYTES).contains(&readable_bytes()));
    }

    #[test]
    fn the_smallest_group_decides() {
        let root = std::env::temp_dir().join(format!("dpscope-groups-{}", std::process::id()));
        let write = |name: &str, text: &str| {
            let path = root.join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        let none = of_groups(&root);
        write("proc/self/cgroup", "0::/job/step\n");
        write("sys/fs/cgroup/job/step/memory.max", "max\n");
        write("sys/fs/cgroup/job/memory.max", "3000\n");
        write("sys/fs/cgroup/job/memory.current", "1000\n");
        let unified = of_groups(&root);
        write("sys/fs/cgroup/memory/memory.limit_in_bytes", "700\n");
        let older = of_groups(&root);
        std::fs::remove_dir_all(&root).unwrap();
        assert_eq!([none, unified, older], [None, Some(2000), Some(700)]);
    }
}
