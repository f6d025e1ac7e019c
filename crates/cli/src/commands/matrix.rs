//! Trainings with correlated noise: shared by `bound matrix` and `calibrate matrix`.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use dpscope_core::accounting::AccountingError;
use dpscope_core::accounting::matrix::{MatrixParticipation, MatrixStrategy, PrefixObjective};
use dpscope_core::format::given;
use dpscope_report::record::{MatrixNoise, MatrixReport, MatrixRequest, MatrixStrategyKind};

use super::audit::recorded::with_dataset;
use crate::args::{delta, number, small_count};
use crate::failure::{Failure, reject_unused_options};

#[derive(Debug, Args)]
pub(crate) struct MatrixArgs {
    /// Strategy matrix.
    #[arg(long, value_enum, required_unless_present = "strategy_file")]
    strategy: Option<StrategyArg>,
    /// File with a lower triangular strategy matrix, one row per step, in place of --strategy.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["strategy", "steps"])]
    strategy_file: Option<PathBuf>,
    /// Number of steps.
    #[arg(long, value_name = "T", value_parser = small_count, required_unless_present = "strategy_file")]
    steps: Option<u32>,
    /// Steps of a participant: single, epochs:E (E epochs in one order), shuffled:E (E epochs, any
    /// order), min-separation:B or min-separation:B,K (B steps apart, at most K times), or
    /// cyclic-poisson:B,Q (B groups take turns, members sampled with probability Q).
    #[arg(long, value_name = "PATTERN", value_parser = participation)]
    participation: MatrixParticipation,
    /// Number of bands of banded strategies [default: the smallest distance between two steps of a
    /// participant, at most 64].
    #[arg(long, value_name = "N", value_parser = small_count)]
    bands: Option<u32>,
    /// Number of buffers of blt, whose parameters are optimised [default: 3].
    #[arg(long, value_name = "N", value_parser = small_count, conflicts_with_all = ["buffer_decay", "output_scale"])]
    buffers: Option<u32>,
    /// Decays of the buffers of blt, instead of optimised ones.
    #[arg(long, value_name = "X,…", value_delimiter = ',', value_parser = number, requires = "output_scale")]
    buffer_decay: Vec<f64>,
    /// Output scales of the buffers of blt.
    #[arg(long, value_name = "X,…", value_delimiter = ',', value_parser = number, requires = "buffer_decay")]
    output_scale: Vec<f64>,
    /// Error that banded-optimised and blt minimise [default: mean].
    #[arg(long, value_enum)]
    objective: Option<PrefixObjective>,
    /// Also account for the participant in these steps, counted from 1.
    #[arg(long, value_name = "N,…", value_delimiter = ',', value_parser = small_count)]
    participant_steps: Vec<u32>,
    /// Delta at which epsilon is bounded.
    #[arg(long, default_value = "1e-5", value_parser = delta)]
    delta: f64,
    /// Print one JSON document on stdout.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum StrategyArg {
    /// Independent noise.
    Identity,
    /// Tree aggregation without restarts.
    Tree,
    /// Bands of the square root of the matrix of prefix sums.
    BandedSquareRoot,
    /// Bands that minimise the error of prefix sums.
    BandedOptimised,
    /// Buffered linear Toeplitz matrix.
    Blt,
    /// A table of all of them.
    All,
}

impl StrategyArg {
    fn kinds(self) -> &'static [MatrixStrategyKind] {
        use MatrixStrategyKind::{BandedOptimised, BandedSquareRoot, Blt, Identity, Tree};
        match self {
            StrategyArg::Identity => &[Identity],
            StrategyArg::Tree => &[Tree],
            StrategyArg::BandedSquareRoot => &[BandedSquareRoot],
            StrategyArg::BandedOptimised => &[BandedOptimised],
            StrategyArg::Blt => &[Blt],
            StrategyArg::All => &MatrixStrategyKind::BUILT,
        }
    }
}

impl MatrixArgs {
    /// The document at a noise multiplier or for a target.
    pub(crate) fn report(&self, noise: MatrixNoise) -> Result<MatrixReport, Failure> {
        if self.delta == 0.0 {
            let problem = "--delta 0: Gaussian noise has no finite epsilon; pass a delta above 0";
            return Err(Failure::input(problem));
        }
        self.check_unused()?;
        let request = self.request(noise);
        let (steps, strategies) = match (&self.strategy_file, self.strategy, self.steps) {
            (Some(path), ..) => {
                let strategy = read(path)?;
                let steps = strategy.steps() as u32;
                self.check_steps(steps)?;
                let record = request.record(MatrixStrategyKind::File, &strategy);
                (steps, vec![record.map_err(name_options)?])
            }
            (None, Some(StrategyArg::All), Some(steps)) => {
                self.check_steps(steps)?;
                (steps, request.compared(steps).map_err(name_options)?)
            }
            (None, Some(one), Some(steps)) => {
                self.check_steps(steps)?;
                let of = |kind: &MatrixStrategyKind| request.built(*kind, steps);
                let records: Result<Vec<_>, _> = one.kinds().iter().map(of).collect();
                (steps, records.map_err(name_options)?)
            }
            _ => return Err(Failure::input("pass --strategy and --steps, or --strategy-file")),
        };
        Ok(request.report(steps, strategies))
    }

    fn request(&self, noise: MatrixNoise) -> MatrixRequest {
        let is_given = !self.buffer_decay.is_empty();
        MatrixRequest {
            participation: self.participation,
            delta: self.delta,
            noise,
            bands: self.bands,
            buffers: self.buffers,
            given_buffers: is_given.then(|| (self.buffer_decay.clone(), self.output_scale.clone())),
            objective: self.objective,
            participant_steps: self.named(),
        }
    }

    /// The steps that were named, counted from 0.
    fn named(&self) -> Vec<u32> {
        self.participant_steps.iter().map(|step| step.saturating_sub(1)).collect()
    }

    fn check_steps(&self, steps: u32) -> Result<(), Failure> {
        self.participation.check(steps).map_err(name_options)?;
        if let Some(step) = self.participant_steps.iter().find(|step| !(1..=steps).contains(*step))
        {
            return Err(Failure::input(format!(
                "--participant-steps names step {step}; steps are counted from 1 to {steps}"
            )));
        }
        if self.participant_steps.is_empty() || self.participation.allows(&self.named(), steps) {
            return Ok(());
        }
        Err(Failure::input(
            "--participant-steps names steps that no participant of --participation has; name some of \
             one participant, in ascending order",
        ))
    }

    fn check_unused(&self) -> Result<(), Failure> {
        let is_one_of = |all: &[StrategyArg]| self.strategy.is_some_and(|own| all.contains(&own));
        let unless = |all: &[StrategyArg], is_present: bool| !is_one_of(all) && is_present;
        let (root, optimised) = (StrategyArg::BandedSquareRoot, StrategyArg::BandedOptimised);
        let (blt, all) = (StrategyArg::Blt, StrategyArg::All);
        let is_given = !self.buffer_decay.is_empty();
        let unused = [
            ("--bands", unless(&[root, optimised, all], self.bands.is_some())),
            ("--buffers", unless(&[blt, all], self.buffers.is_some())),
            ("--buffer-decay", unless(&[blt, all], is_given)),
            ("--objective", unless(&[optimised, blt, all], self.objective.is_some())),
        ];
        reject_unused_options(&unused, "with this strategy")?;
        let is_fixed = is_given && is_one_of(&[blt]) && self.objective.is_some();
        reject_unused_options(&[("--objective", is_fixed)], "with --buffer-decay")?;
        let is_sampled = matches!(self.participation, MatrixParticipation::CyclicPoisson { .. });
        let unused = [("--participant-steps", is_sampled && !self.participant_steps.is_empty())];
        reject_unused_options(&unused, "with sampled steps")
    }
}

/// Names the option of the participation.
fn name_options(error: AccountingError) -> Failure {
    match error {
        AccountingError::Argument {
            name: name @ ("epochs" | "separation" | "participations" | "groups" | "sampling_rate"),
            value,
            allowed,
        } => Failure::input(format!(
            "--participation: {} is {}; it must be {allowed}",
            name.replace('_', " "),
            given(value)
        )),
        AccountingError::Argument { name: "coefficients", .. } => Failure::input(error),
        error => error.into(),
    }
}

/// A strategy from a file with one array.
fn read(path: &Path) -> Result<MatrixStrategy, Failure> {
    let about = |error| Failure::from(error).about(path);
    let array = with_dataset(path, |dataset| dataset.into_only().map_err(about))?;
    let (shape, entries) = array.into_parts();
    let rows = match shape[..] {
        [rows, columns] if rows == columns => rows,
        [1] => 1,
        _ => {
            let shape: Vec<String> = shape.iter().map(usize::to_string).collect();
            let problem = format!(
                "has the shape {}; expected a square matrix, one row and one column per step",
                shape.join(" × ")
            );
            return Err(Failure::input(problem).about(path));
        }
    };
    MatrixStrategy::lower_triangular(rows, &entries)
        .map_err(|error| Failure::input(error).about(path))
}

/// `single`, `epochs:10`, `shuffled:10`, `min-separation:100,5` or `cyclic-poisson:16,0.1`.
fn participation(text: &str) -> Result<MatrixParticipation, String> {
    let (kind, values) = text.split_once(':').unwrap_or((text, ""));
    let values: Vec<&str> =
        if values.is_empty() { Vec::new() } else { values.split(',').collect() };
    Ok(match (kind, &values[..]) {
        ("single", []) => MatrixParticipation::Single,
        ("epochs", [epochs]) => MatrixParticipation::Epochs { epochs: small_count(epochs)? },
        ("shuffled", [epochs]) => MatrixParticipation::Shuffled { epochs: small_count(epochs)? },
        ("min-separation", [separation]) => MatrixParticipation::MinSeparation {
            separation: small_count(separation)?,
            participations: None,
        },
        ("min-separation", [separation, most]) => MatrixParticipation::MinSeparation {
            separation: small_count(separation)?,
            participations: Some(small_count(most)?),
        },
        ("cyclic-poisson", [groups, rate]) => MatrixParticipation::CyclicPoisson {
            groups: small_count(groups)?,
            sampling_rate: number(rate)?,
        },
        _ => {
            return Err(format!(
                "`{text}` is not single, epochs:E, shuffled:E, min-separation:B, min-separation:B,K \
                 or cyclic-poisson:B,Q"
            ));
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn participations_are_parsed() {
        let separation = 100;
        for (text, expected) in [
            ("single", MatrixParticipation::Single),
            ("epochs:3", MatrixParticipation::Epochs { epochs: 3 }),
            ("shuffled:3", MatrixParticipation::Shuffled { epochs: 3 }),
            (
                "min-separation:100",
                MatrixParticipation::MinSeparation { separation, participations: None },
            ),
            (
                "min-separation:1e2,5",
                MatrixParticipation::MinSeparation { separation, participations: Some(5) },
            ),
            (
                "cyclic-poisson:16,0.1",
                MatrixParticipation::CyclicPoisson { groups: 16, sampling_rate: 0.1 },
            ),
        ] {
            assert_eq!(participation(text), Ok(expected));
        }
        for bad in ["", "single:1", "epochs", "epochs:1,2", "min-separation:x", "cyclic-poisson:3"]
        {
            assert!(participation(bad).is_err(), "{bad}");
        }
    }
}
