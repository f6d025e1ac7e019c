//! The table of benches: what we run, which peer runs beside it, and the figure that both print.

/// A program that ends with one JSON line holding the figure.
pub(super) enum Program {
    /// An example of one of our packages, built with optimisation.
    Example {
        package: &'static str,
        /// Its source; where it is missing, the row is skipped.
        source: &'static str,
        name: &'static str,
        arguments: &'static [&'static str],
    },
    /// A Python script, run with exactly the versions that its header pins, or with `pins` where
    /// the header pins none.
    Python {
        script: &'static str,
        pins: &'static [&'static str],
        arguments: &'static [&'static str],
    },
}

/// One line of the table.
pub(super) struct Row {
    pub(super) name: &'static str,
    pub(super) ours: Program,
    pub(super) peer: Program,
    /// Key of the figure in both JSON lines; more is better.
    pub(super) figure: &'static str,
}

/// `{seconds}` in an argument is replaced by the value of `--seconds`.
pub(super) const SECONDS: &str = "{seconds}";

const NUMPY: &[&str] = &["numpy==2.3.5"];

const fn throughput(arguments: &'static [&'static str]) -> Program {
    Program::Example {
        package: "dpscope-shaders",
        source: "shaders/examples/throughput.rs",
        name: "throughput",
        arguments,
    }
}

const fn numpy(arguments: &'static [&'static str]) -> Program {
    Program::Python { script: "shaders/benches/peer_numpy.py", pins: NUMPY, arguments }
}

/// One thread each; the figure counts CPU seconds, so that other work on the machine disturbs less.
pub(super) const ROWS: [Row; 4] = [
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
        name: "Clopper-Pearson limits",
        ours: Program::Example {
            package: "dpscope-core",
            source: "crates/core/examples/interval_speed.rs",
            name: "interval_speed",
            arguments: &[],
        },
        peer: Program::Python {
            script: "crates/core/benches/peer_scipy.py",
            pins: &["scipy==1.16.3"],
            arguments: &[],
        },
        figure: "limits_per_cpu_second",
    },
];

#[cfg(test)]
mod tests {
    use super::ROWS;

    #[test]
    fn names_of_rows_differ() {
        let mut names: Vec<&str> = ROWS.iter().map(|row| row.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), ROWS.len());
    }
}
