//! Can a user's own trainer be audited as shown in the examples?
//!
//! Runs the examples of `crates/cli/examples/own_trainer`, correct and broken, and audits the
//! recorded outputs, and the examples of one run in `crates/cli/examples/one_run`,
//! `crates/cli/examples/language_model` and `crates/cli/examples/federated`, and the generators of
//! synthetic rows in `crates/cli/examples/own_generator`, loaders of libraries, and records of other
//! accountants. Without a Python that can
//! import the dependencies, the tests are reported as ignored, with the reason; with
//! `REQUIRE_NUMPY=1`, `REQUIRE_OPACUS=1` or
//! `REQUIRE_JAX=1` they fail; so do generators of public packages with `REQUIRE_DATASYNTHESIZER=1` and
//! `REQUIRE_DPMM=1`, loaders with `REQUIRE_LOADERS=1` and records with `REQUIRE_DP_ACCOUNTING=1`.
#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

mod generators;
mod loaders;

use std::process::{Command, ExitCode};

use dpscope_tests::cli::{CommandResult, dpscope, run, text};
use libtest_mimic::{Arguments, Failed, Trial};
use tempfile::TempDir;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../crates/cli/examples/own_trainer/");

const ONE_RUN: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../crates/cli/examples/one_run/one_run_trainer.py");

const LANGUAGE_MODEL: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../crates/cli/examples/language_model/language_model.py");

const FEDERATED: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../crates/cli/examples/federated/federated_server.py");

const FLOWER: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../crates/cli/examples/federated/flower_server.py");

const PYTHON: &str = if cfg!(windows) { "python" } else { "python3" };

/// The claim of the examples, proven for their noise and any order of the records.
const AUDIT: &str = "audit outputs runs.npz --threat-model partially-informed --claim 2.0 --seed 5";

/// An example, its Python dependencies, and the variable that makes its tests mandatory.
#[derive(Clone, Copy)]
struct Example {
    file: &'static str,
    arguments: &'static [&'static str],
    needs: &'static str,
    required_by: &'static str,
}

const OWN: Example = Example {
    file: "own_trainer.py",
    arguments: &["--framework", "numpy"],
    needs: "numpy",
    required_by: "REQUIRE_NUMPY",
};

const OPACUS: Example = Example {
    file: "opacus_trainer.py",
    arguments: &[],
    needs: "torch, opacus",
    required_by: "REQUIRE_OPACUS",
};

const DP_EVENTS: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../crates/cli/examples/imports/dp_event_json.py");

const WITH_DP_ACCOUNTING: Example = Example {
    file: "dp_event_json.py",
    arguments: &[],
    needs: "dp_accounting, attr",
    required_by: "REQUIRE_DP_ACCOUNTING",
};

const WITH_FLOWER: Example = Example {
    file: "flower_server.py",
    arguments: &[],
    needs: "numpy, flwr, ray",
    required_by: "REQUIRE_FLOWER",
};

/// A federated training with canary clients.
struct FederatedExample {
    server: &'static str,
    plan: &'static str,
    arguments: &'static [&'static str],
    audit: &'static str,
    claim: &'static str,
}

const LAST_MODEL: FederatedExample = FederatedExample {
    server: FEDERATED,
    plan: "--design poisson:50 --dimension 20000",
    arguments: &["--seed", "1"],
    audit: "--initial start.npy --final trained.npy --control sent.npy",
    claim: "2",
};

const EVERY_UPDATE: FederatedExample = FederatedExample {
    plan: "--design poisson:50 --dimension 20000 --attacker sum-of-updates",
    arguments: &["--seed", "1", "--updates", "updates"],
    audit: "--updates updates --control sent.npy --noise-multiplier 9 --clip-norm 0.5 \
            --planned-clients 100 --participations 20",
    ..LAST_MODEL
};

const FLOWER_APP: FederatedExample = FederatedExample {
    server: FLOWER,
    plan: "--design poisson:20 --dimension 20002 --attacker sum-of-updates",
    arguments: &[],
    audit: "--initial start.npz --models models --control sent.npz",
    claim: "2",
};

const WEIGHTED_FLOWER_APP: FederatedExample = FederatedExample {
    plan: "--design poisson:60 --dimension 20002 --attacker sum-of-updates --weights 1,1,1,1,1,100",
    claim: "1000",
    ..FLOWER_APP
};

/// The example of one run, with gradients of each framework.
const FRAMEWORKS: [Example; 3] = [
    Example { arguments: &["--framework", "numpy"], ..OWN },
    Example {
        arguments: &["--framework", "torch"],
        needs: "numpy, torch",
        required_by: "REQUIRE_OPACUS",
        ..OWN
    },
    Example {
        arguments: &["--framework", "jax"],
        needs: "numpy, jax",
        required_by: "REQUIRE_JAX",
        ..OWN
    },
];

fn main() -> ExitCode {
    let own = [
        Trial::test("a_correct_trainer_satisfies_its_claim", || correct_trainer(OWN)),
        Trial::test("noise_divided_twice_is_refuted", || refuted(OWN)),
        Trial::test("a_loader_without_shuffle_is_detected", || loader_detected(OWN)),
        Trial::test("the_claim_is_proven", claim_is_proven),
        Trial::test("canary_clients_of_a_correct_server_do_not_refute", || {
            federated(&LAST_MODEL, None, 0)
        }),
        Trial::test("canary_clients_refute_less_noise", || {
            federated(&LAST_MODEL, Some("less-noise"), 3)
        }),
        Trial::test("canary_clients_in_every_update_refute_less_noise", || {
            federated(&EVERY_UPDATE, Some("less-noise"), 3)
        }),
    ];
    let opacus = [
        Trial::test("opacus_satisfies_its_claim", || correct_trainer(OPACUS)),
        Trial::test("opacus_with_noise_divided_twice_is_refuted", || refuted(OPACUS)),
        Trial::test("opacus_with_a_loader_without_shuffle_is_detected", || loader_detected(OPACUS)),
    ];
    let mut trials = runnable(OWN, own.into());
    trials.extend(runnable(OPACUS, opacus.into()));
    for example in FRAMEWORKS {
        let name = example.arguments[1];
        let correct = format!("canaries_of_one_correct_run_do_not_refute_with_{name}");
        let broken = format!("canaries_of_one_run_refute_less_noise_with_{name}");
        let one_run = [
            Trial::test(correct, move || one_run(example, None, 0)),
            Trial::test(broken, move || one_run(example, Some("less-noise"), 3)),
        ];
        trials.extend(runnable(example, one_run.into()));
    }
    let flower = [
        Trial::test("canary_clients_of_flower_do_not_refute", || federated(&FLOWER_APP, None, 0)),
        Trial::test("canary_clients_of_flower_refute_less_noise", || {
            federated(&FLOWER_APP, Some("less-noise"), 3)
        }),
        Trial::test("numbers_of_examples_that_weight_clients_of_flower_are_detected", || {
            let report = federated_report(&WEIGHTED_FLOWER_APP, Some("weights"), 6);
            let findings = report["findings"].as_array().unwrap();
            let follows = |finding: &serde_json::Value| finding["code"] == "scores_follow_class";
            check(findings.iter().any(follows), format!("{report:#}"))
        }),
    ];
    trials.extend(runnable(WITH_FLOWER, flower.into()));
    let seeds = [
        Trial::test("2_correct_runs_are_rarely_refuted", || rarely_refuted(2, 1)),
        Trial::test("100_correct_runs_are_rarely_refuted", || rarely_refuted(100, 10))
            .with_ignored_flag(true)
            .with_kind("1 min"),
    ];
    trials.extend(runnable(FRAMEWORKS[0], seeds.into()));
    trials.extend(runnable(FRAMEWORKS[1], language_models()));
    let events = Trial::test("events_of_dp_accounting_are_imported", events_are_imported);
    trials.extend(runnable(WITH_DP_ACCOUNTING, vec![events]));
    trials.extend(generators::trials());
    trials.extend(loaders::trials());
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

/// Audits of language models, by coins and by secrets.
fn language_models() -> Vec<Trial> {
    vec![
        Trial::test("a_language_model_that_memorises_its_canaries_is_refuted", || {
            language_model(None, "--claim 2", 3)
        }),
        Trial::test("a_language_model_trained_with_noise_is_not_refuted", || {
            language_model(Some("--dp"), "--claim 2.3", 0)
        }),
        Trial::test("a_language_model_that_memorises_its_secrets_is_refuted_beyond_coins", || {
            language_model_with_secrets(None, "--claim 4.5", 3)
        }),
        Trial::test("secrets_of_a_language_model_trained_with_noise_do_not_refute", || {
            let claim = "--claim 2.3 --claim-adjacency zero-out";
            language_model_with_secrets(Some("--dp"), claim, 0)
        }),
    ]
}

/// The tests of an example; if it cannot run here, tests that report the reason.
fn runnable(example: Example, trials: Vec<Trial>) -> Vec<Trial> {
    let Some(reason) = missing(example.needs) else { return trials };
    let required = std::env::var(example.required_by).is_ok_and(|value| value == "1");
    trials.iter().map(|trial| unable(trial, &reason, required)).collect()
}

fn missing(needs: &str) -> Option<String> {
    let output = Command::new(PYTHON).args(["-c", &format!("import {needs}")]).output();
    match output {
        Ok(output) if output.status.success() => None,
        Ok(_) => Some(format!("{PYTHON} cannot import {needs}")),
        Err(error) => Some(format!("{PYTHON} cannot be started: {error}")),
    }
}

/// A test with the same name that fails with the reason; ignored unless it is required.
fn unable(trial: &Trial, reason: &str, required: bool) -> Trial {
    let message = reason.to_string();
    Trial::test(trial.name(), move || Err(Failed::from(message)))
        .with_kind(reason)
        .with_ignored_flag(!required)
}

/// Output of the trainer, and the JSON output of the audit of its runs.
fn audited(example: Example, options: &[&str]) -> (String, CommandResult) {
    let folder = tempfile::tempdir().unwrap();
    let mut trainer = Command::new(PYTHON);
    trainer.current_dir(folder.path()).arg(format!("{FOLDER}{}", example.file)).arg("runs.npz");
    trainer.args(example.arguments);
    trainer.args(options);
    let trained: CommandResult = trainer.output().unwrap().into();
    let trained = trained.exits(0);
    (trained.stdout, run(folder.path(), &format!("{AUDIT} --json")))
}

fn check(condition: bool, what: impl Into<Failed>) -> Result<(), Failed> {
    if condition { Ok(()) } else { Err(what.into()) }
}

fn correct_trainer(example: Example) -> Result<(), Failed> {
    let (said, audit) = audited(example, &[]);
    check(example.file != OWN.file || said.matches("as expected").count() == 2, said)?;
    let report = audit.exits(0).json();
    check(text(&report, "/result/kind") == "bound", format!("{report:#}"))?;
    check(report["findings"] == serde_json::json!([]), format!("{:#}", report["findings"]))?;
    check(report["input"]["clip_norm"] == 0.5, format!("{:#}", report["input"]))?;
    check(report["input"]["runs"] == serde_json::json!([200, 200]), "runs")
}

fn refuted(example: Example) -> Result<(), Failed> {
    let (said, audit) = audited(example, &["--broken", "noise-divided-twice"]);
    check(example.file != OWN.file || said.contains("DIFFERS"), said)?;
    let report = audit.exits(3).json();
    let findings = format!("{:#}", report["findings"]);
    check(findings.contains("less noise is added"), findings)?;
    check(text(&report, "/result/kind") == "bound", format!("{report:#}"))
}

fn loader_detected(example: Example) -> Result<(), Failed> {
    // 200 runs find it in 30 of 40 trainings
    let (_, audit) = audited(example, &["--broken", "no-shuffle", "--runs", "400"]);
    let report = audit.json();
    let findings = format!("{:#}", report["findings"]);
    check(text(&report, "/result/kind") == "bound", format!("{report:#}"))?;
    // inconclusive where another step than this one was audited
    check(text(&report, "/claim/verdict/outcome") != "refuted", format!("{report:#}"))?;
    check(findings.contains("the loader does not shuffle"), findings)
}

/// At 5 %, more than `most` refutations of so many correct trainings have a chance of about 0.3 % (1 of
/// 2) or 1 % (10 of 100).
fn rarely_refuted(trainings: u64, most: usize) -> Result<(), Failed> {
    let folder = canaries();
    let refuted = (1..=trainings)
        .filter(|seed| {
            let seed = seed.to_string();
            let report = one_run_report(&folder, FRAMEWORKS[0], &["--seed", &seed]);
            text(&report.json(), "/claim/verdict/outcome") == "refuted"
        })
        .count();
    check(refuted <= most, format!("{refuted} of {trainings} correct trainings were refuted"))
}

fn one_run(example: Example, broken: Option<&str>, code: i32) -> Result<(), Failed> {
    let options: Vec<&str> = broken.iter().flat_map(|&broken| ["--broken", broken]).collect();
    // at a claim of 2, a correct trainer would be refuted in at most 5 % of all runs
    let report = one_run_report(&canaries(), example, &options).exits(code).json();
    check(text(&report, "/design/coins") == "committed", format!("{report:#}"))?;
    check(text(&report, "/kind") == "bound", format!("{report:#}"))
}

/// A folder with canaries.npz.
fn canaries() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let make = "canaries make directions --dimension 1024 --count 1000 --out canaries.npz --seed 1";
    run(folder.path(), make).exits(0);
    folder
}

/// Commits coins, trains once with the included canaries, and audits their scores.
fn one_run_report(canaries: &TempDir, example: Example, options: &[&str]) -> CommandResult {
    let folder = tempfile::tempdir_in(canaries).unwrap();
    let at = folder.path();
    run(at, "plan one-run --canaries ../canaries.npz --out plan").exits(0);
    let mut trainer = Command::new(PYTHON);
    trainer.current_dir(at).arg(ONE_RUN).args(["../canaries.npz", "plan/coins.npy", "scores.npy"]);
    trainer.args(example.arguments);
    trainer.args(options);
    let trained: CommandResult = trainer.output().unwrap().into();
    trained.exits(0);
    let audit =
        "audit one-run --plan plan --canaries ../canaries.npz --scores scores.npy --claim 2";
    run(at, &format!("{audit} --json"))
}

/// Fine-tunes a language model once with the included canary sentences, and audits their losses.
fn language_model(option: Option<&str>, claim: &str, code: i32) -> Result<(), Failed> {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let python = |arguments: &[&str]| {
        let mut python = Command::new(PYTHON);
        python.current_dir(at).arg(LANGUAGE_MODEL).args(arguments);
        let ended: CommandResult = python.output().unwrap().into();
        ended.exits(0);
    };
    python(&["canaries", "canaries.npz"]);
    run(at, "plan one-run --canaries canaries.npz --adjacency zero-out --out plan").exits(0);
    let files = ["canaries.npz", "plan/coins.npy", "scores.npy", "baseline.npy"];
    python(&[&["train"], &files[..], option.as_slice()].concat());
    let audit = "audit one-run --plan plan --canaries canaries.npz --scores scores.npy";
    let report = run(at, &format!("{audit} --baseline baseline.npy {claim} --json"));
    let report = report.exits(code).json();
    check(text(&report, "/design/coins") == "committed", format!("{report:#}"))?;
    check(text(&report, "/kind") == "bound", format!("{report:#}"))
}

/// Fine-tunes a language model once with the secrets of a plan, and audits the losses of secrets and decoys.
fn language_model_with_secrets(option: Option<&str>, claim: &str, code: i32) -> Result<(), Failed> {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let plan = "plan secrets --records 200 --values 1e12 --decoys 999 --list-length 1 --direction lower \
                --out plan --json";
    let plan = run(at, plan).exits(0).json();
    let mut python = Command::new(PYTHON);
    python.current_dir(at).arg(LANGUAGE_MODEL).args(["secrets", "plan/values.npy", "losses.npy"]);
    python.args(option);
    let trained: CommandResult = python.output().unwrap().into();
    trained.exits(0);
    let audit = format!("audit secrets --plan plan --candidates losses.npy {claim} --json");
    let report = run(at, &audit).exits(code).json();
    let commitment = text(&plan, "/committed/commitment");
    check(text(&report, "/commitment") == commitment, format!("{report:#}"))?;
    let ceiling = plan["coins_ceiling"].as_f64().unwrap();
    let claimed = report["claim"]["epsilon"].as_f64().unwrap();
    // only secrets can refute the claim without noise: it is above the ceiling of as many coins
    check(code == 0 || claimed > ceiling, format!("coins show up to {ceiling}"))
}

/// Commits a plan, trains once with canary clients, and audits the model or every update.
fn federated(example: &FederatedExample, broken: Option<&str>, code: i32) -> Result<(), Failed> {
    let report = federated_report(example, broken, code);
    check(report["design"]["is_committed"] == true, format!("{report:#}"))?;
    check(text(&report, "/kind") == "bound", format!("{report:#}"))
}

/// Plan, training and audit, with this exit code.
fn federated_report(
    example: &FederatedExample,
    broken: Option<&str>,
    code: i32,
) -> serde_json::Value {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    // the probability with which a correct server is refuted: plans are drawn anew in each run
    let significance = if code == 0 { "1e-3" } else { "0.05" };
    let plan = format!(
        "plan federated {} --delta 1e-5 --significance {significance} --out plan --json",
        example.plan
    );
    let inserted = run(at, &plan).exits(0).json()["committed"]["inserted"].to_string();
    let mut server = Command::new(PYTHON);
    server.current_dir(at).arg(example.server).args(["--canaries", &inserted]);
    server.args(example.arguments);
    server.arg("--dpscope").arg(dpscope(at).get_program());
    server.args(broken.map(|broken| ["--broken", broken]).into_iter().flatten());
    let trained: CommandResult = server.output().unwrap().into();
    trained.exits(0);
    let FederatedExample { audit, claim, .. } = example;
    let audit = format!("audit federated {audit} --plan plan --claim {claim}");
    run(at, &format!("{audit} --json")).exits(code).json()
}

fn claim_is_proven() -> Result<(), Failed> {
    let folder = tempfile::tempdir().unwrap();
    let bound = run(folder.path(), "bound deterministic --noise-multiplier 2 --steps 10 --json");
    let report = bound.exits(0).json();
    let proven = report.pointer("/epsilon").and_then(serde_json::Value::as_f64);
    check(proven.is_some_and(|proven| (1.9..=2.0).contains(&proven)), format!("{report:#}"))
}

/// The events that the example writes, and ε that the library itself computes for them.
fn events_are_imported() -> Result<(), Failed> {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let theirs = "import sys, runpy; names = runpy.run_path(sys.argv[1]); \
                  from dp_accounting import pld; accountant = pld.PLDAccountant(); \
                  accountant.compose(names['example']()); print(accountant.get_epsilon(1e-5))";
    let python = |arguments: &[&str]| -> CommandResult {
        Command::new(PYTHON).current_dir(at).args(arguments).output().unwrap().into()
    };
    python(&[DP_EVENTS, "event.json"]).exits(0);
    let theirs: f64 = python(&["-c", theirs, DP_EVENTS]).exits(0).stdout.trim().parse()?;
    let report = run(at, "check --import event.json --delta 1e-5 --json").exits(0).json();
    let epsilon = |side: &str| report[side]["epsilon"].as_f64().unwrap();
    check(report["phases"].as_array().is_some_and(|phases| phases.len() == 3), "3 phases")?;
    let is_near = epsilon("lower") <= theirs && theirs <= epsilon("upper") + 2e-3;
    check(is_near, format!("{theirs} is not near {} to {}", epsilon("lower"), epsilon("upper")))
}
