//! `cargo xtask test`: everything that a fresh machine must pass, one step after the other.

mod browser;
pub(crate) mod clusters;
mod count;
mod cpu_time;
mod debian;
pub(crate) mod lists;
mod steps;
mod toolchain;
mod vulkan;

use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Result, bail, ensure};

use crate::args::Arguments;
use crate::process::shown;
use crate::supervision::supervised;
use count::Counts;
use cpu_time::{children_cpu_time, cpu_minutes};
use steps::{STEPS, Step};

const HELP: &str = "\
Everything that a fresh machine must pass, one step after the other

Usage: cargo xtask test [--all | --only STEP[,STEP]...] [--keep-going] [--list]

Options:
  --all         run every step, also those that the list marks
  --only STEP   run this step; may be given several times
  --keep-going  run the later steps after one fails
  --list        show the steps and stop

Missing rustup targets and components are installed, and so are the npm packages of the web and, by
root on a Debian, Chromium and its fonts. Where that fails, or node is missing, the step is skipped
with the reason; with CI=true it fails. Without the fonts, pictures of the pages are not compared.
Tests of the GPU take any Vulkan driver; on a Debian without one, root installs one in software, and
with CI=true they must then run. Elsewhere they show as ignored.
Each step ends with the CPU time of the programs that it ran, where the system reports it.
A command that writes nothing for a quarter of an hour is ended, and names the tests that did not end.
The closing line counts tests; a step that fails without a failed test counts as one failed, and a
skipped step as one skipped.
";

/// How a step ended.
enum Outcome {
    Passed,
    Failed(String),
    Skipped(String),
}

struct StepResult {
    name: &'static str,
    outcome: Outcome,
    /// Number of its tests that failed.
    failed: u64,
    cost: Cost,
}

/// Wall-clock time, and the CPU time of the programs that ran in it.
#[derive(Clone, Copy)]
struct Cost {
    wall: Duration,
    cpu: Option<Duration>,
}

impl Cost {
    const NONE: Self = Self { wall: Duration::ZERO, cpu: Some(Duration::ZERO) };

    /// The cost of `run`.
    fn of<T>(run: impl FnOnce() -> T) -> (T, Self) {
        let (started, before) = (Instant::now(), children_cpu_time());
        let result = run();
        let cpu = children_cpu_time().zip(before).map(|(after, before)| after - before);
        (result, Self { wall: started.elapsed(), cpu })
    }

    fn plus(self, other: Self) -> Self {
        let cpu = self.cpu.zip(other.cpu).map(|(a, b)| a + b);
        Self { wall: self.wall + other.wall, cpu }
    }
}

impl std::fmt::Display for Cost {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:.1} s", self.wall.as_secs_f64())?;
        self.cpu.map_or(Ok(()), |cpu| write!(f, ", {}", cpu_minutes(cpu)))
    }
}

pub(crate) fn run(arguments: Vec<String>) -> Result<ExitCode> {
    let help = format!("{HELP}\n{}", list());
    let Some(mut arguments) = Arguments::parse_or_help(arguments, &help) else {
        return Ok(ExitCode::SUCCESS);
    };
    let only = arguments.values("--only")?;
    let all = arguments.flag("--all");
    let keep_going = arguments.flag("--keep-going");
    let list_only = arguments.flag("--list");
    arguments.finish()?;
    if list_only {
        print!("{}", list());
        return Ok(ExitCode::SUCCESS);
    }
    ensure!(!all || only.is_empty(), "--all runs every step: leave out --only");
    let selected = select(&only, all)?;
    let in_ci = std::env::var("CI").is_ok_and(|value| !value.is_empty() && value != "false");

    let mut counts = Counts::default();
    let mut finished: Vec<StepResult> = Vec::new();
    for step in selected {
        let mut seen = Counts::default();
        let (outcome, cost) = Cost::of(|| run_step(step, in_ci, &mut seen));
        counts.add(seen);
        println!("── {}: {}\n", step.name, line_of(&outcome, cost));
        let failed = matches!(outcome, Outcome::Failed(_));
        finished.push(StepResult { name: step.name, outcome, failed: seen.failed, cost });
        if failed && !keep_going {
            break;
        }
    }
    Ok(close(&finished, counts))
}

fn list() -> String {
    let lines = STEPS.iter().map(|step| {
        let extra = if step.is_extra { " (only with --all or --only)" } else { "" };
        format!("  {:<8} {}{extra}\n", step.name, step.about)
    });
    format!("Steps:\n{}", lines.collect::<String>())
}

fn select(only: &[String], all: bool) -> Result<Vec<&'static Step>> {
    let names: Vec<&str> = only.iter().flat_map(|names| names.split(',')).collect();
    for name in &names {
        if !STEPS.iter().any(|step| step.name == *name) {
            let known: Vec<&str> = STEPS.iter().map(|step| step.name).collect();
            bail!("--only {name}: no such step; steps are {}", known.join(", "));
        }
    }
    let is_selected = |step: &&Step| {
        if names.is_empty() { all || !step.is_extra } else { names.contains(&step.name) }
    };
    Ok(STEPS.iter().filter(is_selected).collect())
}

fn run_step(step: &Step, in_ci: bool, counts: &mut Counts) -> Outcome {
    println!("── {}: {}", step.name, step.about);
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
        match supervised(command, |line| counts.read(line)) {
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

fn line_of(outcome: &Outcome, cost: Cost) -> String {
    match outcome {
        Outcome::Passed => format!("passed in {cost}"),
        Outcome::Failed(why) => format!("FAILED after {cost}: {why}"),
        Outcome::Skipped(why) => format!("skipped: {why}"),
    }
}

/// Prints the summary, whose last line has the counts and nothing else.
fn close(finished: &[StepResult], counts: Counts) -> ExitCode {
    for step in finished {
        println!("{:<8} {}", step.name, line_of(&step.outcome, step.cost));
    }
    let total = finished.iter().map(|step| step.cost).fold(Cost::NONE, Cost::plus);
    println!("{:<8} {total}", "total");
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

fn closing_counts(finished: &[StepResult], mut counts: Counts) -> Counts {
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
        Cost, Counts, Duration, ExitCode, Outcome, STEPS, StepResult, close, closing_counts,
        line_of, select,
    };

    fn finished(name: &'static str, outcome: Outcome) -> StepResult {
        StepResult { name, outcome, failed: 0, cost: Cost::NONE }
    }

    #[test]
    fn only_selects_in_the_order_of_the_table() {
        let names = |only: &[&str]| -> Vec<&str> {
            let only: Vec<String> = only.iter().map(ToString::to_string).collect();
            select(&only, false).unwrap().iter().map(|step| step.name).collect()
        };
        assert_eq!(names(&["clippy", "fmt"]), ["fmt", "clippy"]);
        assert_eq!(names(&["clippy,fmt"]), ["fmt", "clippy"]);
        assert_eq!(names(&["hosts"]), ["hosts"]);
        assert_eq!(select(&[], true).unwrap().len(), STEPS.len());
        let usual = STEPS.iter().filter(|step| !step.is_extra).count();
        assert!(names(&[]).len() == usual && !names(&[]).contains(&"hosts"));
        let unknown = select(&["lint".to_string()], false).map(|_| ()).unwrap_err().to_string();
        assert!(unknown.contains("lint") && unknown.contains("clippy"), "{unknown}");
    }

    #[test]
    fn costs_add_up_and_an_unknown_cpu_time_stays_unknown() {
        let cost = |cpu| Cost { wall: Duration::from_secs(2), cpu };
        let measured = cost(Some(Duration::from_secs(30)));
        assert_eq!(line_of(&Outcome::Passed, measured), "passed in 2.0 s, 0.5 CPU-minutes");
        let total = Cost::NONE.plus(measured).plus(measured);
        assert_eq!(total.to_string(), "4.0 s, 1.0 CPU-minutes");
        assert_eq!(total.plus(cost(None)).to_string(), "6.0 s");
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
            |name, failed| StepResult { failed, ..finished(name, Outcome::Failed("x".into())) };
        let skipped = finished("wasm", Outcome::Skipped("y".into()));
        let closing = closing_counts(&[failed("test", 2), skipped], tests);
        assert_eq!((closing.failed, closing.ignored), (2, 1));
        let closing = closing_counts(&[failed("test", 2), failed("browser", 0)], tests);
        assert_eq!(closing.failed, 3, "a broken build beside failed tests");
    }
}
