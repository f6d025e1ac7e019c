//! Packages of Debian that tests need.

use anyhow::{Result, bail};

use crate::process::{in_root, output_of, shown};

/// Whether the package manager lists the package as installed.
pub(super) fn is_installed(package: &str) -> bool {
    let mut query = in_root("dpkg-query");
    query.args(["--show", "--showformat", "${db:Status-Status}", package]);
    output_of(&mut query).is_ok_and(|status| status == "installed")
}

/// Installs the packages that `what` comes with.
///
/// Root installs with apt-get; others are shown the command, except in CI where sudo needs no
/// password.
pub(super) fn install(what: &str, packages: &[&str], in_ci: bool) -> Result<()> {
    let wanted = packages.join(" ");
    let is_root = output_of(in_root("id").arg("-u")).is_ok_and(|id| id.trim() == "0");
    if !is_root && !in_ci {
        bail!("no {what}: install {wanted}");
    }
    let mut apt_get = if is_root { vec![] } else { vec!["sudo", "-n"] };
    apt_get.push("apt-get");
    for arguments in [&["update"][..], &["install", "--yes", "--no-install-recommends"]] {
        let mut command = in_root(apt_get[0]);
        command.args(&apt_get[1..]).args(arguments).env("DEBIAN_FRONTEND", "noninteractive");
        let is_install = arguments[0] == "install";
        if is_install {
            command.args(packages);
        }
        println!("$ {}", shown(&command));
        match output_of(&mut command) {
            Err(reason) if is_install => bail!("no {what}: install {wanted} ({reason:#})"),
            // One source of packages that is away is not all of them.
            Err(reason) => println!("{reason:#}"),
            Ok(_) => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::is_installed;

    #[test]
    fn an_unknown_package_is_not_installed() {
        assert!(!is_installed("no-such-package"));
    }
}
