//! `bindgen INPUT.wasm FOLDER NAME`: what wasm-bindgen's program does, of exactly the version that
//! the lock file has. A program of its own, so that the other tasks start without its crates.

use anyhow::{Context, Result, bail};
use wasm_bindgen_cli_support::Bindgen;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [input, folder, name] = arguments.as_slice() else {
        bail!("usage: bindgen INPUT.wasm FOLDER NAME");
    };
    let mut bindgen = Bindgen::new();
    bindgen.web(true)?.typescript(true).omit_default_module_path(false);
    bindgen.remove_name_section(true).remove_producers_section(true);
    bindgen.input_path(input).out_name(name).generate(folder).with_context(|| input.clone())
}
