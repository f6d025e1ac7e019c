//! `cargo xtask bench`: our programs and their peers side by side, as ratios.

mod rows;

use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use crate::args::Arguments;
use crate::process::{cargo, in_root, output_of, root, shown};
use crate::python::{interpreter, pins_of};
use rows::{Program, ROWS, Row};

const HELP: &str = "\
Runs our programs and the named peers in turn (A B A B …) and prints the ratio of the medians

Usage: cargo xtask bench [NAME] [--rounds N]

  NAME        only rows whose name contains this text
  --rounds N  runs of each side, 5 where not given

A ratio above 1 means that we are faster. Rows that cannot run here are shown with the reason.
";

pub(crate) fn run(arguments: Vec<String>) -> Result<()> {
    let Some(mut arguments) = Arguments::parse_or_help(arguments, HELP) else {
        return Ok(());
    };
    let rounds = arguments.count("--rounds", 5)?;
    let part = arguments.positional().unwrap_or_default();
    arguments.finish()?;

    let rows: Vec<&Row> = ROWS.iter().filter(|row| row.name.contains(&part)).collect();
    ensure!(!rows.is_empty(), "no row's name contains `{part}`");
    let mut lines = Vec::new();
    for row in rows {
        let line = match measure(row, rounds) {
            Ok(measured) => measured.line(),
            Err(reason) => format!("skipped: {reason:#}"),
        };
        println!("{}: {line}", row.name);
        lines.push(format!("{:<42} {line}", row.name));
    }
    println!("\n{}", lines.join("\n"));
    Ok(())
}

/// The figures of one row, one a round.
#[derive(Default)]
struct Measurement {
    ours: Vec<f64>,
    peer: Vec<f64>,
    no_peer: Option<String>,
}

impl Measurement {
    fn line(&self) -> String {
        let ours = median(&self.ours);
        if let Some(reason) = &self.no_peer {
            return format!("{ours:.3e} a second; no peer: {reason}");
        }
        let peer = median(&self.peer);
        let ratios: Vec<f64> = self.ours.iter().zip(&self.peer).map(|(a, b)| a / b).collect();
        let lowest = ratios.iter().copied().fold(f64::INFINITY, f64::min);
        let highest = ratios.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        format!(
            "{:.2} times the peer (rounds {lowest:.2} to {highest:.2}); {ours:.3e} against {peer:.3e} a second",
            ours / peer
        )
    }
}

fn measure(row: &Row, rounds: u32) -> Result<Measurement> {
    let mut ours = prepare(&row.ours)?;
    let mut measured = Measurement::default();
    let mut peer = match prepare(&row.peer) {
        Ok(command) => Some(command),
        Err(reason) => {
            measured.no_peer = Some(format!("{reason:#}"));
            None
        }
    };
    for _ in 0..rounds {
        measured.ours.push(figure_of(&mut ours, row.figure)?);
        if let Some(peer) = &mut peer {
            measured.peer.push(figure_of(peer, row.figure)?);
        }
    }
    Ok(measured)
}

/// Builds or installs what the program needs; an error is the reason why it cannot run.
fn prepare(program: &Program) -> Result<Command> {
    let (mut command, arguments) = match program {
        Program::Example { package, folder, name, arguments } => {
            let source = format!("{folder}/examples/{name}.rs");
            ensure!(root().join(&source).is_file(), "{source} is not in the tree");
            let what = ["--release", "--quiet", "-p", *package, "--example", *name];
            output_of(cargo().arg("build").args(what))?;
            let mut command = cargo();
            command.arg("run").args(what).arg("--");
            (command, arguments)
        }
        Program::Python { script, arguments } => {
            let pins = pins_of(&root().join(script))?;
            let mut command = in_root(interpreter("bench-venv", &pins)?);
            command.arg(script);
            for limit in ["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"] {
                command.env(limit, "1");
            }
            (command, arguments)
        }
    };
    command.args(*arguments);
    Ok(command)
}

fn figure_of(command: &mut Command, key: &str) -> Result<f64> {
    let output = output_of(command)?;
    let line = output.lines().rev().find(|line| line.trim_start().starts_with('{'));
    let line = line.with_context(|| format!("`{}` printed no JSON line", shown(command)))?;
    figure(line, key)
}

/// The number under `key` in one line of flat JSON.
fn figure(line: &str, key: &str) -> Result<f64> {
    let (_, after) =
        line.split_once(&format!("\"{key}\"")).with_context(|| format!("no `{key}` in {line}"))?;
    let text = after.trim_start().strip_prefix(':').unwrap_or(after).trim_start();
    let end = text.find([',', '}', ' ']).unwrap_or(text.len());
    match text[..end].parse::<f64>() {
        Ok(value) if value > 0.0 && value.is_finite() => Ok(value),
        _ => bail!("`{key}` is `{}`, expected a positive number", &text[..end]),
    }
}

/// The middle value, or the mean of the two middle values; NaN of nothing.
fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => f64::NAN,
        odd if odd % 2 == 1 => sorted[middle],
        _ => f64::midpoint(sorted[middle - 1], sorted[middle]),
    }
}

#[cfg(test)]
mod tests {
    use super::{Measurement, figure, median};

    #[test]
    fn the_figure_is_read_from_a_json_line() {
        let line = r#"{"isa": "avx2", "steps":100,"normals_per_cpu_second": 5.12e8}"#;
        assert_eq!(figure(line, "normals_per_cpu_second").unwrap().to_bits(), 5.12e8f64.to_bits());
        assert_eq!(figure(line, "steps").unwrap().to_bits(), 100f64.to_bits());
    }

    #[test]
    fn a_figure_that_is_no_number_is_refused() {
        for line in
            [r#"{"isa":"avx2"}"#, r#"{"speed":"fast"}"#, r#"{"speed":NaN}"#, r#"{"speed":0}"#]
        {
            assert!(figure(line, "speed").is_err(), "{line}");
        }
    }

    #[test]
    fn the_median_ignores_one_bad_round() {
        assert_eq!(median(&[3.0, 1.0, 900.0]).to_bits(), 3f64.to_bits());
        assert_eq!(median(&[4.0, 1.0, 2.0, 90.0]).to_bits(), 3f64.to_bits());
        assert!(median(&[]).is_nan());
    }

    #[test]
    fn the_line_contains_the_ratio_of_medians_and_its_spread() {
        let both =
            Measurement { ours: vec![8.0, 12.0, 10.0], peer: vec![2.0, 2.0, 5.0], no_peer: None };
        let line = both.line();
        assert!(line.starts_with("5.00 times the peer (rounds 2.00 to 6.00)"), "{line}");
        let alone =
            Measurement { ours: vec![8.0], peer: vec![], no_peer: Some("no python".into()) };
        assert!(alone.line().contains("no peer: no python"), "{}", alone.line());
    }
}
