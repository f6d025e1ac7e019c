//! Puts the built app into the program, for `dpscope serve`: `web/dist` of a checkout, or the folder `app`
//! of a published package.

use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// A built app is far below this.
const LARGEST: u64 = 32 << 20;

fn main() -> io::Result<()> {
    let at = |name| env::var_os(name).map(PathBuf::from).unwrap_or_default();
    let package = at("CARGO_MANIFEST_DIR");
    let is_checkout = package.join("../../web/sizes.js").is_file();
    let app = package.join(if is_checkout { "../../web/dist" } else { "app" });
    let is_program = env::var_os("CARGO_FEATURE_NATIVE").is_some();
    let mut files = Vec::new();
    // A missing folder is not watched, which would build this package anew each time: `cargo xtask
    // web` touches this file.
    println!("cargo::rerun-if-changed=build.rs");
    if is_program && app.join("index.html").is_file() {
        println!("cargo::rerun-if-changed={}", app.display());
        let app = app.canonicalize()?;
        find(&app, &app, &mut files)?;
        files.sort();
    }
    let entries =
        files.iter().map(|(name, path)| format!("({name:?}, include_bytes!({path:?})),\n"));
    fs::write(at("OUT_DIR").join("site.rs"), format!("&[\n{}]", entries.collect::<String>()))
}

/// Adds the files below `folder`, hidden ones left out, with their paths below `app`.
fn find(app: &Path, folder: &Path, files: &mut Vec<(String, PathBuf)>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let Ok(name) = path.strip_prefix(app) else { continue };
        let name = name.to_string_lossy().replace('\\', "/");
        if name.rsplit('/').next().is_some_and(|last| last.starts_with('.')) {
            continue;
        }
        if path.is_dir() {
            find(app, &path, files)?;
        } else if path.metadata()?.len() > LARGEST {
            println!("cargo::warning={} is too large to be served", path.display());
        } else {
            files.push((name, path));
        }
    }
    Ok(())
}
