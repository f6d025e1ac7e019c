//! What the web's steps need beside cargo: node, a Chromium, Python with venv.

use anyhow::{Context, Result};

use super::debian;
use crate::process::{in_root, output_of};
use crate::web;

/// The fonts are what a page without fonts of its own is shown in.
const CHROMIUM: [&str; 3] = ["chromium", "fonts-dejavu-core", "fonts-liberation"];

/// What the npm workspace needs: node, and the packages of its lockfile.
pub(super) fn ensure_node() -> Result<()> {
    web::found()?;
    web::install()
}

/// A Chromium for Playwright: the one that is there, else Debian's.
pub(super) fn ensure_chromium(in_ci: bool) -> Result<()> {
    let find = || output_of(in_root("node").arg(web::folder().join("tests/chromium.js")));
    let Err(reason) = find() else { return Ok(()) };
    if !has_apt_get() {
        return Err(reason.context("no Chromium"));
    }
    debian::install("Chromium", &CHROMIUM, in_ci)?;
    find().map(drop).context("apt-get brought no Chromium")
}

/// Python that makes virtual environments, for the documentation tools.
pub(super) fn ensure_python(in_ci: bool) -> Result<()> {
    let python = if cfg!(windows) { "python" } else { "python3" };
    let find = || output_of(in_root(python).args(["-c", "import ensurepip, venv"]));
    let Err(reason) = find() else { return Ok(()) };
    if !has_apt_get() {
        return Err(reason.context("python3 with venv is needed"));
    }
    debian::install("Python with venv", &["python3", "python3-venv"], in_ci)
}

fn has_apt_get() -> bool {
    cfg!(target_os = "linux") && output_of(in_root("apt-get").arg("--version")).is_ok()
}
