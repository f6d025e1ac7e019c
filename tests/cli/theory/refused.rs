//! Bad input to the commands of theory: exit code 2, and the option to change.

use dpscope_tests::cli::number;

use crate::{Folder, dpscope};

const SUBJECTS: [&str; 8] = [
    "poisson",
    "deterministic",
    "balls-in-bins",
    "fixed-size",
    "random-allocation",
    "shuffle",
    "persistent-shuffle",
    "pair",
];

/// Words with one option replaced or added.
fn with(command: &str, option: &str, value: &str) -> String {
    let mut options = vec![
        ("--noise-multiplier", "1"),
        ("--steps", "10"),
        ("--epochs", "2"),
        ("--delta", "1e-5"),
    ];
    options.retain(|known| known.0 != option);
    options.push((option, value));
    let options: Vec<String> =
        options.iter().map(|(name, value)| format!("{name} {value}")).collect();
    format!("{command} {}", options.join(" "))
}

#[test]
fn every_subject_rejects_values_outside_its_domain() {
    let commands = SUBJECTS.iter().map(|subject| format!("bound {subject}"));
    for command in commands.chain(["compare".to_owned()]) {
        for (option, values) in [
            ("--delta", &["0", "1", "-1", "2", "nan", "inf"][..]),
            ("--noise-multiplier", &["0", "-1", "nan", "inf", "1e300", "1e-300", "x"]),
            ("--steps", &["0", "-1", "1.5", "nan", "1e300"]),
            ("--epochs", &["0", "-1", "nan", "inf", "1e16", "x"]),
        ] {
            for value in values {
                dpscope(&with(&command, option, value)).refuses(2, &[option]);
            }
        }
    }
    for subject in SUBJECTS {
        let words = format!("bound {subject} --noise-multiplier 1 --steps 10");
        for value in ["-1", "nan", "inf", "x"] {
            dpscope(&format!("{words} --epsilon {value}")).refuses(2, &["--epsilon"]);
        }
        dpscope(&format!("{words} --epsilon 1 --delta 1e-5"))
            .refuses(2, &["--epsilon", "--delta", "cannot be used with"]);
    }
    for value in ["0", "-0.1", "1.1", "nan"] {
        dpscope(&with("bound poisson", "--sampling-rate", value)).refuses(2, &["--sampling-rate"]);
    }
    for (option, value) in [
        ("--significance", "0"),
        ("--significance", "0.9"),
        ("--observations", "10"),
        ("--seed", "-1"),
    ] {
        let words = "bound pair --noise-multiplier 1 --steps 10";
        dpscope(&format!("{words} {option} {value}")).refuses(2, &[option]);
    }
}

#[test]
fn options_without_effect_are_rejected() {
    for (words, parts) in [
        ("shuffle --sampling-rate 0.1", &["--sampling-rate", "poisson and fixed-size only"][..]),
        ("shuffle --direction add", &["--direction"]),
        ("pair --adjacency replace", &["--adjacency does not apply to pair"]),
        (
            "shuffle --adjacency replace --method sum",
            &["--method applies to zero-out adjacency only"],
        ),
        ("deterministic --adjacency add-remove", &["use zero-out or replace"]),
        ("poisson --method best", &["--method"]),
        ("pair --method sum", &["--method"]),
        ("shuffle --method median", &["--method", "median"]),
        ("shuffle --side upper --method sum", &["--method sum"]),
        ("poisson --side estimate", &["--side estimate"]),
        ("poisson --side middle", &["--side", "middle"]),
        ("shuffle --observations 1e4", &["--observations"]),
        ("shuffle --seed 1", &["--seed"]),
        ("shuffle --significance 0.1", &["--significance"]),
        ("laplace", &["laplace"]),
    ] {
        dpscope(&format!("bound {words} --noise-multiplier 1 --steps 10")).refuses(2, parts);
    }
    dpscope("bound poisson --steps 10").refuses(2, &["--noise-multiplier"]);
    dpscope("bound poisson --noise-multiplier 1").refuses(2, &["--steps"]);
}

#[test]
fn huge_grids_are_rejected_before_allocation() {
    for words in [
        "bound poisson --noise-multiplier 1 --steps 1e9 --epochs 1e9",
        "bound balls-in-bins --noise-multiplier 1 --steps 1e9",
        "bound balls-in-bins --noise-multiplier 1 --steps 10 --epochs 1e9",
        "bound shuffle --noise-multiplier 1 --steps 10 --epochs 1e9",
        "bound pair --noise-multiplier 1 --steps 1e8 --observations 1000",
    ] {
        dpscope(words).refuses(2, &["--"]);
    }
}

/// Settings whose grid was too large: their answers, from few or single uses of the record.
#[test]
fn settings_with_little_noise_have_a_bound() {
    let upper =
        |words: &str| number(&dpscope(&format!("{words} --json")).exits(0).json(), "/epsilon");
    // all but 1e-5 of 100 draws at q = .01 have at most 7 uses: 7 / (2σ²) and less than two deviations
    let few_uses = upper("bound poisson --noise-multiplier 0.01 --steps 100");
    assert!(few_uses > 35_000.0 && few_uses < 35_000.0 + 2.0 * 264.6, "{few_uses}");
    // one use has probability 9.2255e-5: a Gaussian mechanism at δ = 1e-5 / 9.2255e-5
    let rare_use =
        upper("bound poisson --noise-multiplier 0.42 --sampling-rate 1e-9 --steps 92259");
    let one_use = upper("bound deterministic --noise-multiplier 0.42 --steps 1 --delta 0.108395");
    assert!((rare_use - one_use).abs() < 1e-3, "{rare_use} {one_use}");
}

#[test]
fn errors_quote_values_as_written() {
    for (words, part) in [
        (
            "bound persistent-shuffle --side lower --noise-multiplier 0.01 --steps 9 --epochs 4",
            "multiplier is 0.01;",
        ),
        (
            "bound persistent-shuffle --side lower --noise-multiplier 1 --steps 9 --epochs 1e6",
            "multiplier is 1;",
        ),
        ("bound poisson --noise-multiplier 1 --steps 1e15", "--steps is 1e15;"),
        ("bound poisson --noise-multiplier 1 --steps 1e8 --epochs 100", "all epochs together"),
        ("calibrate noise --epsilon 1 --steps 1e12", "--steps is 1000000000000;"),
        ("bound shuffle --noise-multiplier 1e300 --steps 9", "multiplier is 1e300;"),
        ("bound shuffle --noise-multiplier 1 --steps 9 --delta 1e-320", "delta is 1e-320;"),
    ] {
        dpscope(words).refuses(2, &[part]);
    }
    let shown =
        dpscope("bound shuffle --noise-multiplier 1 --steps 9 --epsilon=-0").exits(0).stdout;
    assert!(shown.contains("at ε = 0,"), "{shown}");
}

#[test]
fn impossible_calibrations_are_rejected() {
    for (words, parts) in [
        ("noise --epsilon 0 --steps 10", &["--epsilon"][..]),
        ("noise --epsilon nan --steps 10", &["--epsilon"]),
        ("noise --epsilon 1 --steps 0", &["--steps"]),
        ("noise --epsilon 1", &["--steps"]),
        ("noise --epsilon 1 --sampling-rate 0.1", &["--steps"]),
        ("noise --epsilon 1 --steps 10 --delta 1", &["--delta"]),
        ("noise --epsilon 1 --steps 10 --sampling-rate 2", &["--sampling-rate"]),
        ("noise --epsilon 1 --steps 10 --noise-multiplier 1", &["--noise-multiplier"]),
        ("noise --epsilon 1 --steps 10 --sampler sliding-buffer", &["--sampler"]),
        (
            "noise --epsilon 1 --steps 10 --sampler shuffle --sampling-rate 0.1",
            &["--sampling-rate"],
        ),
        ("steps --epsilon 1 --steps 10", &["--noise-multiplier"]),
        ("steps --epsilon 1 --noise-multiplier 1", &["--steps", "--sampling-rate"]),
        ("steps --epsilon 1 --steps 9 --noise-multiplier 1 --sampler shuffle", &["epochs"]),
        ("epochs --epsilon 1 --steps 9 --noise-multiplier 1 --epochs 2", &["--epochs"]),
        ("epochs --epsilon 1 --steps 9 --noise-multiplier 0", &["--noise-multiplier"]),
        ("epochs --epsilon 2 --steps 9 --noise-multiplier 1", &["no epochs", "--epsilon"]),
        ("epochs --epsilon 2 --noise-multiplier 1 --sampling-rate 0.1", &["--steps"]),
        (
            "epochs --epsilon 2 --noise-multiplier 0.1 --steps 9 --sampler balls-in-bins",
            &["no epochs"],
        ),
        ("epochs --epsilon 4 --noise-multiplier 1 --sampler shuffle", &["--noise-multiplier"]),
        ("clip --epsilon 4", &["clip"]),
    ] {
        dpscope(&format!("calibrate {words}")).refuses(2, parts);
    }
}

#[test]
fn bad_tables_are_rejected_with_the_line() {
    let folder = Folder::new();
    folder.write("t.csv", "sigma,T\n1,100\n0,100\n");
    folder.run("sweep t.csv").refuses(2, &["t.csv", "line 3", "noise_multiplier is 0"]);
    folder.write("t.csv", [0xff, 0xfe, 0x00]);
    folder.run("sweep t.csv").refuses(2, &["t.csv", "UTF-8"]);
    folder.write("t.csv", "x".repeat((4 << 20) + 1));
    folder.run("sweep t.csv").refuses(2, &["t.csv", "limit"]);
    folder.run("sweep absent.csv").refuses(2, &["absent.csv"]);
    folder.run("sweep .").refuses(2, &["directory"]);
    folder.write("t.csv", "sigma,T\n1,100\n");
    folder.run("sweep t.csv --csv no/such").refuses(2, &["no/such"]);
}
