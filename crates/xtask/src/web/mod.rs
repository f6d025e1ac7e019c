//! `cargo xtask web`: the wasm bundles, the app, the calculators and the documentation, into `web/dist`.

mod bundles;
mod hosts;
mod node;
mod pages;

use std::path::Path;
use std::time::SystemTime;

use anyhow::{Context, Result, ensure};

use crate::args::Arguments;
use crate::notices;
use crate::process::{in_root, root, succeed};

const HELP: &str = "\
Builds the wasm bundles, then app, calculators and documentation, and checks sizes against the budgets

Usage: cargo xtask web [--wasm | --pages | --hosts]

Options:
  --wasm   only the wasm bundles, into web/wasm
  --pages  only the pages of documentation tools with the calculators that were built, into web/pages
  --hosts  the same of every host that the README of the calculators names, and of JupyterLab

The app comes out in web/dist, the npm package of the calculators in web/dist/calculators, the
documentation in web/dist/docs, a plain HTML page with all calculators in web/pages/html. Needs node
20.19 or later with npm; rustup's target wasm32-unknown-unknown is added where it is missing.
";

pub(crate) use bundles::names as module_names;
pub(crate) use node::{folder, found, install, npm};

pub(crate) fn run(arguments: Vec<String>) -> Result<()> {
    let Some(mut arguments) = Arguments::parse_or_help(arguments, HELP) else {
        return Ok(());
    };
    let only_wasm = arguments.flag("--wasm");
    let only_pages = arguments.flag("--pages");
    let only_hosts = arguments.flag("--hosts");
    arguments.finish()?;
    if only_hosts {
        return hosts::build();
    }
    if only_pages {
        return pages::build();
    }

    node::found()?;
    node::install()?;
    bundles::build()?;
    if !only_wasm {
        node::build()?;
        pages::without_tools()?;
        let dist = folder().join("dist");
        notices::write_of_bundles(&[dist.join("calculators"), dist])?;
        watched_by_the_program()?;
    }
    let mut sizes = in_root("node");
    sizes.arg(folder().join("sizes.js")).args(only_wasm.then_some("--wasm"));
    succeed(&mut sizes)
}

/// Refuses a folder without the built app.
pub(crate) fn check_app(folder: &Path) -> Result<()> {
    ensure!(
        folder.join("index.html").is_file(),
        "{} has no app; leave out --built to build it",
        folder.display()
    );
    Ok(())
}

/// The program embeds the app, and its build script cannot watch a folder that is not there yet.
fn watched_by_the_program() -> Result<()> {
    let script = root().join("crates/cli/build.rs");
    let file = std::fs::File::options().append(true).open(&script);
    file.and_then(|file| file.set_modified(SystemTime::now())).context("crates/cli/build.rs")
}
