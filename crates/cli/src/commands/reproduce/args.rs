//! Arguments of `reproduce`.

use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};

use super::metagradient_canaries::ScaleArg;
use crate::args::{
    DataArgs, DeviceArgs, DeviceChoice, ShowArgs, count, open_unit, positive, seed, small_count,
};
use crate::failure::{Failure, reject_unused_options};
use Family::{
    DpSgd, FedAvg, Mechanism, MetagradientCanaries, OneRunValidity, OneShotTable2, PateGan,
    Published,
};

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

/// Experiments of one kind, which have the same options.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Family {
    Mechanism,
    DpSgd,
    Published,
    OneRunValidity,
    OneShotTable2,
    PateGan,
    MetagradientCanaries,
    FedAvg,
}

/// Options, the experiments that have them, and why others have not.
type Options = (&'static [&'static str], &'static [Family], &'static str);

/// Options of some experiments, in the order in which they are refused.
const OPTIONS: [Options; 7] = [
    (
        &["--columns", "--label", "--positive", "--rows", "--average-runs", "--utility"],
        &[PateGan],
        "except with pategan",
    ),
    (&["--scale", "--metasteps"], &[MetagradientCanaries], "except with metagradient-canaries"),
    (&["--data"], &[MetagradientCanaries, FedAvg, PateGan], WITH_DATA),
    (&["--labels", "--classes"], &[MetagradientCanaries, FedAvg], WITH_DATA),
    (
        &["--canaries", "--delta"],
        &[OneRunValidity, MetagradientCanaries, FedAvg],
        "except with one-run-validity, metagradient-canaries and the experiments with DP-FedAvg",
    ),
    (
        &["--plot"],
        &[Published, OneRunValidity, OneShotTable2, PateGan, MetagradientCanaries, FedAvg],
        "except with published, one-run-validity, one-shot-table-2, pategan, metagradient-canaries \
         and the experiments with DP-FedAvg",
    ),
    (&["--full"], &[OneShotTable2], "except with one-shot-table-2"),
];

const WITH_DATA: &str =
    "except with metagradient-canaries and the experiments with DP-FedAvg, and --data with pategan";

impl Family {
    /// Options without effect on its experiments, and what these do instead.
    const fn unused(self) -> (&'static [&'static str], &'static str) {
        const ON_CPU: &[&str] = &["--observations", "--device", "--float-mode"];
        match self {
            Mechanism => (&["--runs"], "with figure-3 and table-1, which use --observations"),
            DpSgd => (&["--observations"], "with DP-SGD experiments, which use --runs"),
            Published => (
                &["--observations", "--runs"],
                "with published, which trains and simulates nothing",
            ),
            OneShotTable2 => (
                &["--observations", "--float-mode"],
                "with one-shot-table-2, which simulates --runs audits per setting of the paper",
            ),
            OneRunValidity => (ON_CPU, "with {what}, which simulates --runs audits on the CPU"),
            PateGan => (ON_CPU, "with {what}, which trains --runs generators on the CPU"),
            MetagradientCanaries => (ON_CPU, "with {what}, which trains --runs repeats on the CPU"),
            FedAvg => (ON_CPU, "with {what}, which trains --runs models per setting on the CPU"),
        }
    }
}

impl ReproduceArgs {
    /// Options that only some experiments have, and whether they were passed.
    fn passed(&self) -> [(&'static str, bool); 19] {
        let Self { average, data, device, .. } = self;
        let uses_gpu = !matches!(device.device, DeviceChoice::Auto | DeviceChoice::Cpu);
        [
            ("--observations", self.observations.is_some()),
            ("--runs", self.runs.is_some()),
            ("--canaries", self.canaries.is_some()),
            ("--delta", self.delta.is_some()),
            ("--scale", self.scale.is_some()),
            ("--metasteps", self.metasteps.is_some()),
            ("--full", self.full),
            ("--data", data.data.is_some()),
            ("--labels", data.labels.is_some()),
            ("--classes", data.classes.is_some()),
            ("--columns", average.columns.is_some()),
            ("--label", average.label.is_some()),
            ("--positive", average.positive.is_some()),
            ("--rows", average.rows.is_some()),
            ("--average-runs", average.average_runs.is_some()),
            ("--utility", average.utility.is_some()),
            ("--plot", self.plot.is_some()),
            ("--device", uses_gpu),
            ("--float-mode", device.float_mode.is_some()),
        ]
    }

    /// Rejects options that the experiment does not have.
    pub(super) fn reject_unused(&self) -> Result<(), Failure> {
        let (passed, family) = (self.passed(), self.what.family());
        let reject = |options: &[&str], why: &str| {
            let unused = passed.map(|(option, is)| (option, is && options.contains(&option)));
            reject_unused_options(&unused, &why.replace("{what}", &self.what.name()))
        };
        for (options, families, why) in OPTIONS {
            if !families.contains(&family) {
                reject(options, why)?;
            }
        }
        let (unused, why) = family.unused();
        reject(unused, why)?;
        if family == OneShotTable2 && !self.full {
            let why = "with one-shot-table-2 without --full, which draws on the CPU";
            reject(&["--device"], why)?;
        }
        if matches!(self.what, Reproduction::FedAvgUtility | Reproduction::FedAvgGaussianity) {
            reject(&["--plot"], "with {what}, whose result is a small table")?;
        }
        Ok(())
    }

    /// The number of an option, or its default, in a range; `more` follows the range in an error.
    pub(super) fn in_range(
        option: &str,
        value: Option<u64>,
        default: u64,
        (least, most): (u64, u64),
        more: &str,
    ) -> Result<u64, Failure> {
        let value = value.unwrap_or(default);
        if (least..=most).contains(&value) {
            return Ok(value);
        }
        Err(Failure::input(format!("{option} is {value}; it must be from {least} to {most}{more}")))
    }

    /// Number of threads; 0 for as many as there are cores.
    pub(super) fn threads(&self) -> usize {
        self.device.threads.map_or(0, usize::from)
    }
}

impl Reproduction {
    /// The kind of experiment.
    pub(super) fn family(self) -> Family {
        match self {
            Self::Figure3 | Self::Table1 => Mechanism,
            Self::Published => Published,
            Self::OneRunValidity => OneRunValidity,
            Self::OneShotTable2 => OneShotTable2,
            Self::PateGan => PateGan,
            Self::MetagradientCanaries => MetagradientCanaries,
            Self::FedAvgFinalVsAll
            | Self::FedAvgPresentations
            | Self::FedAvgOneOrTenRuns
            | Self::FedAvgUtility
            | Self::FedAvgGaussianity => FedAvg,
            _ => DpSgd,
        }
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
    }
}
