//! `cargo xtask golden FILE…`: whether the library agrees with golden files.

use std::path::Path;
use std::process::ExitCode;

use dpscope_tests::golden::{Outcome, Real, Tally, evaluate_file};

const HELP: &str = "\
Evaluates golden files against the library

Usage: cargo xtask golden [--verbose] FILE...

  FILE       accounting.json, estimators.json and federated.json (score arrays beside them),
             one_run.json, without_coins.json, own_trainer.json, metagradient.json, pate.json,
             eps_emp.json, clopper_pearson.csv, or a file in the format of one of these
  --verbose  also list the values that passed, and those that the library does not compute

Prints the values that failed and, last, `N passed, M failed`. A value that the library does not
compute is neither.

Exit codes: 0 all passed, 1 a value failed, 2 a file is missing, malformed or not supported.
";

fn main() -> ExitCode {
    let mut files: Vec<String> = std::env::args().skip(1).collect();
    let before = files.len();
    files.retain(|argument| argument != "--verbose");
    let is_verbose = files.len() != before;
    if files.iter().any(|argument| argument == "--help" || argument == "-h") {
        print!("{HELP}");
        return ExitCode::SUCCESS;
    }
    if let Some(option) = files.iter().find(|argument| argument.starts_with('-')) {
        eprintln!("error: unknown option `{option}`");
        return ExitCode::from(2);
    }
    if files.is_empty() {
        eprint!("error: no file given\n\n{HELP}");
        return ExitCode::from(2);
    }
    let (mut total, mut is_refused) = (Tally::default(), false);
    for file in &files {
        match evaluate_file(Path::new(file), &Real) {
            Ok(findings) => {
                let tally = Tally::of(&findings);
                let is_shown =
                    |outcome: &Outcome| is_verbose || matches!(outcome, Outcome::Failed(_));
                findings.iter().filter(|finding| is_shown(&finding.outcome)).for_each(|finding| {
                    println!("{finding}");
                });
                let Tally { passed, failed, skipped } = tally;
                println!("{file}: {passed} passed, {failed} failed, {skipped} skipped");
                total.passed += passed;
                total.failed += failed;
            }
            Err(error) => {
                is_refused = true;
                eprintln!("error: {error}");
            }
        }
    }
    println!("{} passed, {} failed", total.passed, total.failed);
    match (is_refused, total.failed) {
        (true, _) => ExitCode::from(2),
        (false, 0) => ExitCode::SUCCESS,
        (false, _) => ExitCode::FAILURE,
    }
}
