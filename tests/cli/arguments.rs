//! Values outside their domain are rejected with name, value and domain.

use dpscope_core::mechanism::{SamplerKind, ThreatModel};

use crate::trainer::npy_f8;
use crate::{Folder, dpscope};

/// A valid simulation with one option replaced or added.
fn with(option: &str, value: &str) -> String {
    let mut options = vec![
        ("--noise-multiplier", "1"),
        ("--steps", "10"),
        ("--observations", "1000"),
        ("--seed", "7"),
    ];
    options.retain(|known| known.0 != option);
    options.push((option, value));
    let options: Vec<String> =
        options.iter().map(|(name, value)| format!("{name} {value}")).collect();
    format!("audit bgm {}", options.join(" "))
}

#[test]
fn values_outside_their_domain_are_rejected() {
    for (option, values, parts) in [
        (
            "--noise-multiplier",
            &["0", "-1", "0.1", "21", "nan", "inf"][..],
            &["--noise-multiplier = ", "[0.2, 20]"][..],
        ),
        ("--steps", &["0"], &["--steps is 0", "1 to 2^53"]),
        ("--steps", &["100001"], &["--steps = ", "1..=100000"]),
        ("--epochs", &["0"], &["0", "above 0"]),
        ("--epochs", &["1001"], &["--epochs = ", "1..=1000"]),
        ("--observations", &["0", "1", "999"], &["observations", "even"]),
        ("--delta", &["0"], &["--delta is 0", "Gaussian noise has no finite epsilon"]),
        ("--delta", &["1", "-1", "2", "nan", "inf"], &["--delta", "0 (pure DP) or more"]),
        ("--significance", &["0", "1", "-0.05", "nan"], &["--significance", "between 0 and 1"]),
        ("--significance", &["0.5"], &["--significance", "below 0.5"]),
        ("--significance", &["0.51", "0.95"], &["--significance", "pass --confidence"]),
        ("--confidence", &["5%", "50%", "100%", "95", "nan"], &["--confidence", "such as 95%"]),
        ("--seed", &["9007199254740992"], &["--seed", "9007199254740992", "below 2^53"]),
        ("--claim", &["-1", "nan", "inf", "1e400"], &["--claim", "a finite number >= 0"]),
        ("--fail-above", &["-1", "nan", "inf", "1e400"], &["--fail-above", "a finite number >= 0"]),
        ("--batch-size", &["0"], &["--batch-size", "at least one"]),
        ("--threads", &["0", "1025", "-1"], &["--threads", "1..=1024"]),
        ("--float-mode", &["double", "Exact", ""], &["--float-mode", "fast, exact"]),
    ] {
        for value in values {
            dpscope(&with(option, value)).refuses(2, parts);
        }
    }
}

#[test]
fn all_commands_reject_the_same_values() {
    for command in [
        "audit counts --false-positives 1 --zero-out-trials 9 --false-negatives 4 --target-trials 9",
        "audit scores --target absent --zero-out absent",
        "audit outputs --target absent --zero-out absent --noise-multiplier 1",
        "plan --epsilon 1",
    ] {
        for value in ["0", "1", "-1", "nan"] {
            let refused = dpscope(&format!("{command} --significance {value}"));
            refused.refuses(2, &["--significance", value, "strictly between 0 and 1"]);
        }
        for value in ["1", "-1", "nan"] {
            let refused = dpscope(&format!("{command} --delta {value}"));
            refused.refuses(2, &["--delta", value, "0 (pure DP) or more, and below 1"]);
        }
        if !command.contains("counts") {
            let refused = dpscope(&format!("{command} --seed 9007199254740992"));
            refused.refuses(2, &["--seed", "below 2^53"]);
        }
        if command.contains("audit") {
            dpscope(&format!("{command} --claim -1")).refuses(2, &["--claim", "`-1`"]);
            dpscope(&format!("{command} --fail-above nan")).refuses(2, &["--fail-above", "`nan`"]);
        }
    }
}

/// A message names the option that was passed, with the value that it had.
#[test]
fn messages_name_the_options_that_were_passed() {
    let folder = crate::Folder::new();
    let allocation = "bound random-allocation --noise-multiplier 1";
    for (words, parts) in [
        ("audit fedavg --noise-multiplier 1 --design poisson:0", vec!["--design: canaries"]),
        (
            "audit gaussian --noise-multiplier 1 --dimension 1e3 --design poisson:0",
            vec!["--design: "],
        ),
        ("plan federated --design poisson:0", vec!["--design: canaries"]),
        ("plan generator --claim 700", vec!["--claim: ", "701"]),
        (
            &*format!("{allocation} --steps 1e9 --uses-per-epoch 7"),
            vec!["--steps is 1000000000", "7 uses per epoch"],
        ),
        (
            &*format!("{allocation} --steps 1e6 --epochs 1000 --uses-per-epoch 500000"),
            vec!["--epochs is 1000;", "500000 uses per epoch"],
        ),
        ("audit pategan --delta 0", vec!["delta is 0", "no finite epsilon is proven"]),
    ] {
        let refused = folder.run(words).refuses(2, &parts);
        for wrong in ["--canaries", "--epsilon is", "Gaussian"] {
            assert!(!refused.stderr.contains(wrong), "{words}: {}", refused.stderr);
        }
    }
}

#[test]
fn options_that_would_be_ignored_are_rejected() {
    let folder = crate::Folder::new();
    folder.write("s.csv", "1\n2\n3\n4\n5\n6\n");
    folder.write("c.csv", "1\n0\n1\n0\n1\n0\n");
    let poisson = "bound poisson --noise-multiplier 1 --steps 100";
    let counts = "audit one-run --canaries 1000 --guesses 100 --correct 95";
    for (words, option) in [
        ("audit one-run --scores s.csv --coins c.csv --seed absent", "--seed"),
        (&*format!("{counts} --seed absent"), "--seed"),
        (&*format!("{counts} --direction lower"), "--direction"),
        (&*format!("{counts} --noise-multiplier 1 --steps 9 --batch-size 3"), "--batch-size"),
        (&*format!("{poisson} --batch-size 3"), "--batch-size"),
        (&*format!("{poisson} --device gpu"), "--device"),
        (&*format!("{poisson} --float-mode exact"), "--float-mode"),
    ] {
        folder.run(words).refuses(2, &[option]);
    }
    // the environment is of all commands
    folder.run(poisson).exits(0);
}

#[test]
fn malformed_numbers_are_rejected() {
    for (option, values) in [
        ("--noise-multiplier", &["one", "1,5", "0x1"][..]),
        ("--steps", &["ten", "1.5", "-1", "1e30", "4294967296"]),
        ("--epochs", &["two", "-1"]),
        ("--observations", &["1.5", "-2", "1e30", "nan", "1e", "9007199254740994"]),
        ("--delta", &["1e", "1e-5x"]),
        ("--seed", &["-1", "1.5", "18446744073709551616", "seven"]),
        ("--buffer-examples", &["-1", "0.5"]),
        ("--batch-size", &["-1", "4294967296"]),
        ("--sampler", &["Shuffle", "random"]),
        ("--threat-model", &["worst_case"]),
        ("--threshold-rule", &["best", "fixed"]),
    ] {
        for value in values {
            dpscope(&with(option, value)).refuses(2, &[option, value]);
        }
    }
}

#[test]
fn undefined_threat_models_are_rejected() {
    let mut refused = 0;
    for sampler in SamplerKind::ALL {
        let more = match (sampler.has_buffer(), sampler.needs_batch_size()) {
            _ if sampler == SamplerKind::TruncatedPoisson => " --max-batch-size 6",
            (true, _) => " --buffer-examples 6 --batch-size 4",
            (_, true) => " --batch-size 4",
            _ => "",
        };
        for threat_model in ThreatModel::ALL {
            let words = with("--sampler", sampler.name());
            let words = match sampler {
                SamplerKind::TruncatedPoisson => {
                    words.replace("--steps 10", "--dataset-size 40 --batch-size 4")
                }
                _ => words,
            };
            let ended = dpscope(&format!("{words} --threat-model {threat_model}{more}"));
            if sampler.is_defined(threat_model) {
                ended.exits(0);
            } else {
                let advice = format!("use {}", sampler.default_threat_model());
                ended.refuses(2, &[sampler.name(), threat_model.name(), &advice]);
                refused += 1;
            }
        }
    }
    assert_eq!(refused, 10);
}

#[test]
fn uses_per_epoch_are_those_of_random_allocation() {
    let allocated = with("--sampler", "random-allocation");
    for uses in [1, 3, 10] {
        dpscope(&format!("{allocated} --uses-per-epoch {uses}")).exits(0);
    }
    for uses in ["0", "11"] {
        let refused = dpscope(&format!("{allocated} --uses-per-epoch {uses}"));
        refused.refuses(2, &[&format!("--uses-per-epoch = {uses}"), "1..=10"]);
    }
    dpscope(&format!("{allocated} --uses-per-epoch 1.5")).refuses(2, &["--uses-per-epoch", "1.5"]);
    let unused = dpscope(&format!("{} --uses-per-epoch 2", with("--sampler", "fixed-size")));
    unused.refuses(2, &["--uses-per-epoch = 2", "fixed-size", "random-allocation"]);
}

#[test]
fn buffers_larger_than_the_data_are_rejected() {
    for sampler in ["partial-shuffle", "sliding-buffer"] {
        let words = with("--sampler", sampler);
        dpscope(&words).refuses(2, &["--buffer-examples is missing", sampler]);
        dpscope(&format!("{words} --buffer-examples 4")).refuses(2, &["--batch-size is missing"]);
        for buffer in [0, 41] {
            let refused = dpscope(&format!("{words} --batch-size 4 --buffer-examples {buffer}"));
            refused.refuses(2, &[&format!("--buffer-examples = {buffer}"), "1..=40"]);
        }
        for buffer in [1, 40] {
            dpscope(&format!("{words} --batch-size 4 --buffer-examples {buffer}")).exits(0);
        }
    }
    dpscope(&with("--sampler", "batch-then-shuffle")).refuses(2, &["--batch-size is missing"]);
    let unused = dpscope(&format!("{} --buffer-examples 4", with("--sampler", "shuffle")));
    unused.refuses(2, &["--buffer-examples = 4", "leave it out"]);
}

#[test]
fn unknown_commands_are_rejected() {
    for (words, part) in [
        ("audit", "Usage"),
        ("audit everything", "everything"),
        ("prove", "prove"),
        ("reproduce figure-8", "figure-3"),
        ("reproduce figure-3 --observations 3", "even"),
        ("completions cobol", "bash"),
    ] {
        let ended = dpscope(words).exits(2);
        assert!(ended.stderr.contains(part), "{words}: {}", ended.stderr);
    }
}

/// Whether text contains an unreadably long number.
fn has_long_number(text: &str) -> bool {
    text.split(|c: char| !c.is_ascii_digit() && c != '.').any(|number| number.len() > 22)
}

#[test]
fn extreme_numbers_are_printed_with_few_digits() {
    assert!(has_long_number(&format!("x {} y", 1e300)) && has_long_number(&1e-300.to_string()));
    assert!(!has_long_number("1.2345e300 and 0.3333333333333333"));
    let folder = Folder::new();
    for (name, value) in
        [("in", 1e300), ("out", -1e300), ("tiny-in", 1e-300), ("tiny-out", -1e-300)]
    {
        let scores: Vec<f64> = (1..=50).map(|i| value * f64::from(i)).collect();
        folder.write(&format!("{name}.npy"), npy_f8(&[50], &scores));
    }
    folder.write("s.csv", "sigma,T,delta\n1,10,1e-300\n");
    let trained = "audit dpsgd --batch-size 20 --records 200 --runs 4 --seed 7";
    for number in ["1e300", "1e-300"] {
        for words in [
            format!("{trained} --noise-multiplier 1 --clip-norm {number}"),
            format!("{trained} --noise-multiplier 1 --learning-rate {number}"),
            format!("{trained} --noise-multiplier 1 --fail-above {number}"),
            format!("{trained} --poisson-epsilon {number}"),
            format!("{trained} --noise-multiplier {number}"),
            format!(
                "audit scores --target in.npy --zero-out out.npy --claim {number} --plot p.svg"
            ),
            format!("audit scores --target tiny-in.npy --zero-out tiny-out.npy --claim {number}"),
            format!("audit outputs --target in.npy --zero-out out.npy --clip-norm {number}"),
            format!("plan --epsilon {number}"),
            format!("bound poisson --steps 10 --noise-multiplier {number}"),
            format!("bound poisson --steps 10 --noise-multiplier 1 --sampling-rate {number}"),
            format!("bound deterministic --steps 10 --noise-multiplier {number}"),
            format!("calibrate noise --steps 10 --epsilon {number}"),
            format!("calibrate noise --steps 10 --epsilon 1 --delta {number}"),
            format!("compare --steps 10 --noise-multiplier {number}"),
            format!("sweep s.csv --csv t-{number}.csv"),
        ] {
            let ended = folder.run(&words);
            assert!(matches!(ended.code, Some(0 | 2 | 3 | 6)), "{words}: {}", ended.stderr);
            let message = format!("{}{}", ended.stdout, ended.stderr);
            assert!(!message.is_empty() && !has_long_number(&message), "{words}: {message}");
        }
    }
    for name in folder.names().iter().filter(|name| name.ends_with(".svg") || name.contains("t-")) {
        let written = String::from_utf8(folder.read(name)).unwrap();
        assert!(!has_long_number(&written), "{name}: {written}");
    }
}
