//! What the web's steps need beside cargo: node, a Chromium, Python with venv.

use anyhow::{Context, Result};

use super::debian;
use crate::process::{in_root, output_of};
use crate::web;

/// What a page without fonts of its own is rendered in; the compared pictures were made with these.
const FONTS: [&str; 2] = ["fonts-dejavu-core", "fonts-liberation"];

/// What the npm workspace needs: node, and the packages of its lockfile.
pub(super) fn ensure_node() -> Result<()> {
    web::found()?;
    web::install()
}

/// A Chromium for Playwright: the one that is installed, else Debian's. The fonts are installed
/// beside either; where that fails, the step runs and compares no pictures.
pub(super) fn ensure_chromium(in_ci: bool) -> Result<()> {
    let find = || output_of(in_root("node").arg(web::folder().join("tests/chromium.js")));
    let found = find();
    if !has_apt_get() {
        return found.map(drop).context("no Chromium");
    }
    let mut missing: Vec<&str> =
        FONTS.into_iter().filter(|font| !debian::is_installed(font)).collect();
    if found.is_err() {
        missing.push("chromium");
    }
    if missing.is_empty() {
        return Ok(());
    }
    match debian::install("Chromium with its fonts", &missing, in_ci) {
        Err(reason) if found.is_ok() => {
            println!("{reason:#}; pictures are not compared");
            Ok(())
        }
        Err(reason) => Err(reason),
        Ok(()) => find().map(drop).context("apt-get brought no Chromium"),
    }
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

pub(super) fn has_apt_get() -> bool {
    cfg!(target_os = "linux") && output_of(in_root("apt-get").arg("--version")).is_ok()
}
