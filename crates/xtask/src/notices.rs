//! Licences of third parties, for what is distributed: programs, wheels, the web app.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::process::{cargo, output_of, root};

/// Licences of Rust crates and npm packages.
pub(crate) const NOTICES: &str = "THIRD-PARTY-NOTICES.md";
/// Licences of the standard library of Rust, as its toolchain states them.
pub(crate) const LIBRARY: &str = "RUST-LIBRARY-NOTICES.html";

/// What the bundler of app, calculators and documentation writes about the packages of npm.
const OF_NPM: &str = "third-party.md";
/// The crates in the wasm bundles, beside it.
const OF_BUNDLES: &str = "third-party-wasm.md";
const BUNDLES: Linked<'_> = Linked { package: "dpscope-wasm", target: "wasm32-unknown-unknown" };

/// Starts of the names of files with licences.
const NAMES: [&str; 6] = ["licence", "license", "copying", "copyright", "notice", "unlicense"];
/// Larger files are skipped.
const MOST_BYTES: u64 = 1 << 20;

/// A package of the workspace as it is linked for a target.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Linked<'a> {
    pub(crate) package: &'a str,
    pub(crate) target: &'a str,
}

/// A crate of others.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Crate {
    name: String,
    version: String,
    licence: String,
    authors: Vec<String>,
    folder: PathBuf,
}

/// Writes the licences of all crates that are linked, and of the app where the program has it.
pub(crate) fn write(linked: &[Linked<'_>], folder: &Path) -> Result<()> {
    let mut linked = linked.to_vec();
    let dist = root().join("web/dist");
    let mut text = String::from("# Third-party notices\n");
    if dist.join("index.html").is_file() {
        let documents = ["", "calculators", "docs"].map(|part| {
            let path = dist.join(part).join(OF_NPM);
            fs::read_to_string(&path).with_context(|| {
                format!("{}: build the app again with `cargo xtask web`", path.display())
            })
        });
        let documents = documents.into_iter().collect::<Result<Vec<String>>>()?;
        text += "\n## Packages of npm in the web app\n";
        text += &packages(&documents);
        linked.push(BUNDLES);
    }
    text += "\n## Crates of Rust\n\n";
    text += &format!("The licences of the standard library are in {LIBRARY}.\n");
    text += &sections(&crates(&linked)?)?;
    fs::write(folder.join(NOTICES), text)?;
    let library = sysroot()?.join("share/doc/rust/COPYRIGHT-library.html");
    fs::copy(&library, folder.join(LIBRARY)).with_context(|| {
        format!("{}: it comes with the component rustc of rustup", library.display())
    })?;
    Ok(())
}

/// Writes the licences of the crates in the wasm bundles beside each built app.
pub(crate) fn write_of_bundles(folders: &[PathBuf]) -> Result<()> {
    let text = format!("# Crates of Rust in the wasm bundles\n{}", sections(&crates(&[BUNDLES])?)?);
    folders.iter().try_for_each(|folder| {
        let path = folder.join(OF_BUNDLES);
        fs::write(&path, &text).with_context(|| path.display().to_string())
    })
}

fn sysroot() -> Result<PathBuf> {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let sysroot = output_of(crate::process::in_root(rustc).args(["--print", "sysroot"]))?;
    Ok(PathBuf::from(sysroot.trim()))
}

/// The sections of documents of Vite, one level lower, each once.
fn packages(documents: &[String]) -> String {
    let sections = documents.iter().flat_map(|document| document.split("\n## ").skip(1));
    let sections: BTreeSet<&str> = sections.map(str::trim_end).collect();
    sections.into_iter().map(|section| format!("\n### {section}\n")).collect()
}

/// The crates of others that are linked: neither build scripts nor macros that expand at build time.
fn crates(linked: &[Linked<'_>]) -> Result<Vec<Crate>> {
    let mut metadata = cargo();
    metadata.args(["metadata", "--format-version", "1", "--locked", "--all-features"]);
    let metadata: Value = serde_json::from_str(&output_of(&mut metadata)?)?;
    let packages = metadata["packages"].as_array().context("cargo metadata lists no packages")?;
    let text =
        |package: &Value, field: &str| package[field].as_str().unwrap_or_default().to_owned();
    let known: BTreeMap<(String, String), &Value> = packages
        .iter()
        .filter(|package| !package["source"].is_null())
        .map(|package| ((text(package, "name"), text(package, "version")), package))
        .collect();
    let mut found = BTreeSet::new();
    for Linked { package, target } in linked {
        let mut tree = cargo();
        tree.args(["tree", "--locked", "--prefix", "none", "--edges", "normal,no-proc-macro"]);
        tree.args(["--format", "{p}", "--package", package, "--target", target]);
        for line in output_of(&mut tree)?.lines() {
            let mut words = line.split(' ');
            let name = words.next().unwrap_or_default().to_owned();
            let version = words.next().unwrap_or_default().trim_start_matches('v').to_owned();
            // those of the workspace have no source
            let Some(package) = known.get(&(name.clone(), version.clone())) else { continue };
            let manifest = PathBuf::from(text(package, "manifest_path"));
            let folder = manifest.parent().context("a manifest has a folder")?.to_owned();
            let licence = text(package, "license");
            let authors = package["authors"].as_array().into_iter().flatten();
            let authors = authors.filter_map(|author| Some(author.as_str()?.to_owned())).collect();
            found.insert(Crate { name, version, licence, authors, folder });
        }
    }
    ensure!(!found.is_empty(), "cargo tree lists no crates");
    Ok(found.into_iter().collect())
}

/// One section for each text, with the crates that have it.
fn sections(crates: &[Crate]) -> Result<String> {
    let mut texts: BTreeMap<String, (String, Vec<&Crate>)> = BTreeMap::new();
    for one in crates {
        for text in licences(one)? {
            let key = text.split_whitespace().collect::<Vec<_>>().join(" ");
            texts.entry(key).or_insert_with(|| (text, Vec::new())).1.push(one);
        }
    }
    let mut sections: Vec<(Vec<&Crate>, String)> =
        texts.into_values().map(|(text, crates)| (crates, text)).collect();
    sections.sort();
    let name = |one: &&Crate| format!("- {} {} ({})\n", one.name, one.version, one.licence);
    let section = |(crates, text): (Vec<&Crate>, String)| {
        let others = match crates.len() - 1 {
            0 => String::new(),
            1 => " and another crate".to_owned(),
            more => format!(" and {more} other crates"),
        };
        let names: String = crates.iter().map(name).collect();
        let line = |line: &str| format!("    {line}").trim_end().to_owned() + "\n";
        let lines: String = text.lines().map(line).collect();
        format!("\n### {}{others}\n\n{names}\n{lines}", crates[0].name)
    };
    Ok(sections.into_iter().map(section).collect())
}

/// The licence files of a crate; if it has none, the text of Apache-2.0 or MIT, where it allows either.
fn licences(one: &Crate) -> Result<Vec<String>> {
    let entries = fs::read_dir(&one.folder).with_context(|| one.folder.display().to_string())?;
    let mut texts = BTreeSet::new();
    for entry in entries {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().to_lowercase();
        let size = entry.metadata()?.len();
        let is_text = entry.path().is_file() && size <= MOST_BYTES;
        if is_text && NAMES.iter().any(|start| name.starts_with(start)) {
            let bytes = fs::read(entry.path())?;
            texts.insert(String::from_utf8_lossy(&bytes).trim_end().to_owned());
        }
    }
    if !texts.is_empty() {
        return Ok(texts.into_iter().collect());
    }
    let is_under = |name| one.licence.split([' ', '/', '(', ')']).any(|word| word == name);
    if is_under("Apache-2.0") {
        return Ok(vec![fs::read_to_string(root().join("LICENSE-APACHE"))?]);
    }
    ensure!(
        is_under("MIT"),
        "{} {} has no file with its licence ({}); use another version or crate",
        one.name,
        one.version,
        one.licence
    );
    let own = fs::read_to_string(root().join("LICENSE-MIT"))?;
    let (_, terms) = own.split_once("\n\nPermission").context("LICENSE-MIT has no permission")?;
    let authors = match one.authors.is_empty() {
        true => format!("the authors of {}", one.name),
        false => one.authors.join(", "),
    };
    Ok(vec![format!("MIT License\n\nCopyright (c) {authors}\n\nPermission{}", terms.trim_end())])
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROGRAM: Linked<'_> = Linked { package: "dpscope", target: "x86_64-unknown-linux-gnu" };

    #[test]
    fn linked_crates_have_their_texts() {
        let crates = crates(&[PROGRAM]).unwrap();
        let is_listed = |name: &str| crates.iter().any(|one| one.name == name);
        assert!(is_listed("wgpu") && is_listed("rayon"));
        for other in ["syn", "serde_derive", "dpscope-core", "naga-no-such-crate", "proptest"] {
            assert!(!is_listed(other), "{other}");
        }
        let text = sections(&crates).unwrap();
        for one in &crates {
            let line = format!("- {} {} ({})\n", one.name, one.version, one.licence);
            assert!(text.contains(&line), "{line}");
        }
        assert!(text.contains("Permission is hereby granted") && text.contains("Apache License"));
    }

    #[test]
    fn every_target_has_crates_of_its_own_with_texts() {
        let windows = Linked { target: "x86_64-pc-windows-msvc", ..PROGRAM };
        for target in [windows.target, "x86_64-pc-windows-gnu", "aarch64-apple-darwin"] {
            sections(&crates(&[Linked { target, ..PROGRAM }]).unwrap()).unwrap();
        }
        let names = |linked: &[Linked<'_>]| -> Vec<String> {
            crates(linked).unwrap().into_iter().map(|one| one.name).collect()
        };
        let (linux, both) = (names(&[PROGRAM]), names(&[PROGRAM, windows]));
        assert!(
            !linux.contains(&"windows-sys".to_owned()) && both.contains(&"windows-sys".to_owned())
        );
        assert!(linux.iter().all(|name| both.contains(name)));
    }

    #[test]
    fn a_crate_without_a_text_has_that_of_its_licence_or_is_refused() {
        let folder = std::env::temp_dir().join(format!("dpscope-notices-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let of = |licence: &str| Crate {
            name: "a".to_owned(),
            version: "1".to_owned(),
            licence: licence.to_owned(),
            authors: vec!["B <b@example.org>".to_owned()],
            folder: folder.clone(),
        };
        let (mit, both) = (licences(&of("MIT")), licences(&of("MIT/Apache-2.0")));
        let nameless = licences(&Crate { authors: Vec::new(), ..of("MIT") });
        let none = licences(&of("MPL-2.0"));
        fs::write(folder.join("License.txt"), "by a\n").unwrap();
        fs::write(folder.join("main.rs"), "code").unwrap();
        let own = licences(&of("MIT"));
        fs::remove_dir_all(&folder).unwrap();
        let mit = &mit.unwrap()[0];
        assert!(
            mit.contains("Copyright (c) B <b@example.org>\n\nPermission is hereby granted"),
            "{mit}"
        );
        assert!(nameless.unwrap()[0].contains("Copyright (c) the authors of a\n"));
        assert!(none.unwrap_err().to_string().contains("a 1 has no file"));
        assert!(both.unwrap()[0].contains("Apache License"));
        assert_eq!(own.unwrap(), ["by a"]);
    }

    #[test]
    fn bundles_have_the_licences_of_their_crates() {
        let folder = std::env::temp_dir().join(format!("dpscope-bundles-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        write_of_bundles(std::slice::from_ref(&folder)).unwrap();
        let text = fs::read_to_string(folder.join(OF_BUNDLES)).unwrap();
        fs::remove_dir_all(&folder).unwrap();
        for name in ["js-sys", "wasm-bindgen", "libm"] {
            assert!(text.contains(&format!("\n- {name} ")), "{name}");
        }
    }

    #[test]
    fn packages_of_npm_have_one_section_each() {
        let app = "# Licenses\n\nThe app:\n\n## lit - 3 (BSD)\n\ntext\n\n## d3 - 1 (ISC)\n";
        let other = "# Licenses\n\n## lit - 3 (BSD)\n\ntext\n";
        let expected = "\n### d3 - 1 (ISC)\n\n### lit - 3 (BSD)\n\ntext\n";
        assert_eq!(packages(&[app.to_owned(), other.to_owned()]), expected);
    }
}
