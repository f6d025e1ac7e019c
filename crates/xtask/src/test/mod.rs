//! `cargo xtask test`: everything that a fresh machine must pass, one step after the other.

mod browser;
mod count;
mod debian;
mod steps;
mod toolchain;
mod vulkan;

use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};

use crate::args::Arguments;
use crate::process::{passed_on, shown, watched};
use count::Counts;
use steps::{STEPS, Step};

const HELP: &str = "\
Everything that a fresh machine must pass, one step after the other

Usage: cargo xtask test [--only STEP[,STEP]]... [--keep-going] [--list]

Options:
  --only STEP   run this step; may be given several times
  --keep-going  run the later steps after one fails
  --list        show the steps and stop

Missing rustup targets and components are installed, and so are the npm packages of the web and, by
root on a Debian, Chromium. Where that fails, or node is missing, the step is skipped with the reason;
with CI=true it fails. The step deny is skipped wherever cargo-deny is not installed.
Tests of the GPU take any Vulkan driver; on a Debian without one, root installs one in software, and
with CI=true they must then run. Elsewhere they show as ignored.
The closing line counts tests; a step that fails without a failed test counts as one failed, and a
skipped step as one skipped.
";

/// How a step ended.
enum Outcome {
    Passed,
    Failed(String),
    Skipped(String),
}

struct Finished {
    name: &'static str,
    outcome: Outcome,
    /// Of its tests.
    failed: u64,
    took: Duration,
}

pub(crate) fn run(arguments: Vec<String>) -> Result<ExitCode> {
    let mut arguments = Arguments::new(arguments);
    if arguments.help() {
        print!("{HELP}\n{}", list());
        return Ok(ExitCode::SUCCESS);
    }
    let only = arguments.values("--only")?;
    let keep_going = arguments.flag("--keep-going");
    let list_only = arguments.flag("--list");
    arguments.finish()?;
    if list_only {
        print!("{}", list());
        return Ok(ExitCode::SUCCESS);
    }
    let selected = select(&only)?;
    let in_ci = std::env::var("CI").is_ok_and(|value| !value.is_empty() && value != "false");

    let mut counts = Counts::default();
    let mut finished: Vec<Finished> = Vec::new();
    for step in selected {
        let started = Instant::now();
        let mut seen = Counts::default();
        let outcome = run_step(step, in_ci, &mut seen);
        counts.add(seen);
        let took = started.elapsed();
        println!("── {}: {}\n", step.name, line_of(&outcome, took));
        let failed = matches!(outcome, Outcome::Failed(_));
        finished.push(Finished { name: step.name, outcome, failed: seen.failed, took });
        if failed && !keep_going {
            break;
        }
    }
    Ok(close(&finished, counts))
}

fn list() -> String {
    let lines = STEPS.iter().map(|step| format!("  {:<8} {}\n", step.name, step.about));
    format!("Steps:\n{}", lines.collect::<String>())
}

fn select(only: &[String]) -> Result<Vec<&'static Step>> {
    let names: Vec<&str> = only.iter().flat_map(|names| names.split(',')).collect();
    for name in &names {
        if !STEPS.iter().any(|step| step.name == *name) {
            let known: Vec<&str> = STEPS.iter().map(|step| step.name).collect();
            bail!("--only {name}: no such step; steps are {}", known.join(", "));
        }
    }
    Ok(STEPS.iter().filter(|step| names.is_empty() || names.contains(&step.name)).collect())
}

fn run_step(step: &Step, in_ci: bool, counts: &mut Counts) -> Outcome {
    println!("── {}: {}", step.name, step.about);
    if let Some(reason) = step.optional.and_then(toolchain::missing) {
        return Outcome::Skipped(reason);
    }
    if let Err(reason) = toolchain::ensure(step, in_ci) {
        let reason = format!("{reason:#}");
        return if in_ci { Outcome::Failed(reason) } else { Outcome::Skipped(reason) };
    }
    let has_gpu = step.uses_gpu && driver_is_there(in_ci);
    let mut commands = match step.commands() {
        Ok(commands) => commands,
        Err(reason) => return Outcome::Failed(format!("{reason:#}")),
    };
    for command in &mut commands {
        if has_gpu && in_ci {
            command.env("REQUIRE_GPU", "1");
        }
        println!("$ {}", shown(command));
        let ended = if step.counts_tests {
            watched(command, |line| counts.read(line))
        } else {
            passed_on(command)
        };
        match ended {
            Ok(status) if status.success() => {}
            Ok(status) => {
                let hint = step.hint().map(|hint| format!("; {hint}")).unwrap_or_default();
                return Outcome::Failed(format!("{status}{hint}"));
            }
            Err(error) => return Outcome::Failed(format!("{error:#}")),
        }
    }
    Outcome::Passed
}

/// Whether there is a driver for sure, after the attempt to install one.
fn driver_is_there(in_ci: bool) -> bool {
    let ensured = vulkan::ensure(in_ci);
    if let Err(reason) = &ensured {
        println!("{reason:#}; tests that need a GPU show as ignored");
    }
    ensured.is_ok() && cfg!(target_os = "linux")
}

fn line_of(outcome: &Outcome, took: Duration) -> String {
    let seconds = took.as_secs_f64();
    match outcome {
        Outcome::Passed => format!("passed in {seconds:.1} s"),
        Outcome::Failed(why) => format!("FAILED after {seconds:.1} s: {why}"),
        Outcome::Skipped(why) => format!("skipped: {why}"),
    }
}

/// Prints the summary, whose last line has the counts and nothing else.
fn close(finished: &[Finished], counts: Counts) -> ExitCode {
    for step in finished {
        println!("{:<8} {}", step.name, line_of(&step.outcome, step.took));
    }
    let failed: Vec<&str> = finished
        .iter()
        .filter(|step| matches!(step.outcome, Outcome::Failed(_)))
        .map(|step| step.name)
        .collect();
    if !failed.is_empty() {
        println!("once more: cargo xtask test --only {}", failed.join(","));
    }
    let closing = closing_counts(finished, counts);
    println!("{} passed, {} failed, {} skipped", closing.passed, closing.failed, closing.ignored);
    if closing.failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn closing_counts(finished: &[Finished], mut counts: Counts) -> Counts {
    for step in finished {
        match step.outcome {
            Outcome::Passed => {}
            Outcome::Failed(_) if step.failed > 0 => {}
            Outcome::Failed(_) => counts.failed += 1,
            Outcome::Skipped(_) => counts.ignored += 1,
        }
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::{
        Counts, Duration, ExitCode, Finished, Outcome, STEPS, close, closing_counts, select,
    };

    fn finished(name: &'static str, outcome: Outcome) -> Finished {
        Finished { name, outcome, failed: 0, took: Duration::ZERO }
    }

    #[test]
    fn only_selects_in_the_order_of_the_table() {
        let names = |only: &[&str]| -> Vec<&str> {
            let only: Vec<String> = only.iter().map(ToString::to_string).collect();
            select(&only).unwrap().iter().map(|step| step.name).collect()
        };
        assert_eq!(names(&["clippy", "fmt"]), ["fmt", "clippy"]);
        assert_eq!(names(&["clippy,fmt"]), ["fmt", "clippy"]);
        assert_eq!(names(&[]).len(), STEPS.len());
        let unknown = select(&["lint".to_string()]).map(|_| ()).unwrap_err().to_string();
        assert!(unknown.contains("lint") && unknown.contains("clippy"), "{unknown}");
    }

    #[test]
    fn a_failed_step_is_never_a_clean_count() {
        let tests = Counts { passed: 10, failed: 0, ignored: 1 };
        let steps =
            [finished("fmt", Outcome::Failed("x".into())), finished("doc", Outcome::Passed)];
        let closing = closing_counts(&steps, tests);
        assert_eq!((closing.passed, closing.failed, closing.ignored), (10, 1, 1));
        assert_eq!(close(&steps, tests), ExitCode::FAILURE);
        assert_eq!(close(&steps[1..], tests), ExitCode::SUCCESS);
    }

    #[test]
    fn failed_tests_are_counted_once() {
        let tests = Counts { passed: 10, failed: 2, ignored: 0 };
        let failed =
            |name, failed| Finished { failed, ..finished(name, Outcome::Failed("x".into())) };
        let skipped = finished("wasm", Outcome::Skipped("y".into()));
        let closing = closing_counts(&[failed("test", 2), skipped], tests);
        assert_eq!((closing.failed, closing.ignored), (2, 1));
        let closing = closing_counts(&[failed("test", 2), failed("browser", 0)], tests);
        assert_eq!(closing.failed, 3, "a broken build beside failed tests");
    }
}
