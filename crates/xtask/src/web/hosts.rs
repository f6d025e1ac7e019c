//! Sites with calculators, built by every host that the README of the calculators names. What cannot be
//! installed is listed in `web/pages/skipped.txt`, and its tests show as ignored.

use std::path::PathBuf;

use anyhow::{Context, Result, ensure};

use super::node::{folder, npm};
use super::pages::{TOOLS, Tool, built, calculators, copy, fixture, installed_program, remove};
use crate::process::{output_of, succeed, target_folder};
use crate::python::interpreter;
use crate::wheel;

/// Hosts without npm; the calculators are copied.
const COPIED: [Tool; 5] = [
    Tool { name: "file", calculators: "dpscope", packages: &[], command: &[] },
    Tool { name: "trusted-types", calculators: "dpscope", packages: &[], command: &[] },
    Tool {
        name: "material",
        calculators: "docs/dpscope",
        packages: &["mkdocs-material==9.8.2"],
        command: &[
            "python",
            "-m",
            "mkdocs",
            "build",
            "--quiet",
            "--strict",
            "--config-file={source}/mkdocs.yml",
            "--site-dir={built}",
        ],
    },
    Tool {
        name: "furo",
        calculators: "_static/dpscope",
        packages: &["sphinx==9.0.4", "furo==2025.12.19"],
        command: &["python", "-m", "sphinx", "-W", "-q", "{source}", "{built}"],
    },
    Tool {
        name: "zensical",
        calculators: "docs/dpscope",
        packages: &["zensical==0.0.73"],
        command: &["python", "-m", "zensical", "build", "--config-file={source}/zensical.toml"],
    },
];

/// A host that npm installs, with the calculators as a package.
struct Installed {
    name: &'static str,
    /// Where it puts the site; the package itself is checked, without one.
    output: &'static str,
}

const INSTALLED: [Installed; 6] = [
    Installed { name: "npm", output: "" },
    Installed { name: "docusaurus", output: "build" },
    Installed { name: "vitepress", output: ".vitepress/dist" },
    Installed { name: "vite", output: "dist" },
    Installed { name: "webpack", output: "dist" },
    Installed { name: "esbuild", output: "dist" },
];

/// What the notebook imports, and what shows it.
const NOTEBOOK: [&str; 4] =
    ["anywidget==0.11.0", "jupyterlab==4.6.6", "numpy==2.2.6", "pytest==9.2.0"];

/// Whether a host is there, or why it is not.
enum Host {
    Available,
    Missing(String),
}

impl Installed {
    fn source(&self) -> PathBuf {
        target_folder().join("hosts").join(self.name)
    }

    /// Installs the packages, unless they are those of the last time.
    fn install(&self) -> Result<Host> {
        let (source, wanted) = (self.source(), fixture(self.name).join("package.json"));
        let complete = source.join("node_modules/.complete");
        let wanted =
            std::fs::read_to_string(&wanted).with_context(|| wanted.display().to_string())?;
        if std::fs::read_to_string(&complete).is_ok_and(|installed| installed == wanted) {
            return Ok(Host::Available);
        }
        remove(&source)?;
        std::fs::create_dir_all(&source)?;
        std::fs::write(source.join("package.json"), &wanted)?;
        let mut install = npm();
        install.current_dir(&source).args(["install", "--no-audit", "--no-fund"]);
        if let Err(reason) = output_of(&mut install) {
            return Ok(Host::Missing(format!("{reason:#}")));
        }
        std::fs::write(complete, wanted)?;
        Ok(Host::Available)
    }

    fn build(&self) -> Result<Host> {
        if let Host::Missing(reason) = self.install()? {
            return Ok(Host::Missing(reason));
        }
        let (source, site) = (self.source(), built(self.name));
        remove(&site)?;
        if !self.output.is_empty() {
            remove(&source.join(self.output))?;
        }
        copy(&fixture(self.name), &source)?;
        let package = source.join("node_modules/@dpscope/calculators");
        remove(&package)?;
        copy(&calculators()?, &package)?;
        let mut build = npm();
        build.current_dir(&source).args(["run", "--silent", "build"]);
        // Its cache takes a package of the same version for unchanged.
        succeed(build.env("DOCUSAURUS_NO_PERSISTENT_CACHE", "true"))?;
        if self.output.is_empty() {
            return Ok(Host::Available);
        }
        copy(&source.join(self.output), &site)?;
        // Pages that the tool does not make.
        for page in ["index.html", "files.html"] {
            let page = (source.join(page), site.join(page));
            if page.0.is_file() && !page.1.is_file() {
                std::fs::copy(&page.0, &page.1)?;
            }
        }
        ensure!(site.join("index.html").is_file(), "no index.html");
        Ok(Host::Available)
    }
}

/// Builds a site with a tool that is there, or can be installed by pip.
fn copied(tool: &Tool) -> Result<Host> {
    match tool.command.first() {
        Some(&"python") => {
            if let Err(reason) = tool.program("python") {
                return Ok(Host::Missing(format!("{reason:#}")));
            }
        }
        Some(program) if !installed_program(program).is_file() => {
            let reason = "not installed; `cargo xtask web --pages` compiles it";
            return Ok(Host::Missing(reason.into()));
        }
        _ => {}
    }
    tool.build().map(|()| Host::Available)
}

/// A notebook beside the Python package, and the name of the Python that runs it.
fn notebook(name: &str) -> Result<Host> {
    let python = match interpreter("jupyterlab", &NOTEBOOK.map(String::from)) {
        Ok(python) => python,
        Err(reason) => return Ok(Host::Missing(format!("{reason:#}"))),
    };
    let site = built(name);
    remove(&site)?;
    copy(&fixture(name), &site)?;
    let package = wheel::staged()?;
    copy(&package, &site.join("packages"))?;
    let mut tests = wheel::pytest(&python);
    succeed(tests.arg("crates/py/tests/test_widget.py").env("PYTHONPATH", package))?;
    let file = site.join("python.txt");
    std::fs::write(&file, python.display().to_string())
        .with_context(|| file.display().to_string())?;
    Ok(Host::Available)
}

/// Builds the sites of all hosts into `web/pages`.
pub(super) fn build() -> Result<()> {
    calculators()?;
    let mut skipped = Vec::new();
    let mut ended = |name: &'static str, host: Result<Host>| -> Result<()> {
        if let Host::Missing(reason) = host.with_context(|| format!("the site of {name}"))? {
            let line = format!("{name}: {}", reason.replace('\n', " "));
            println!("skipped {line}");
            remove(&built(name))?;
            skipped.push(line);
        }
        Ok(())
    };
    for tool in COPIED.iter().chain(&TOOLS) {
        ended(tool.name, copied(tool))?;
    }
    for host in &INSTALLED {
        ended(host.name, host.build())?;
    }
    ended("jupyterlab", notebook("jupyterlab"))?;
    let list = folder().join("pages/skipped.txt");
    std::fs::write(&list, skipped.join("\n")).with_context(|| list.display().to_string())
}
