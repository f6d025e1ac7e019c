//! The table of steps, and what each of them runs.

use std::process::Command;

use anyhow::{Result, ensure};

use crate::process::{cargo, output_of};
use crate::web::npm;

const WASM: &str = "wasm32-unknown-unknown";

/// One step of `cargo xtask test`.
pub(super) struct Step {
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    /// The compile target that must be installed, if not the host's.
    pub(super) target: Option<&'static str>,
    /// A compile target that some tests build for; without it they show as ignored.
    pub(super) used_target: Option<&'static str>,
    /// Whether some tests need a GPU, or a driver in software; without one they show as ignored.
    pub(super) uses_gpu: bool,
    /// The rustup component that must be installed.
    pub(super) component: Option<&'static str>,
    /// Whether it runs only with `--all` or where `--only` names it: it installs much, takes long, or
    /// looks at what few changes can break.
    pub(super) is_extra: bool,
    /// What else must be there.
    pub(super) needs: &'static [Need],
    kind: Kind,
}

/// What a step needs beside Rust.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Need {
    /// node, and the packages of the npm workspace.
    Node,
    Chromium,
    /// Python that makes virtual environments.
    Python,
    /// Pythons that make virtual environments, from the oldest version that the package supports.
    RecentPython,
}

#[derive(Clone, Copy)]
enum Kind {
    Cargo(&'static [&'static str]),
    Corpora,
    /// Tests, then the examples of the documentation. The programs in `examples` are not linked here:
    /// clippy compiles them.
    Tests,
    /// Scripts of the npm workspace.
    Npm(&'static [&'static str]),
    CheckForWasm,
    CheckProgram,
    Documentation,
    Hosts,
}

const STEP: Step = Step {
    name: "",
    about: "",
    target: None,
    used_target: None,
    uses_gpu: false,
    component: None,
    is_extra: false,
    needs: &[],
    kind: Kind::Cargo(&[]),
};

/// Cheap steps first, so that a slip is seen soon.
pub(super) const STEPS: [Step; 17] = [
    Step {
        name: "fmt",
        about: "the code is formatted",
        component: Some("rustfmt"),
        kind: Kind::Cargo(&["fmt", "--all", "--check"]),
        ..STEP
    },
    Step {
        name: "clippy",
        about: "no lint fires",
        component: Some("clippy"),
        kind: Kind::Cargo(&["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]),
        ..STEP
    },
    Step {
        name: "test",
        about: "all tests and the examples of the documentation",
        used_target: Some(WASM),
        uses_gpu: true,
        kind: Kind::Tests,
        ..STEP
    },
    Step {
        name: "python",
        about: "the Python package gives the numbers of the program, and other tools read its reports",
        needs: &[Need::RecentPython],
        kind: Kind::Cargo(&["xtask", "wheel", "--dev"]),
        ..STEP
    },
    Step {
        name: "corpora",
        about: "lists the fuzz corpora, which `test` replays; a target without one fails",
        kind: Kind::Corpora,
        ..STEP
    },
    Step {
        name: "wasm",
        about: "the libraries compile for the browser, and no lint fires",
        target: Some(WASM),
        component: Some("clippy"),
        kind: Kind::CheckForWasm,
        ..STEP
    },
    Step {
        name: "web",
        about: "app, calculators and documentation build, within their budgets",
        target: Some(WASM),
        needs: &[Need::Node],
        kind: Kind::Cargo(&["xtask", "web"]),
        ..STEP
    },
    Step {
        name: "vitest",
        about: "no lint fires in the web's code, and its units do what they should",
        needs: &[Need::Node],
        kind: Kind::Npm(&["lint", "test"]),
        ..STEP
    },
    Step {
        name: "browser",
        about: "the app and the pages in Chromium: with WebGPU what uses it, all else without",
        needs: &[Need::Node, Need::Chromium],
        kind: Kind::Npm(&["browser"]),
        ..STEP
    },
    Step {
        name: "doc",
        about: "the documentation builds without warnings",
        kind: Kind::Documentation,
        ..STEP
    },
    Step {
        name: "pages",
        about: "documentation tools build pages with calculators",
        is_extra: true,
        needs: &[Need::Node, Need::Python],
        kind: Kind::Cargo(&["xtask", "web", "--pages"]),
        ..STEP
    },
    Step {
        name: "browsers",
        about: "pictures of the app, and with WebGPU what `browser` tests without",
        is_extra: true,
        needs: &[Need::Node, Need::Chromium],
        kind: Kind::Npm(&["browsers"]),
        ..STEP
    },
    Step {
        name: "windows",
        about: "the program compiles for Windows, without a C cross-compiler",
        target: Some("x86_64-pc-windows-msvc"),
        is_extra: true,
        kind: Kind::CheckProgram,
        ..STEP
    },
    Step {
        name: "macos",
        about: "the program compiles for macOS, without a C cross-compiler",
        target: Some("aarch64-apple-darwin"),
        is_extra: true,
        kind: Kind::CheckProgram,
        ..STEP
    },
    Step {
        name: "lists",
        about: "a copy of the tree gets a sampler, command, finding and layer by the lists of CONTRIBUTING",
        is_extra: true,
        kind: Kind::Cargo(&["xtask", "lists"]),
        ..STEP
    },
    Step {
        name: "frameworks",
        about: "audits of trainings in Opacus, PyTorch, JAX and transformers, and the guides to them",
        is_extra: true,
        needs: &[Need::RecentPython],
        kind: Kind::Cargo(&["xtask", "wheel", "--frameworks"]),
        ..STEP
    },
    Step {
        name: "hosts",
        about: "calculators in sites of other tools, in bundlers and in JupyterLab; shards on clusters",
        is_extra: true,
        needs: &[Need::Node, Need::Chromium, Need::RecentPython],
        kind: Kind::Hosts,
        ..STEP
    },
];

impl Step {
    /// The commands of this step, in order; a step without commands does its check here.
    pub(super) fn commands(&self) -> Result<Vec<Command>> {
        let mut command = cargo();
        match self.kind {
            Kind::Cargo(arguments) => {
                command.args(arguments);
            }
            Kind::Corpora => {
                list_corpora()?;
                return Ok(Vec::new());
            }
            Kind::Tests => {
                command.args(["test", "--workspace", "--tests", "--no-fail-fast"]);
                let mut documentation = cargo();
                documentation.args(["test", "--workspace", "--doc", "--no-fail-fast"]);
                return Ok(vec![command, documentation]);
            }
            Kind::Npm(scripts) => return Ok(scripts.iter().map(|name| script(name)).collect()),
            Kind::Hosts => {
                command.args(["xtask", "web", "--hosts"]);
                let mut clusters = cargo();
                clusters.args(["xtask", "clusters"]);
                return Ok(vec![command, script("hosts"), clusters]);
            }
            Kind::CheckForWasm => {
                command.args(["clippy", "--lib", "--target", WASM]);
                // The last depends on the others; a lint fires in packages that are named.
                for package in [
                    "dpscope-core",
                    "dpscope-shaders",
                    "dpscope-formats",
                    "dpscope-engine",
                    "dpscope-simulation",
                    "dpscope-train",
                    "dpscope-recorded",
                    "dpscope-report",
                    "dpscope-synth",
                    "dpscope",
                    "dpscope-wasm",
                ] {
                    command.args(["-p", package]);
                }
                // The program as the bundles have it: without what needs an operating system.
                command.args(["--no-default-features", "--features", "dpscope-wasm/default"]);
                command.args(["--", "-D", "warnings"]);
            }
            Kind::CheckProgram => {
                command.args(["check", "-p", "dpscope"]);
                if let Some(target) = self.target {
                    command.args(["--target", target]);
                }
            }
            Kind::Documentation => {
                command.args(["doc", "--workspace", "--no-deps"]);
                command.env("RUSTDOCFLAGS", "-D warnings");
            }
        }
        Ok(vec![command])
    }

    /// What may explain a failure: on a foreign target, the packages that ask for a C compiler.
    pub(super) fn hint(&self) -> Option<String> {
        let target = self.target.filter(|_| matches!(self.kind, Kind::CheckProgram))?;
        let mut command = cargo();
        command.args(["tree", "--prefix", "none", "--format", "{p}", "-e", "normal,build"]);
        command.args(["-i", "cc", "-p", "dpscope", "--target", target]);
        let tree = output_of(&mut command).ok()?;
        let users: Vec<&str> = tree.lines().skip(1).map(str::trim).collect();
        let first = users.first()?;
        Some(format!(
            "`{first}` calls a C compiler, which cannot build for {target} here: \
             `cargo tree -i cc -e normal,build --target {target}` shows who needs it"
        ))
    }
}

/// A script of the npm workspace.
fn script(name: &str) -> Command {
    let mut command = npm();
    command.args(["run", name]);
    command
}

/// Prints each fuzz target with the size of its corpus.
fn list_corpora() -> Result<()> {
    let targets = crate::fuzz::targets()?;
    if targets.is_empty() {
        println!("no fuzz targets in this tree");
    }
    for target in targets {
        let folder = crate::fuzz::folder().join("corpus").join(&target);
        let files = std::fs::read_dir(&folder).map_or(0, Iterator::count);
        println!("{target}: {files} files");
        ensure!(files > 0, "fuzz target `{target}` has no corpus in {}", folder.display());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::STEPS;
    use crate::process::shown;

    fn typed(name: &str) -> String {
        let step = STEPS.iter().find(|step| step.name == name).unwrap();
        shown(&step.commands().unwrap()[0])
    }

    #[test]
    fn commands_match_the_documentation() {
        let clippy = "cargo clippy --workspace --all-targets -- -D warnings";
        assert_eq!(typed("clippy"), clippy);
        assert_eq!(typed("windows"), "cargo check -p dpscope --target x86_64-pc-windows-msvc");
        assert_eq!(typed("doc"), "RUSTDOCFLAGS='-D warnings' cargo doc --workspace --no-deps");
    }

    #[test]
    fn every_package_of_the_bundles_is_linted_for_the_browser() {
        let command = typed("wasm");
        assert!(command.starts_with("cargo clippy --lib --target wasm32-unknown-unknown "));
        let mut tree = crate::process::cargo();
        tree.args(["tree", "-p", "dpscope-wasm", "-e", "normal", "--prefix", "none"]);
        let tree = crate::process::output_of(tree.args(["--format", "{p}"])).unwrap();
        let own = tree.lines().filter_map(|line| line.split(' ').next());
        for package in own.filter(|name| name.starts_with("dpscope")) {
            assert!(command.contains(&format!("-p {package} ")), "{package}: {command}");
        }
    }

    #[test]
    fn python_is_tested_with_what_the_tests_compiled() {
        let at = |name| STEPS.iter().position(|step| step.name == name).unwrap();
        assert_eq!(at("python"), at("test") + 1);
        assert_eq!(typed("python"), "cargo xtask wheel --dev");
    }

    #[test]
    fn the_web_is_built_before_it_is_tested() {
        let at = |name| STEPS.iter().position(|step| step.name == name).unwrap();
        assert!(at("wasm") < at("web") && at("web") < at("browser") && at("web") < at("pages"));
        assert_eq!(typed("web"), "cargo xtask web");
        assert!(typed("browser").ends_with("npm run browser"), "{}", typed("browser"));
    }

    #[test]
    fn the_tests_find_the_target_of_the_browser_without_being_built_for_it() {
        let step = STEPS.iter().find(|step| step.name == "test").unwrap();
        assert_eq!(step.used_target, Some("wasm32-unknown-unknown"));
        let commands: Vec<String> = step.commands().unwrap().iter().map(shown).collect();
        let tests = "cargo test --workspace --tests --no-fail-fast";
        assert_eq!(commands, [tests, "cargo test --workspace --doc --no-fail-fast"]);
    }

    #[test]
    fn hosts_are_built_before_they_are_opened() {
        let step = STEPS.iter().find(|step| step.name == "hosts").unwrap();
        let commands: Vec<String> = step.commands().unwrap().iter().map(shown).collect();
        assert_eq!(commands[0], "cargo xtask web --hosts");
        assert!(commands[1].ends_with("npm run hosts"), "{commands:?}");
        assert_eq!(commands[2], "cargo xtask clusters");
    }

    #[test]
    fn step_names_are_unique() {
        let mut names: Vec<&str> = STEPS.iter().map(|step| step.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), STEPS.len());
    }
}
