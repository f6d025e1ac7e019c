//! The calculators: `bound`, `compare`, `calibrate`, `plan`, `check`.

use crate::documents;
use crate::record::Case;

/// Noise multiplier, steps per epoch, epochs, δ.
const SETTINGS: [(&str, u32, u32, &str); 9] = [
    ("1", 100, 1, "1e-5"),
    ("0.5", 1000, 1, "1e-6"),
    ("0.7", 20, 5, "1e-5"),
    ("2", 50, 10, "1e-5"),
    ("0.4", 10, 1, "1e-3"),
    ("5", 100, 1, "1e-5"),
    ("20", 10_000, 3, "1e-7"),
    ("1", 1, 1, "1e-5"),
    ("0.3", 2, 2, "1e-2"),
];

/// Every subject, side and method of `bound`.
pub(crate) fn bounds() -> Vec<Case> {
    let mut cases = Vec::new();
    for (sigma, steps, epochs, delta) in SETTINGS {
        let run = format!("--noise-multiplier {sigma} --steps {steps} --epochs {epochs}");
        let mut add = |subject: &str, side: &str, rest: &str| {
            let seed = if subject == "pair" { " --seed 3 --observations 2000" } else { "" };
            cases.push(Case {
                id: plain(&format!(
                    "{subject}, {side}, sigma {sigma}, {steps} steps, {epochs} epochs{rest}"
                )),
                arguments: format!("bound {subject} --side {side} {run}{rest}{seed}"),
                values: documents::bound,
            });
        };
        let at_delta = format!(" --delta {delta}");
        for side in ["upper", "lower"] {
            for subject in ["poisson", "balls-in-bins"] {
                for direction in ["remove", "add", "both"] {
                    add(subject, side, &format!("{at_delta} --direction {direction}"));
                }
                add(subject, side, " --epsilon 1.5");
            }
            add("deterministic", side, &at_delta);
            add("deterministic", side, " --epsilon 1.5");
            for subject in ["shuffle", "persistent-shuffle"] {
                for method in ["max-slice", "sum", "best"] {
                    add(subject, side, &format!("{at_delta} --method {method}"));
                }
                add(subject, side, " --epsilon 1.5");
            }
        }
        add("poisson", "upper", &format!("{at_delta} --sampling-rate 0.05"));
        add("pair", "estimate", &at_delta);
    }
    cases
}

/// `compare`, `calibrate`, `plan` and `check`.
pub(crate) fn calculators() -> Vec<Case> {
    let mut cases = comparisons();
    cases.extend(calibrations());
    for (id, settings) in [
        ("target", "--epsilon 9 --delta 1e-6"),
        ("target, split", "--epsilon 4 --threshold-rule split --significance 0.01"),
        ("simulation", "--noise-multiplier 1 --steps 10 --observations 1e5 --seed 3"),
        (
            "simulation, Poisson",
            "--noise-multiplier 0.5 --steps 4 --observations 1e4 --seed 3 --sampler poisson",
        ),
    ] {
        let arguments = format!("plan {settings}");
        cases.push(Case { id: format!("plan, {id}"), arguments, values: documents::plan });
    }
    for loader in ["poisson", "shuffle", "persistent-shuffle", "balls-in-bins", "deterministic"] {
        let set_up = "--dataset-size 10000 --batch-size 100 --epochs 2 --noise-multiplier 0.8";
        cases.push(Case {
            id: format!("check, {loader}"),
            arguments: format!("check {set_up} --loader {loader} --claim 2 --delta 1e-5"),
            values: documents::training_check,
        });
    }
    cases
}

fn comparisons() -> Vec<Case> {
    let mut cases = Vec::new();
    for (sigma, steps, epochs, delta) in SETTINGS {
        let audits: &[&str] = if steps == 20 { &["", " --observations 20000"] } else { &[""] };
        for audit in audits {
            let run = format!("--noise-multiplier {sigma} --steps {steps} --epochs {epochs}");
            cases.push(Case {
                id: plain(&format!(
                    "compare, sigma {sigma}, {steps} steps, {epochs} epochs{audit}"
                )),
                arguments: format!("compare {run} --delta {delta} --seed 3{audit}"),
                values: documents::comparison,
            });
        }
    }
    cases
}

fn calibrations() -> Vec<Case> {
    let samplers = [
        "poisson",
        "shuffle",
        "persistent-shuffle",
        "balls-in-bins",
        "deterministic",
        "partial-shuffle",
        "sliding-buffer",
        "batch-then-shuffle",
    ];
    let mut settings = Vec::new();
    for sampler in samplers {
        for epsilon in ["0.5", "4"] {
            let noise = format!("noise --epsilon {epsilon} --steps 50 --epochs 2");
            settings.push(format!("{noise} --sampler {sampler}"));
        }
        let epochs = "epochs --epsilon 12 --steps 50 --noise-multiplier 1";
        settings.push(format!("{epochs} --sampler {sampler}"));
    }
    settings.push("steps --epsilon 4 --steps 100 --noise-multiplier 1".into());
    settings
        .push("steps --epsilon 3 --sampling-rate 0.02 --noise-multiplier 0.8 --delta 1e-6".into());
    settings.push("noise --epsilon 2 --steps 100 --sampling-rate 0.05 --delta 1e-6".into());
    let case = |settings: String| Case {
        id: plain(&format!("calibrate {settings}")),
        arguments: format!("calibrate {settings}"),
        values: documents::calibration,
    };
    settings.into_iter().map(case).collect()
}

/// A name that contains no flag, so that a renamed flag changes none.
fn plain(words: &str) -> String {
    words.replace(" --", ", ")
}
