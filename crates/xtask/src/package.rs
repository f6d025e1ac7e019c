//! `cargo xtask package`: everything that publishing needs, without publishing.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use crate::args::Arguments;
use crate::process::{cargo, in_root, output_of, passed_on, root, shown};
use crate::web;

const HELP: &str = "\
Puts the web app into the package of the program, and runs `cargo publish --workspace --dry-run`

Usage: cargo xtask package [--built] [--no-verify] [--allow-dirty]

Options:
  --built        take web/dist as it is; otherwise `cargo xtask web` builds it
  --no-verify    do not compile the packages
  --allow-dirty  also with uncommitted changes

The app is copied to crates/cli/app, which git ignores. Publish it as crates/xtask/RELEASING.md says.
";

pub(crate) fn run(arguments: Vec<String>) -> Result<()> {
    let Some(mut arguments) = Arguments::parse_or_help(arguments, HELP) else {
        return Ok(());
    };
    let is_built = arguments.flag("--built");
    let no_verify = arguments.flag("--no-verify");
    let allow_dirty = arguments.flag("--allow-dirty");
    arguments.finish()?;

    if !allow_dirty {
        let changes = output_of(in_root("git").args(["status", "--porcelain"]))?;
        ensure!(changes.is_empty(), "there are uncommitted changes; pass --allow-dirty\n{changes}");
    }
    if !is_built {
        web::run(Vec::new())?;
    }
    let app = root().join("crates/cli/app");
    let copied = replace(&root().join("web/dist"), &app)?;
    let mut list = cargo();
    list.args(["package", "--list", "-p", "dpscope", "--allow-dirty"]);
    let listed = output_of(&mut list)?;
    check(&listed.lines().collect::<Vec<_>>(), &copied)?;
    println!("{} files of the app are in the package of dpscope", copied.len());

    let mut publish = cargo();
    // cargo counts the app, which git ignores, as uncommitted
    publish.args(["publish", "--workspace", "--dry-run", "--allow-dirty"]);
    publish.args(no_verify.then_some("--no-verify"));
    ensure!(passed_on(&mut publish)?.success(), "`{}` failed", shown(&publish));
    if !check_address(&fs::read_to_string(root().join("Cargo.toml"))?, &published()?)? {
        println!(
            "note: no `repository` in [workspace.package] of Cargo.toml: crates.io shows no \
             address, and links of the READMEs do not resolve; crates/xtask/RELEASING.md says \
             where it goes"
        );
    }
    Ok(())
}

/// Manifests of the packages that are published, by their folders.
fn published() -> Result<Vec<(String, String)>> {
    let mut folders = vec!["shaders".to_owned()];
    for entry in fs::read_dir(root().join("crates"))? {
        folders.push(format!("crates/{}", entry?.file_name().to_string_lossy()));
    }
    let manifests = folders.into_iter().filter_map(|folder| {
        let manifest = fs::read_to_string(root().join(&folder).join("Cargo.toml")).ok()?;
        (!manifest.contains("publish = false")).then_some((folder, manifest))
    });
    Ok(manifests.collect())
}

/// Whether the workspace states a public address, which the published packages must then inherit.
fn check_address(workspace: &str, published: &[(String, String)]) -> Result<bool> {
    let section = workspace.split("[workspace.package]").nth(1).unwrap_or_default();
    let section = section.split("\n[").next().unwrap_or_default();
    if !section.lines().any(|line| line.starts_with("repository = \"https://")) {
        return Ok(false);
    }
    for (folder, manifest) in published {
        let is_inherited = manifest.lines().any(|line| line == "repository.workspace = true");
        ensure!(is_inherited, "{folder}/Cargo.toml lacks `repository.workspace = true`");
    }
    Ok(true)
}

/// Replaces the folder `to` by the files of `from`, hidden ones left out; returns their names.
fn replace(from: &Path, to: &Path) -> Result<Vec<String>> {
    web::check_app(from)?;
    if to.exists() {
        fs::remove_dir_all(to).with_context(|| to.display().to_string())?;
    }
    let mut names = Vec::new();
    let mut folders = vec![PathBuf::new()];
    while let Some(folder) = folders.pop() {
        let place = from.join(&folder);
        fs::create_dir_all(to.join(&folder)).with_context(|| to.display().to_string())?;
        for entry in fs::read_dir(&place).with_context(|| place.display().to_string())? {
            let entry = entry?;
            let name = folder.join(entry.file_name());
            if entry.file_name().to_string_lossy().starts_with('.') {
                continue;
            }
            if entry.path().is_dir() {
                folders.push(name);
            } else {
                fs::copy(entry.path(), to.join(&name))
                    .with_context(|| name.display().to_string())?;
                names.push(name.to_string_lossy().replace('\\', "/"));
            }
        }
    }
    Ok(names)
}

/// Checks that a package has the whole app, with its wasm modules.
fn check(listed: &[&str], copied: &[String]) -> Result<()> {
    for name in copied {
        ensure!(
            listed.iter().any(|file| file.strip_prefix("app/") == Some(name)),
            "the package lacks app/{name}; see `include` in crates/cli/Cargo.toml"
        );
    }
    for module in web::module_names() {
        let is_module = |name: &String| name.contains(module) && name.ends_with(".wasm");
        ensure!(copied.iter().any(is_module), "the app lacks {module}; build it anew");
    }
    for name in ["build.rs", "src/main.rs", "README.md"] {
        ensure!(listed.contains(&name), "the package lacks {name}");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{check, check_address, published, replace};
    use crate::web::module_names;

    #[test]
    fn an_incomplete_package_is_refused() {
        let modules = module_names().map(|name| format!("assets/{name}_bg-x.wasm"));
        let copied: Vec<String> = modules.chain(["index.html".to_string()]).collect();
        let packaged: Vec<String> = copied.iter().map(|name| format!("app/{name}")).collect();
        let mut listed: Vec<&str> = packaged.iter().map(String::as_str).collect();
        listed.extend(["build.rs", "src/main.rs", "README.md"]);
        check(&listed, &copied).unwrap();
        for at in 0..listed.len() {
            let mut without = listed.clone();
            let missing = without.remove(at);
            let message = check(&without, &copied).unwrap_err().to_string();
            assert!(message.contains(missing), "{message}");
        }
        let message = check(&listed[1..], &copied[1..]).unwrap_err().to_string();
        assert!(message.contains("build it anew"), "{message}");
    }

    #[test]
    fn a_stated_address_must_be_inherited() {
        let without =
            "[workspace.package]\nversion = \"1\"\n\n[other]\nrepository = \"https://x\"\n";
        let heir = |line: &str| [("crates/x".to_owned(), format!("[package]\n{line}\n"))];
        assert!(!check_address(without, &heir("")).unwrap());
        let with = "[workspace.package]\nrepository = \"https://example.org/x\"\n";
        assert!(check_address(with, &heir("repository.workspace = true")).unwrap());
        let message = check_address(with, &heir("")).unwrap_err().to_string();
        assert!(message.contains("crates/x"), "{message}");
    }

    #[test]
    fn packages_that_are_not_published_need_no_address() {
        let folders: Vec<String> =
            published().unwrap().into_iter().map(|(folder, _)| folder).collect();
        let is_published = |name: &str| folders.iter().any(|folder| folder == name);
        assert!(is_published("crates/cli") && is_published("shaders"), "{folders:?}");
        assert!(!is_published("crates/xtask") && !is_published("crates/py"), "{folders:?}");
    }

    #[test]
    fn a_copy_has_every_file_but_hidden_ones_and_no_older_one() {
        let folder = std::env::temp_dir().join(format!("dpscope-package-{}", std::process::id()));
        let (from, to) = (folder.join("dist"), folder.join("app"));
        assert!(replace(&from, &to).unwrap_err().to_string().contains("has no app"));
        for name in ["dist/assets", "dist/.vite", "app"] {
            std::fs::create_dir_all(folder.join(name)).unwrap();
        }
        for name in ["dist/index.html", "dist/assets/a.js", "dist/.vite/x", "app/old"] {
            std::fs::write(folder.join(name), name).unwrap();
        }
        let mut names = replace(&from, &to).unwrap();
        names.sort();
        let is_old = to.join("old").exists();
        let copied = std::fs::read_to_string(to.join("assets/a.js")).unwrap();
        std::fs::remove_dir_all(&folder).unwrap();
        assert_eq!(names, ["assets/a.js", "index.html"]);
        assert_eq!((is_old, &*copied), (false, "dist/assets/a.js"));
    }
}
