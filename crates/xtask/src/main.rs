//! Tasks of the workspace: `cargo xtask --help` lists them. Nothing here ships.

mod archive;
mod args;
mod bench;
mod fuzz;
mod golden;
mod notices;
mod oracles;
mod package;
mod process;
mod python;
mod supervision;
mod test;
mod toolchain;
mod trial;
mod web;
mod wheel;
mod zig;

use std::process::ExitCode;

use anyhow::{Result, bail};

const HELP: &str = "\
Tasks of the dpscope workspace

Usage: cargo xtask TASK [OPTIONS]

Tasks:
  test     format, lints, tests, checks for wasm, Windows and macOS, documentation
  web      the app and the calculators into web/dist, with their sizes against the budgets
  wheel    the Python package with the program, tested on every Python from 3.10
  clusters audits in shards on local clusters of Ray and Slurm, and manifests of Kubernetes
  lists    the lists of CONTRIBUTING followed in a copy of the tree, or their patches refreshed
  package  the web app into the published program, and a dry run of publishing
  archive  release archives for each platform, and an OCI image
  bench    speed beside the named peers, as ratios
  oracles  regenerate the oracle data with pinned versions and show what changed
  golden   evaluate files of golden values against the library
  fuzz     run the fuzz targets (needs a nightly toolchain and cargo-fuzz)

`cargo xtask TASK --help` shows the options of a task.
";

fn main() -> ExitCode {
    match run(std::env::args().skip(1).collect()) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(mut arguments: Vec<String>) -> Result<ExitCode> {
    if arguments.is_empty() {
        eprint!("{HELP}");
        bail!("no task given");
    }
    let task = arguments.remove(0);
    match task.as_str() {
        "test" => return test::run(arguments),
        "web" => web::run(arguments)?,
        "golden" => return golden::run(arguments),
        "wheel" => wheel::run(arguments)?,
        "clusters" => test::clusters::run(arguments)?,
        "lists" => test::lists::run(arguments)?,
        "package" => package::run(arguments)?,
        "archive" => archive::run(arguments)?,
        "bench" => bench::run(arguments)?,
        "oracles" => oracles::run(arguments)?,
        "fuzz" => fuzz::run(arguments)?,
        "help" | "-h" | "--help" => print!("{HELP}"),
        _ => bail!(
            "no task `{task}`; tasks are test, web, wheel, clusters, lists, package, archive, bench, oracles, \
             golden, fuzz"
        ),
    }
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use super::run;

    #[test]
    fn an_unknown_task_is_refused_by_name() {
        let message = run(vec!["tset".to_string()]).unwrap_err().to_string();
        assert!(message.contains("`tset`"), "{message}");
    }
}
