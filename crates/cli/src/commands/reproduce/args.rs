//! Arguments of `reproduce`.

use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use dpscope_report::record::FedAvgExperiment;

use super::metagradient_canaries::ScaleArg;
use crate::args::{DataArgs, DeviceArgs, ShowArgs, count, open_unit, positive, seed, small_count};
use crate::failure::{Failure, reject_unused_options};

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  dpscope reproduce published --plot published.svg\n  dpscope reproduce figure-3 --observations 1e6\n  \
     dpscope reproduce partial-shuffle --runs 200\n  \
     dpscope reproduce one-run-validity --runs 2000 --plot shares.svg\n  \
     dpscope reproduce one-shot-table-2 --runs 200 --plot table-2.svg\n  \
     dpscope reproduce one-shot-table-2 --full --largest-dimension 1e4\n  \
     dpscope reproduce metagradient-canaries --scale mlp --plot canaries.svg\n  \
     dpscope reproduce fedavg-final-vs-all --plot fedavg.svg\n  \
     dpscope reproduce pategan --plot pategan.svg\n  \
     dpscope reproduce pategan --data patients.csv --columns patients.toml \\\n    \
     --label ill --rows 50"
)]
pub(crate) struct ReproduceArgs {
    /// Published experiment.
    #[arg(value_parser = parser())]
    pub(crate) what: Reproduction,
    /// Observations per setting in both worlds together (figure-3 and table-1).
    #[arg(long, value_name = "N", value_parser = count)]
    pub(crate) observations: Option<u64>,
    /// Runs per setting in both worlds together (other experiments) [default: as many as take about
    /// two minutes on two cores; 1000 audits per setting of one-run-validity and one-shot-table-2, 50 with
    /// --full; 2000 runs per audit of the worst case of pategan, which takes a minute on two cores with its average
    /// case; 10 repeats of metagradient-canaries; 6 audits per setting of DP-FedAvg].
    #[arg(long, value_name = "N", value_parser = count)]
    pub(crate) runs: Option<u64>,
    /// Canaries of each audit (one-run-validity, metagradient-canaries and DP-FedAvg) [default: 1000
    /// for one-run-validity, set by --scale for metagradient-canaries, 1000 for
    /// fedavg-one-or-ten-runs, 200 for other experiments of DP-FedAvg].
    #[arg(long, value_name = "M", value_parser = count)]
    pub(crate) canaries: Option<u64>,
    /// Delta of the bounds (one-run-validity, metagradient-canaries and DP-FedAvg) [default: 1e-5, or
    /// 1e-6 for DP-FedAvg].
    #[arg(long, value_name = "D", value_parser = open_unit)]
    pub(crate) delta: Option<f64>,
    /// Model and sizes (metagradient-canaries) [default: mlp].
    #[arg(long, value_enum)]
    pub(crate) scale: Option<ScaleArg>,
    /// Steps of the canaries in each optimisation (metagradient-canaries) [default: those of the
    /// scale].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) metasteps: Option<u32>,
    /// Draw every coordinate of directions, noise and sum, in place of the joint distribution of the
    /// cosines; on a GPU if there is one, with the same result (one-shot-table-2).
    #[arg(long)]
    pub(crate) full: bool,
    /// Largest dimension of the table with --full (one-shot-table-2) [default: 1e5, about ten seconds
    /// on one core; 1e6 takes five minutes, 1e7 more than two hours].
    #[arg(long, value_name = "D", value_parser = positive, requires = "full")]
    pub(crate) largest_dimension: Option<u64>,
    #[command(flatten)]
    pub(crate) data: DataArgs,
    #[command(flatten)]
    pub(crate) average: AverageCaseArgs,
    /// Draw the results to a self-contained SVG file (published, one-run-validity, one-shot-table-2,
    /// pategan, metagradient-canaries and DP-FedAvg).
    #[arg(long, value_name = "FILE.svg")]
    pub(crate) plot: Option<PathBuf>,
    /// Random seed, below 2^53 [default: fresh entropy].
    #[arg(long, value_parser = seed)]
    pub(crate) seed: Option<u64>,
    #[command(flatten)]
    pub(crate) device: DeviceArgs,
    #[command(flatten)]
    pub(crate) show: ShowArgs,
}

/// The average case of PATE-GAN: rows of the user, or of a distribution of the program's own.
#[derive(Debug, Args)]
pub(crate) struct AverageCaseArgs {
    /// Columns of --data, a csv, with their public bounds and categories (pategan).
    #[arg(
        long,
        value_name = "FILE.toml",
        requires = "data",
        requires = "rows",
        requires = "label"
    )]
    pub(crate) columns: Option<PathBuf>,
    /// Categorical column that is the label (pategan with --data).
    #[arg(long, value_name = "NAME", requires = "columns")]
    pub(crate) label: Option<String>,
    /// Positive class of the classifiers, a category of the label [default: the last one].
    #[arg(long, value_name = "NAME", requires = "columns")]
    pub(crate) positive: Option<String>,
    /// Number of rows that each run releases; must not depend on the data (pategan with --data).
    #[arg(long, value_name = "N", requires = "columns", value_parser = small_count)]
    pub(crate) rows: Option<u32>,
    /// Runs per audit of the average case in both worlds together, 0 to leave it out (pategan) [default:
    /// 200].
    #[arg(long, value_name = "N", value_parser = count)]
    pub(crate) average_runs: Option<u64>,
    /// Generators per implementation whose rows train classifiers in the average case (pategan) [default: 5].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000))]
    pub(crate) utility: Option<u64>,
}

/// A published experiment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Reproduction {
    /// Figure 3: epsilon by number of observations.
    #[value(name = "figure-3")]
    Figure3,
    /// Table I: the settings of published models.
    #[value(name = "table-1")]
    Table1,
    /// Published trainings: claims, Poisson accounting, and what shuffling would leak.
    Published,
    /// One-run audits: how often bounds of published procedures and ours exceed the truth.
    #[value(name = "one-run-validity")]
    OneRunValidity,
    /// One-shot audits: published estimates for the Gaussian mechanism beside ours.
    #[value(name = "one-shot-table-2")]
    OneShotTable2,
    /// PATE-GAN: six published implementations, with the faults of each and of their audit.
    #[value(name = "pategan")]
    PateGan,
    /// Canaries optimised by metagradients beside others, after SGD and DP-SGD.
    #[value(name = "metagradient-canaries")]
    MetagradientCanaries,
    /// One-shot audits of DP-FedAvg: what the final model shows beside all updates.
    #[value(name = "fedavg-final-vs-all")]
    FedAvgFinalVsAll,
    /// One-shot audits of DP-FedAvg by the number of rounds in which canaries take part.
    #[value(name = "fedavg-presentations")]
    FedAvgPresentations,
    /// One-shot audits of DP-FedAvg with 1,000 canaries in one training, or 100 in each of ten.
    #[value(name = "fedavg-one-or-ten-runs")]
    FedAvgOneOrTenRuns,
    /// Accuracy of DP-FedAvg with and without canaries.
    #[value(name = "fedavg-utility")]
    FedAvgUtility,
    /// Whether scores of canaries of DP-FedAvg are normal.
    #[value(name = "fedavg-gaussianity")]
    FedAvgGaussianity,
    /// Models, attacker knows one record of every batch.
    #[value(name = "dpsgd-partially-informed")]
    PartiallyInformed,
    /// Models, attacker knows one record of every batch: larger batches, or one canary for all runs.
    #[value(name = "dpsgd-batch-size")]
    BatchSize,
    /// DP-SGD in which the attacker chooses every gradient (no model is trained).
    #[value(name = "dpsgd-worst-case")]
    WorstCase,
    /// Models, attacker knows no other record.
    #[value(name = "dpsgd-target-canary")]
    TargetCanary,
    /// Models, data shuffled in a buffer or not at all; also figure-9.
    #[value(alias = "figure-9")]
    PartialShuffle,
    /// Models, batches formed first and then shuffled; also figure-10.
    #[value(alias = "figure-10")]
    BatchThenShuffle,
}

/// Figures of the paper that no experiment reproduces, and the experiment to suggest instead.
const OTHER_FIGURES: [(&str, Reproduction); 4] = [
    ("figure-4", Reproduction::PartiallyInformed),
    ("figure-5", Reproduction::BatchSize),
    ("figure-6", Reproduction::WorstCase),
    ("figure-7", Reproduction::TargetCanary),
];

impl ReproduceArgs {
    /// Rejects options that only some experiments have.
    pub(super) fn reject_options_of_others(&self) -> Result<(), Failure> {
        let is_optimised = self.what == Reproduction::MetagradientCanaries;
        let is_fedavg = self.what.fedavg().is_some();
        let is_of_one_run = is_optimised || self.what == Reproduction::OneRunValidity;
        let is_one_shot = self.what == Reproduction::OneShotTable2;
        let has_canaries = is_of_one_run || is_fedavg;
        let is_trained = is_optimised || is_fedavg;
        let is_pategan = self.what == Reproduction::PateGan;
        let unless = |is_used: bool, is_passed: bool| is_passed && !is_used;
        let average = &self.average;
        let options = [
            ("--columns", unless(is_pategan, average.columns.is_some())),
            ("--label", unless(is_pategan, average.label.is_some())),
            ("--positive", unless(is_pategan, average.positive.is_some())),
            ("--rows", unless(is_pategan, average.rows.is_some())),
            ("--average-runs", unless(is_pategan, average.average_runs.is_some())),
            ("--utility", unless(is_pategan, average.utility.is_some())),
        ];
        reject_unused_options(&options, "except with pategan")?;
        let is_drawn =
            has_canaries || is_one_shot || is_pategan || self.what == Reproduction::Published;
        let data = &self.data;
        let options = [
            ("--scale", unless(is_optimised, self.scale.is_some())),
            ("--metasteps", unless(is_optimised, self.metasteps.is_some())),
        ];
        reject_unused_options(&options, "except with metagradient-canaries")?;
        let options = [
            ("--data", unless(is_trained || is_pategan, data.data.is_some())),
            ("--labels", unless(is_trained, data.labels.is_some())),
            ("--classes", unless(is_trained, data.classes.is_some())),
        ];
        let why = "except with metagradient-canaries and the experiments with DP-FedAvg, and --data with pategan";
        reject_unused_options(&options, why)?;
        let options = [
            ("--canaries", unless(has_canaries, self.canaries.is_some())),
            ("--delta", unless(has_canaries, self.delta.is_some())),
        ];
        let why = "except with one-run-validity, metagradient-canaries and the experiments with DP-FedAvg";
        reject_unused_options(&options, why)?;
        let options = [("--plot", unless(is_drawn, self.plot.is_some()))];
        let why = "except with published, one-run-validity, one-shot-table-2, pategan, \
                   metagradient-canaries and the experiments with DP-FedAvg";
        reject_unused_options(&options, why)?;
        let options = [("--full", unless(is_one_shot, self.full))];
        reject_unused_options(&options, "except with one-shot-table-2")
    }
}

impl Reproduction {
    /// All experiments with DP-SGD.
    #[cfg(test)]
    pub(crate) fn dpsgd() -> Vec<Self> {
        let is_dpsgd = |what: &Self| {
            !matches!(
                what,
                Reproduction::Figure3
                    | Reproduction::Table1
                    | Reproduction::Published
                    | Reproduction::OneRunValidity
                    | Reproduction::OneShotTable2
                    | Reproduction::PateGan
                    | Reproduction::MetagradientCanaries
            ) && what.fedavg().is_none()
        };
        Self::value_variants().iter().copied().filter(is_dpsgd).collect()
    }

    /// The experiment with DP-FedAvg, if it is one.
    pub(super) fn fedavg(self) -> Option<FedAvgExperiment> {
        Some(match self {
            Self::FedAvgFinalVsAll => FedAvgExperiment::FinalVsAll,
            Self::FedAvgPresentations => FedAvgExperiment::Presentations,
            Self::FedAvgOneOrTenRuns => FedAvgExperiment::OneOrTenRuns,
            Self::FedAvgUtility => FedAvgExperiment::Utility,
            Self::FedAvgGaussianity => FedAvgExperiment::Gaussianity,
            _ => return None,
        })
    }

    /// Its name, without figure number.
    pub(crate) fn name(self) -> String {
        self.to_possible_value().map_or(String::new(), |value| value.get_name().to_owned())
    }
}

fn parser() -> impl TypedValueParser<Value = Reproduction> {
    let names = Reproduction::value_variants().iter().filter_map(ValueEnum::to_possible_value);
    let others = OTHER_FIGURES.map(|(figure, _)| PossibleValue::new(figure).hide(true));
    PossibleValuesParser::new(names.chain(others)).try_map(|name| {
        match OTHER_FIGURES.iter().find(|(figure, _)| *figure == name) {
            Some((figure, what)) => Err(format!(
                "{figure} of the paper shows another experiment, which is not repeated here; pass {}",
                what.name()
            )),
            None => Reproduction::from_str(&name, false),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_figures_that_are_repeated_are_names() {
        for (figure, what) in [
            ("figure-3", Some(Reproduction::Figure3)),
            ("figure-9", Some(Reproduction::PartialShuffle)),
            ("figure-10", Some(Reproduction::BatchThenShuffle)),
            ("figure-4", None),
            ("figure-5", None),
            ("figure-6", None),
            ("figure-7", None),
        ] {
            assert_eq!(Reproduction::from_str(figure, false).ok(), what, "{figure}");
        }
        assert_eq!(Reproduction::dpsgd().len(), 6);
    }
}
