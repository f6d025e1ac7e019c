//! A Vulkan driver for the tests of the GPU backend: Debian's in software will do.

use std::path::Path;

use anyhow::Result;

use super::debian;

/// Debian's loader and drivers; one of these rasterises on the CPU.
const PACKAGES: [&str; 2] = ["libvulkan1", "mesa-vulkan-drivers"];

/// Where drivers are listed.
const DRIVERS: [&str; 3] =
    ["/usr/share/vulkan/icd.d", "/etc/vulkan/icd.d", "/usr/local/share/vulkan/icd.d"];

/// Where the loader of a Linux lies.
const LIBRARIES: [&str; 5] = [
    "/usr/lib/x86_64-linux-gnu",
    "/usr/lib/aarch64-linux-gnu",
    "/usr/lib64",
    "/usr/lib",
    "/usr/local/lib",
];

/// Makes sure of a driver where Vulkan is what there is: on Linux.
pub(super) fn ensure(in_ci: bool) -> Result<()> {
    if !cfg!(target_os = "linux") || is_installed(&DRIVERS, &LIBRARIES) {
        return Ok(());
    }
    debian::install("Vulkan driver", &PACKAGES, in_ci)
}

/// Whether there is a loader, and a driver that it finds.
fn is_installed(drivers: &[&str], libraries: &[&str]) -> bool {
    let named = ["VK_DRIVER_FILES", "VK_ICD_FILENAMES"];
    let has_driver = named.iter().any(|name| std::env::var_os(name).is_some())
        || drivers.iter().any(|folder| {
            let files = std::fs::read_dir(folder).into_iter().flatten().flatten();
            files.map(|file| file.path()).any(|path| path.extension() == Some("json".as_ref()))
        });
    has_driver && libraries.iter().any(|folder| Path::new(folder).join("libvulkan.so.1").exists())
}

#[cfg(test)]
mod tests {
    use super::is_installed;
    use crate::process::{root, target_folder};

    #[test]
    fn a_driver_is_a_list_and_a_loader() {
        let folder = target_folder().join("vulkan-test");
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("driver.json"), "{}").unwrap();
        std::fs::write(folder.join("libvulkan.so.1"), "").unwrap();
        let (full, sources) = (folder.display().to_string(), root().display().to_string());
        assert!(is_installed(&[&full], &[&full]));
        assert!(!is_installed(&[&full], &[&sources]), "no loader");
        if std::env::var_os("VK_DRIVER_FILES").is_none()
            && std::env::var_os("VK_ICD_FILENAMES").is_none()
        {
            assert!(!is_installed(&[&sources], &[&full]), "no driver");
        }
    }
}
