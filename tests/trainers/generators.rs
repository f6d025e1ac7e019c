//! Generators of synthetic rows, audited as in `crates/cli/examples/own_generator`.

use dpscope_tests::cli::{CommandResult, dpscope, number, run, text};
use libtest_mimic::{Failed, Trial};
use tempfile::TempDir;

use super::{Example, PYTHON, check, runnable};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../crates/cli/examples/own_generator/");

const OWN: Example = Example {
    file: "own_generator.py",
    arguments: &[],
    needs: "csv",
    required_by: "REQUIRE_NUMPY",
};

/// One run of each takes seconds: two worlds of 20 runs can show an ε of 0.9 at most.
const PRIVBAYES: Example = Example {
    file: "public_packages.py",
    arguments: &["privbayes"],
    needs: "numpy, pandas, DataSynthesizer",
    required_by: "REQUIRE_DATASYNTHESIZER",
};

const DPMM: Example = Example {
    arguments: &["dpmm"],
    needs: "numpy, pandas, dpmm",
    required_by: "REQUIRE_DPMM",
    ..PRIVBAYES
};

/// The tests of all generators.
pub(super) fn trials() -> Vec<Trial> {
    let own = [
        Trial::test("noisy_histograms_satisfy_their_claim", || own(None, "not-refuted")),
        Trial::test("histograms_without_noise_are_refuted", || own(Some("no-noise"), "refuted")),
        Trial::test("a_number_of_rows_from_the_data_is_no_result", rows_of_the_data),
    ];
    let mut trials = runnable(OWN, own.into());
    let packages = [(PRIVBAYES, "privbayes_is_audited"), (DPMM, "dpmm_is_audited")];
    for (example, name) in packages {
        let trial = Trial::test(name, move || packaged(example));
        let trial = trial.with_ignored_flag(true).with_kind("7 min");
        trials.extend(runnable(example, vec![trial]));
    }
    trials
}

/// At a claim of 1, a correct generator would be refuted in at most 5 % of all audits.
fn own(broken: Option<&str>, verdict: &str) -> Result<(), Failed> {
    let folder = planned(60);
    let options = broken.map(|broken| format!(" --broken {broken}")).unwrap_or_default();
    generate(&folder, OWN, &format!("{{data}} {{seed}} {{out}} {{rows}}{options}")).exits(0);
    let exit = if verdict == "refuted" { 3 } else { 0 };
    let audit = run(folder.path(), "audit generator plan --json").exits(exit).json();
    check(text(&audit, "/verdict") == verdict, format!("{audit:#}"))?;
    check(number(&audit, "/attack/ceiling") > 1.0, format!("{audit:#}"))
}

/// Every run has another number of rows than planned: no run succeeds, which is no proof of privacy.
fn rows_of_the_data() -> Result<(), Failed> {
    let folder = planned(20);
    let command = "{data} {seed} {out} {rows} --broken row-count";
    let ended = generate(&folder, OWN, command).exits(2);
    check(ended.stderr.contains("no run succeeded"), ended.stderr)?;
    let audit = run(folder.path(), "audit generator plan --json").exits(6).json();
    check(text(&audit, "/verdict") == "inconclusive", format!("{audit:#}"))
}

/// Whether the released rows of a package pass the checks; a run may fail for want of memory.
fn packaged(example: Example) -> Result<(), Failed> {
    let folder = planned(20);
    generate(&folder, example, "{data} {seed} {out} {rows} --epsilon 1").exits(0);
    let audit = run(folder.path(), "audit generator plan --json");
    let audit = match audit.code {
        Some(0 | 3 | 6) => audit.json(),
        _ => return Err(audit.stderr.into()),
    };
    let failed = [0, 1].map(|world| number(&audit, &format!("/failed/{world}")));
    check(failed.iter().all(|failed| *failed <= 5.0), format!("{audit:#}"))?;
    let [epsilon, ceiling] =
        ["epsilon", "ceiling"].map(|name| number(&audit, &format!("/attack/{name}")));
    check(epsilon <= ceiling, format!("{audit:#}"))
}

/// A folder with data, and a plan of so many runs in each world.
fn planned(runs: u64) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for name in ["people.csv", "columns.toml"] {
        std::fs::copy(format!("{FOLDER}{name}"), folder.path().join(name)).unwrap();
    }
    let plan = "plan generator --claim 1 --delta 0 --data people.csv --columns columns.toml \
                --target-row 4 --rows 100 --seed 1 --allow-duplicates --out plan";
    run(folder.path(), &format!("{plan} --runs {runs}")).exits(0);
    folder
}

fn generate(folder: &TempDir, example: Example, arguments: &str) -> CommandResult {
    let script = format!("'{FOLDER}{}' {}", example.file, example.arguments.join(" "));
    let command = format!("{PYTHON} {script} {arguments}");
    let mut program = dpscope(folder.path());
    program.args(["generator", "run", "plan", "--quiet", "--command", &command]);
    program.output().unwrap().into()
}
