//! The table of benches: what we run, which peer runs beside it, and the figure that both print.

/// A program that ends with one JSON line holding the figure.
pub(super) enum Program {
    /// An example of one of our packages, built with optimisation.
    Example {
        package: &'static str,
        /// Where its `examples` lie; where one is missing, the row is skipped.
        folder: &'static str,
        name: &'static str,
        arguments: &'static [&'static str],
    },
    /// A Python script, run with exactly the versions that its header pins.
    Python { script: &'static str, arguments: &'static [&'static str] },
}

/// One line of the table.
pub(super) struct Row {
    pub(super) name: &'static str,
    pub(super) ours: Program,
    pub(super) peer: Program,
    /// Key of the figure in both JSON lines; more is better.
    pub(super) figure: &'static str,
}

const fn throughput(arguments: &'static [&'static str]) -> Program {
    Program::Example {
        package: "dpscope-shaders",
        folder: "shaders",
        name: "throughput",
        arguments,
    }
}

const fn numpy(arguments: &'static [&'static str]) -> Program {
    Program::Python { script: "shaders/benches/peer_numpy.py", arguments }
}

const fn core_example(name: &'static str) -> Program {
    Program::Example { package: "dpscope-core", folder: "crates/core", name, arguments: &[] }
}

/// One accountant against its peer in Python.
const fn accountant(name: &'static str, arguments: &'static [&'static str]) -> Row {
    Row {
        name,
        ours: Program::Example {
            package: "dpscope-core",
            folder: "crates/core",
            name: "accountant_rates",
            arguments,
        },
        peer: Program::Python { script: "crates/core/benches/peer_accountants.py", arguments },
        figure: "evaluations_per_cpu_second",
    }
}

/// A procedure of audits of one run against the same one in Python.
const fn one_run(name: &'static str, arguments: &'static [&'static str]) -> Row {
    Row {
        name,
        ours: Program::Example {
            package: "dpscope-core",
            folder: "crates/core",
            name: "one_run_speed",
            arguments,
        },
        peer: Program::Python { script: "crates/core/benches/peer_one_run.py", arguments },
        figure: "audits_per_cpu_second",
    }
}

/// A part of one-shot audits against the same one in numpy and scipy.
const fn one_shot(name: &'static str, arguments: &'static [&'static str]) -> Row {
    Row {
        name,
        ours: Program::Example {
            package: "dpscope-simulation",
            folder: "crates/simulation",
            name: "one_shot_speed",
            arguments,
        },
        peer: Program::Python { script: "crates/simulation/benches/peer_one_shot.py", arguments },
        figure: "audits_per_cpu_second",
    }
}

/// Runs of PATE-GAN against the same networks in numpy, many runs at once.
const fn pategan(name: &'static str, arguments: &'static [&'static str]) -> Row {
    Row {
        name,
        ours: Program::Example {
            package: "dpscope-synth",
            folder: "crates/synth",
            name: "pategan_speed",
            arguments,
        },
        peer: Program::Python { script: "crates/synth/benches/peer_pategan.py", arguments },
        figure: "runs_per_cpu_second",
    }
}

/// One metagradient of a model against reverse-mode differentiation in jax.
const fn metagradient(name: &'static str, arguments: &'static [&'static str]) -> Row {
    Row {
        name,
        ours: Program::Example {
            package: "dpscope-train",
            folder: "crates/train",
            name: "metastep",
            arguments,
        },
        peer: Program::Python {
            script: "crates/train/benches/peers/peer_metagradient.py",
            arguments,
        },
        figure: "metagradients_per_cpu_second",
    }
}

const fn script(script: &'static str) -> Program {
    Program::Python { script, arguments: &[] }
}

/// One thread each; the figure counts CPU seconds, or is the best of many times, so that other work on
/// the machine disturbs less.
pub(super) const ROWS: [Row; 34] = [
    Row {
        name: "scores, 100 steps, best instruction set",
        ours: throughput(&["--entries", "100"]),
        peer: numpy(&["--entries", "100"]),
        figure: "normals_per_cpu_second",
    },
    Row {
        name: "scores, 100 steps, AVX2",
        ours: throughput(&["--isa", "avx2", "--entries", "100"]),
        peer: numpy(&["--entries", "100"]),
        figure: "normals_per_cpu_second",
    },
    Row {
        name: "scores, 1000 steps, best instruction set",
        ours: throughput(&["--entries", "1000"]),
        peer: numpy(&["--entries", "1000"]),
        figure: "normals_per_cpu_second",
    },
    Row {
        name: "Clopper-Pearson limits, at most 20 events",
        ours: core_example("interval_speed"),
        peer: script("crates/core/benches/peer_limits.py"),
        figure: "limits_per_cpu_second",
    },
    Row {
        name: "ten million scores to epsilon",
        ours: core_example("scores_speed"),
        peer: script("crates/core/benches/peer_scores.py"),
        figure: "scores_per_cpu_second",
    },
    Row {
        name: "trade-off of 131072 bins to epsilon",
        ours: core_example("histogram_speed"),
        peer: script("crates/core/benches/peer_histogram.py"),
        figure: "bins_per_cpu_second",
    },
    accountant("Poisson epsilon, 100 steps", &["poisson", "1", "100", "1"]),
    accountant("Poisson epsilon, 10 epochs of 1000 steps", &["poisson", "1", "1000", "10"]),
    accountant("Poisson epsilon, 509 epochs of 440 steps", &["poisson", "1", "440", "509"]),
    accountant("noise for epsilon 2, 10 epochs of 1000 steps", &["calibration", "1", "1000", "10"]),
    accountant("fixed-size epsilon, 100 steps", &["fixed-size", "1", "100", "1"]),
    accountant("fixed-size epsilon, 10 epochs of 1000 steps", &["fixed-size", "2", "1000", "10"]),
    accountant("truncated batches epsilon, 100 steps", &["truncated", "1", "100", "1"]),
    accountant(
        "truncated batches epsilon, 10 epochs of 1000 steps",
        &["truncated", "1", "1000", "10"],
    ),
    accountant("shuffle lower bound, one epoch", &["shuffle", "1", "100", "1"]),
    accountant("shuffle lower bound, 30 epochs", &["shuffle", "0.82", "254", "30"]),
    Row {
        name: "limit of the shuffled pair, 40000 draws",
        ours: Program::Example {
            package: "dpscope-simulation",
            folder: "crates/simulation",
            name: "pair_speed",
            arguments: &["--noise-multiplier", "1", "--steps", "100", "--draws", "40000"],
        },
        peer: Program::Python {
            script: "crates/core/benches/peer_accountants.py",
            arguments: &["pair", "1", "100", "1"],
        },
        figure: "evaluations_per_cpu_second",
    },
    one_run("one run: count epsilon, a million canaries", &["count"]),
    one_run("one run: Gaussian mu, 1000 guesses", &["gaussian"]),
    one_run("one run: walk, 1000 canaries", &["walk"]),
    one_run("one run: walk, 100000 canaries", &["long-walk"]),
    one_run("one run: a million scores to epsilon", &["scores"]),
    Row {
        name: "one run: count epsilon, jax_privacy",
        ours: Program::Example {
            package: "dpscope-core",
            folder: "crates/core",
            name: "one_run_speed",
            arguments: &["explicit-cut"],
        },
        peer: script("crates/core/benches/peer_jax_privacy.py"),
        figure: "audits_per_cpu_second",
    },
    one_shot("one shot: cosines of 3162 canaries, drawn", &["trial"]),
    one_shot("one shot: a million cosines to all bounds", &["cosines"]),
    one_shot("one shot: a direction of ten million entries", &["directions"]),
    one_shot("one shot: a direction of ten million entries, AVX2", &["directions", "avx2"]),
    Row {
        name: "one shot: federated training of an MLP, 200 canaries",
        ours: Program::Example {
            package: "dpscope-train",
            folder: "crates/train",
            name: "fedavg_speed",
            arguments: &[],
        },
        peer: script("crates/train/benches/peers/peer_fedavg.py"),
        figure: "audits_per_cpu_second",
    },
    Row {
        name: "sum of clipped gradients, MLP, a batch of 100",
        ours: Program::Example {
            package: "dpscope-train",
            folder: "crates/train",
            name: "step_speed",
            arguments: &[],
        },
        peer: script("crates/train/benches/peers/peer_numpy.py"),
        figure: "steps_per_second",
    },
    metagradient("metagradient: MLP, 150 steps of 150, binary records", &["mlp"]),
    metagradient("metagradient: MLP, 150 steps of 150, dense records", &["mlp-dense"]),
    metagradient("metagradient: LeNet, 500 steps of 100", &["lenet"]),
    pategan("pategan: worst case", &["worst"]),
    pategan("pategan: 686 rows of 29 columns, 5 teachers", &["average"]),
];

#[cfg(test)]
mod tests {
    use super::{Program, ROWS};
    use crate::process::root;
    use crate::python::pins_of;

    #[test]
    fn every_program_is_in_the_tree_and_every_script_pins_its_versions() {
        for program in ROWS.iter().flat_map(|row| [&row.ours, &row.peer]) {
            match program {
                Program::Example { folder, name, .. } => {
                    let source = root().join(format!("{folder}/examples/{name}.rs"));
                    assert!(source.is_file(), "{}", source.display());
                }
                Program::Python { script, .. } => {
                    assert!(!pins_of(&root().join(script)).unwrap().is_empty(), "{script}");
                }
            }
        }
    }

    #[test]
    fn row_names_are_unique() {
        let mut names: Vec<&str> = ROWS.iter().map(|row| row.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), ROWS.len());
    }
}
