//! `cargo xtask web`: the wasm bundles, the app and the calculators, into `web/dist`.

mod bundles;
mod node;

use std::path::PathBuf;

use anyhow::Result;

use crate::args::Arguments;
use crate::process::{in_root, root};

const HELP: &str = "\
Builds the wasm bundles, then the app and the calculators, and holds their sizes against the budgets

Usage: cargo xtask web [--wasm]

Options:
  --wasm  only the wasm bundles, into web/wasm

The app comes out in web/dist, the npm package of the calculators in web/dist/calculators. Needs
node 20.19 or later with npm, and rustup's target wasm32-unknown-unknown.
";

pub(crate) fn run(arguments: Vec<String>) -> Result<()> {
    let mut arguments = Arguments::new(arguments);
    if arguments.help() {
        print!("{HELP}");
        return Ok(());
    }
    let only_wasm = arguments.flag("--wasm");
    arguments.finish()?;

    node::found()?;
    node::install()?;
    bundles::build()?;
    if !only_wasm {
        node::build()?;
    }
    let mut sizes = in_root("node");
    sizes.arg(folder().join("sizes.js")).args(only_wasm.then_some("--wasm"));
    node::succeed(&mut sizes)
}

/// The npm workspace.
pub(crate) fn folder() -> PathBuf {
    root().join("web")
}
