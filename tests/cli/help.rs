//! `--help`, `--version` and `completions`.

use std::ffi::OsString;
use std::process::Command;
use std::sync::Arc;

use dpscope::{Call, Supervisor};
use dpscope_tests::cli::{run, text};

use crate::federated::cosines;
use crate::federated_plan::planned_for_examples as planned_federated;
use crate::generated::{COLUMNS, write_generated};
use crate::one_run::canaries;
use crate::pategan_utility::write_patients;
use crate::trainer::npy_f8;
use crate::{Folder, dpscope};

const COMMANDS: [&str; 43] = [
    "",
    "audit",
    "audit bgm",
    "audit dpsgd",
    "audit outputs",
    "audit scores",
    "audit counts",
    "canaries make",
    "canaries rows",
    "plan bgm",
    "canaries optimise",
    "plan one-run",
    "canaries verify",
    "audit one-run",
    "plan federated",
    "plan generator",
    "canaries direction",
    "audit federated",
    "audit gaussian",
    "audit fedavg",
    "audit generator",
    "audit pategan",
    "bound",
    "bound matrix",
    "calibrate",
    "calibrate matrix",
    "compare",
    "sweep",
    "plan",
    "canaries",
    "launch",
    "launch slurm",
    "launch kubernetes",
    "launch ray",
    "merge",
    "resume",
    "recompute",
    "reproduce",
    "devices",
    "bench",
    "check",
    "serve",
    "completions",
];

/// Examples that take long, and that tests of their own run: here they are only started.
const STARTED: [&str; 3] =
    ["reproduce published", "reproduce metagradient-canaries", "reproduce fedavg-final-vs-all"];

/// Runs a command that is stopped as soon as its options are read and checked.
fn is_started(words: &str) -> bool {
    let arguments = words.split_whitespace().chain(["--device", "cpu"]);
    let drawing = words.split_once("--plot ").map(|(_, path)| path.into());
    let call = Call {
        arguments: arguments.map(OsString::from).collect(),
        outputs: drawing.into_iter().collect(),
        ..Call::default()
    };
    let supervisor = Arc::<Supervisor>::default();
    supervisor.stop();
    let code =
        call.run(&supervisor).map_or_else(|error| error.exit_code, |result| result.exit_code);
    code == INTERRUPTED
}

const INTERRUPTED: u8 = 130;

#[test]
fn a_command_with_an_unknown_option_is_not_started() {
    for example in STARTED {
        assert!(is_started(example) && !is_started(&format!("{example} --no-such-option")));
    }
}

/// The indented commands below `Example:` or `Examples:`.
fn examples(help: &str) -> Vec<String> {
    let help = help.replace("\\\n", " ");
    let from = help.lines().skip_while(|line| !line.starts_with("Example")).skip(1);
    let lines = from.take_while(|line| line.starts_with("  dpscope "));
    lines.map(|line| line.trim_start().to_owned()).collect()
}

/// The words of an example as a shell would take them, at a size for tests.
fn at_test_size(example: &str) -> String {
    let words = example.split("> ").next().unwrap().trim_start_matches("dpscope ");
    let words = words.replace("1e7", "1e4").replace("1e6", "1e3");
    let words = words.replace("--runs 2000", "--runs 2").replace("--runs 200", "--runs 2");
    let few = "reproduce pategan --runs 40 --average-runs";
    let words = words.replace("reproduce pategan --plot", &format!("{few} 0 --plot"));
    let words = words.replace("reproduce pategan --data", &format!("{few} 40 --data"));
    let words = words.replace("--count 400", "--count 20 --steps 5");
    let words = words.replace("--metasteps 120", "--metasteps 2");
    let few_clients = "audit fedavg --clients 40 --records-per-client 4";
    let words = words.replace("audit fedavg", few_clients);
    let words = words.replace("--batch-size 100", "--batch-size 10 --records 20");
    words.replace("shard-*.json", "shard-1.json shard-2.json")
}

#[test]
fn examples_in_help_texts_run() {
    let folder = planned_federated();
    let outputs =
        |shift: f64| npy_f8(&[40], &(0..40).map(|i| shift + f64::from(i)).collect::<Vec<_>>());
    folder.write("in.npy", outputs(1.5));
    folder.write("out.npy", outputs(0.0));
    let array = |shift: f64| {
        let values = (0..40).map(|i| shift + f64::from(i * i % 7)).collect();
        dpscope_formats::Array::new(vec![20, 2], values).unwrap()
    };
    let arrays = [("target", &array(1.0)), ("zero_out", &array(0.0))];
    let runs = dpscope_formats::write_npz(&arrays).unwrap();
    folder.write("runs.npz", runs);
    folder.write("settings.csv", "sigma,T\n1,100\n");
    folder.run("compare --noise-multiplier 1 --steps 10 --seed 1 --report report.html").exits(0);
    folder.write("strategy.csv", "1,0\n0.5,1\n");
    let records = dpscope_formats::Array::new(vec![40, 2], (0..80).map(f64::from).collect());
    let labels = dpscope_formats::Array::new(vec![40], (0..40).map(|i| f64::from(i % 3)).collect());
    let records = [("inputs", &records.unwrap()), ("labels", &labels.unwrap())];
    folder.write("records.npz", dpscope_formats::write_npz(&records).unwrap());
    let (coins, scores) = canaries(10, 1.0, 3);
    folder.write("coins.npy", npy_f8(&[10], &coins));
    folder.write("scores.npy", npy_f8(&[10], &scores));
    folder.write("cosines.csv", cosines(60, 0.5, 1));
    write_generated(&folder, "folder");
    folder.write("columns.toml", COLUMNS);
    folder.write("people.csv", "x\n1\n2\n");
    write_patients(&folder);
    let images: Vec<u8> = (0..40 * 28 * 28).map(|i| (i % 251) as u8).collect();
    let header = [0, 0, 8, 3, 0, 0, 0, 40, 0, 0, 0, 28, 0, 0, 0, 28];
    folder.write("train-images-idx3-ubyte.gz", [&header[..], &images].concat());
    let labels = [0, 0, 8, 1, 0, 0, 0, 40].into_iter().chain((0..40).map(|i| i % 2));
    folder.write("train-labels-idx1-ubyte.gz", labels.collect::<Vec<u8>>());
    let small = "audit bgm --noise-multiplier 1 --steps 5 --observations 2000 --seed 1";
    for i in 1..=2 {
        folder.run(&format!("{small} --shard {i}/2 --out shard-{i}.json")).exits(0);
    }
    folder.run(&format!("{small} --checkpoint audit.checkpoint")).exits(0);

    for command in COMMANDS {
        let help = folder.run(&format!("{command} --help")).exits(0);
        assert_eq!(help.stderr, "", "{command}");
        // A narrow terminal would wrap a longer line, and a copy of it would not run.
        let commands = help.stdout.lines().skip_while(|line| !line.starts_with("Example")).skip(1);
        let commands = commands.take_while(|line| line.starts_with("  "));
        assert!(commands.clone().all(|line| line.chars().count() <= 80), "{}", help.stdout);
        let examples = examples(&help.stdout);
        assert!(!examples.is_empty(), "{command}: {}", help.stdout);
        // A server runs until it is stopped; its own tests run the example.
        for example in examples.iter().filter(|example| !example.starts_with("dpscope serve")) {
            let words = at_test_size(example);
            let makes = ["canaries make", "canaries optimise"];
            if let Some((_, out)) = words.split_once("--out ")
                && makes.iter().any(|made| words.starts_with(made))
            {
                // canaries are not overwritten
                let _ = std::fs::remove_file(folder.at(out.split(' ').next().unwrap()));
            }
            if STARTED.iter().any(|started| words.starts_with(started)) {
                assert!(is_started(&words), "{example}");
                continue;
            }
            let ended = folder.run(&words);
            // so few canaries decide no claim
            assert!(matches!(ended.code, Some(0 | 3 | 6)), "{example}: {}", ended.stderr);
        }
    }
}

#[test]
fn version_is_that_of_the_package() {
    let shown = dpscope("--version").exits(0).stdout;
    assert_eq!(shown, format!("dpscope {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn completions_contain_every_command() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = dpscope(&format!("completions {shell}")).exits(0).stdout;
        for word in [
            "resume",
            "reproduce",
            "bench",
            "calibrate",
            "sampling-rate",
            "noise-multiplier",
            "count-non-finite",
            "guesses-in",
            "float-mode",
        ] {
            assert!(script.contains(word), "{shell}: {word}");
        }
        let json = dpscope(&format!("completions {shell} --json")).exits(0).json();
        assert_eq!(text(&json, "/script"), script);
    }
    let bash = Command::new("bash").arg("--version").output();
    if bash.is_err() {
        eprintln!("not tested: there is no bash here");
        return;
    }
    let folder = Folder::new();
    folder.write("script", run(folder.path(), "completions bash").exits(0).stdout);
    let checked = Command::new("bash").arg("-n").arg(folder.at("script")).status().unwrap();
    assert!(checked.success());
}
