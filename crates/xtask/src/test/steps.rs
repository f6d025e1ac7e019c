//! The table of steps, and what each of them runs.

use std::process::Command;

use anyhow::{Result, ensure};

use crate::process::{cargo, output_of, root};
use crate::web::{features, npm};

/// Packages that the browser uses; each that is in the tree is checked for wasm.
const FOR_WASM: [(&str, &str); 9] = [
    ("dpscope-core", "crates/core"),
    ("dpscope-shaders", "shaders"),
    ("dpscope-formats", "crates/formats"),
    ("dpscope-engine", "crates/engine"),
    ("dpscope-simulation", "crates/simulation"),
    ("dpscope-train", "crates/train"),
    ("dpscope-recorded", "crates/recorded"),
    ("dpscope-synth", "crates/synth"),
    ("dpscope-wasm", "crates/wasm"),
];

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
    pub(super) counts_tests: bool,
    /// Whether it runs only where `--only` names it: it installs much, or takes long.
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
    counts_tests: false,
    is_extra: false,
    needs: &[],
    kind: Kind::Cargo(&[]),
};

/// Cheap steps first, so that a slip is seen soon.
pub(super) const STEPS: [Step; 14] = [
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
        counts_tests: true,
        kind: Kind::Cargo(&["test", "--workspace", "--no-fail-fast"]),
        ..STEP
    },
    Step {
        name: "python",
        about: "the Python package gives the numbers of the program, and other tools read its reports",
        counts_tests: true,
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
        about: "the libraries compile for the browser, and no lint fires in its bundles",
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
        counts_tests: true,
        needs: &[Need::Node],
        kind: Kind::Npm(&["lint", "test"]),
        ..STEP
    },
    Step {
        name: "pages",
        about: "documentation tools build pages with calculators",
        needs: &[Need::Node, Need::Python],
        kind: Kind::Cargo(&["xtask", "web", "--pages"]),
        ..STEP
    },
    Step {
        name: "browser",
        about: "the app and the pages in Chromium, with WebGPU and without",
        counts_tests: true,
        needs: &[Need::Node, Need::Chromium],
        kind: Kind::Npm(&["browser"]),
        ..STEP
    },
    Step {
        name: "windows",
        about: "the program compiles for Windows, without a C cross-compiler",
        target: Some("x86_64-pc-windows-msvc"),
        kind: Kind::CheckProgram,
        ..STEP
    },
    Step {
        name: "macos",
        about: "the program compiles for macOS, without a C cross-compiler",
        target: Some("aarch64-apple-darwin"),
        kind: Kind::CheckProgram,
        ..STEP
    },
    Step {
        name: "doc",
        about: "the documentation builds without warnings",
        kind: Kind::Documentation,
        ..STEP
    },
    Step {
        name: "hosts",
        about: "calculators in sites of other tools, in bundlers and in JupyterLab; shards on clusters",
        counts_tests: true,
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
            Kind::Npm(scripts) => return Ok(scripts.iter().map(|name| script(name)).collect()),
            Kind::Hosts => {
                command.args(["xtask", "web", "--hosts"]);
                let mut clusters = cargo();
                clusters.args(["xtask", "clusters"]);
                return Ok(vec![command, script("hosts"), clusters]);
            }
            Kind::CheckForWasm => {
                command.args(["check", "--lib"]);
                for (package, folder) in FOR_WASM {
                    if root().join(folder).join("Cargo.toml").is_file() {
                        command.args(["-p", package]);
                    }
                }
            }
            Kind::CheckProgram => {
                command.args(["check", "-p", "dpscope"]);
            }
            Kind::Documentation => {
                command.args(["doc", "--workspace", "--no-deps"]);
                command.env("RUSTDOCFLAGS", "-D warnings");
            }
        }
        let mut commands = vec![command];
        if let Kind::CheckForWasm = self.kind {
            let mut with_gpu = cargo();
            with_gpu.args(["check", "--lib", "-p", "dpscope-simulation", "--features", "gpu"]);
            commands.push(with_gpu);
            commands.extend(features().map(|feature| {
                let mut lints = cargo();
                lints.args(["clippy", "--lib", "-p", "dpscope-wasm", "--features", feature]);
                lints
            }));
        }
        if let (Some(target), Kind::CheckForWasm | Kind::CheckProgram) = (self.target, self.kind) {
            for command in &mut commands {
                command.args(["--target", target]);
                if command.get_args().next() == Some("clippy".as_ref()) {
                    command.args(["--", "-D", "warnings"]);
                }
            }
        }
        Ok(commands)
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
    fn the_wasm_check_names_only_packages_in_the_tree() {
        let command = typed("wasm");
        assert!(command.contains("-p dpscope-core "), "{command}");
        assert!(command.ends_with("--target wasm32-unknown-unknown"), "{command}");
        let has_train = crate::process::root().join("crates/train/Cargo.toml").is_file();
        assert_eq!(command.contains("dpscope-train"), has_train, "{command}");
        let step = STEPS.iter().find(|step| step.name == "wasm").unwrap();
        let with_gpu = shown(&step.commands().unwrap()[1]);
        let expected = "cargo check --lib -p dpscope-simulation --features gpu --target wasm32-unknown-unknown";
        assert_eq!(with_gpu, expected);
        let lints = shown(step.commands().unwrap().last().unwrap());
        let expected = "cargo clippy --lib -p dpscope-wasm --features training_canaries \
                        --target wasm32-unknown-unknown -- -D warnings";
        assert_eq!(lints, expected);
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
        assert!(at("wasm") < at("web") && at("web") < at("pages") && at("pages") < at("browser"));
        assert_eq!(typed("web"), "cargo xtask web");
        assert!(typed("browser").ends_with("npm run browser"), "{}", typed("browser"));
    }

    #[test]
    fn the_tests_find_the_target_of_the_browser_without_being_built_for_it() {
        let step = STEPS.iter().find(|step| step.name == "test").unwrap();
        assert_eq!(step.used_target, Some("wasm32-unknown-unknown"));
        let test = "cargo test --workspace --no-fail-fast";
        assert_eq!(typed("test"), test);
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
