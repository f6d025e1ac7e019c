//! Arguments of `reproduce`.

use std::path::PathBuf;
use std::sync::LazyLock;

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use serde::Deserialize;

use super::data;
use super::metagradient_canaries::ScaleArg;
use crate::args::{
    DataArgs, DeviceArgs, DeviceChoice, ShowArgs, count, open_unit, positive, seed, small_count,
};
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
    pub(crate) what: Experiment,
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

/// What can be repeated, and with which options; `experiments.toml` explains the fields.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Experiments {
    pub(super) experiment: Vec<Experiment>,
    other_figure: Vec<OtherFigure>,
    refusal: Vec<Refusal>,
}

/// A published experiment.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Experiment {
    pub(super) name: String,
    alias: Option<String>,
    pub(super) kind: String,
    help: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct OtherFigure {
    name: String,
    instead: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Refusal {
    options: Vec<String>,
    only: Option<Vec<String>>,
    #[serde(default)]
    without: Vec<String>,
    unless: Option<String>,
    why: String,
}

pub(super) static EXPERIMENTS: LazyLock<Experiments> = LazyLock::new(|| {
    data::toml(include_str!("../../../papers/experiments.toml")).unwrap_or_default()
});

impl Experiments {
    /// An experiment by its name, or by the number of its figure.
    fn named(&self, name: &str) -> Result<Experiment, String> {
        if let Some(OtherFigure { instead, .. }) =
            self.other_figure.iter().find(|figure| figure.name == name)
        {
            return Err(format!(
                "{name} of the paper shows another experiment, which is not repeated here; pass \
                 {instead}"
            ));
        }
        let is_it = |one: &&Experiment| one.name == name || one.alias.as_deref() == Some(name);
        self.experiment.iter().find(is_it).cloned().ok_or_else(|| format!("{name} is not known"))
    }
}

impl Refusal {
    /// Whether it applies to an experiment with these options.
    fn applies(&self, what: &Experiment, passed: &[(&str, bool)]) -> bool {
        let is_in = |names: &[String]| names.contains(&what.kind) || names.contains(&what.name);
        let is_passed = |option: &str| passed.contains(&(option, true));
        (self.only.as_deref().is_some_and(|only| !is_in(only)) || is_in(&self.without))
            && !self.unless.as_deref().is_some_and(is_passed)
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
        let (passed, what) = (self.passed(), &self.what);
        for refusal in EXPERIMENTS.refusal.iter().filter(|one| one.applies(what, &passed)) {
            let is_refused = |option: &str| refusal.options.iter().any(|one| one == option);
            let unused = passed.map(|(option, is)| (option, is && is_refused(option)));
            reject_unused_options(&unused, &refusal.why.replace("{what}", &what.name))?;
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
        self.device.threads()
    }
}

fn parser() -> impl TypedValueParser<Value = Experiment> {
    let Experiments { experiment, other_figure, .. } = &*EXPERIMENTS;
    let names = experiment.iter().map(|Experiment { name, alias, help, .. }| {
        PossibleValue::new(name.as_str()).help(help.as_str()).aliases(alias.as_deref())
    });
    let others = other_figure.iter();
    let others = others.map(|figure| PossibleValue::new(figure.name.as_str()).hide(true));
    PossibleValuesParser::new(names.chain(others)).try_map(|name| EXPERIMENTS.named(&name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_figures_that_are_repeated_are_names() {
        for (figure, what) in [
            ("figure-3", Some("figure-3")),
            ("figure-9", Some("partial-shuffle")),
            ("figure-10", Some("batch-then-shuffle")),
            ("figure-4", None),
            ("figure-5", None),
            ("figure-6", None),
            ("figure-7", None),
        ] {
            let found = EXPERIMENTS.named(figure).ok();
            assert_eq!(found.as_ref().map(|one| one.name.as_str()), what, "{figure}");
        }
        let instead = EXPERIMENTS.other_figure.iter().map(|figure| &figure.instead);
        assert!(
            instead.clone().count() == 4
                && instead.clone().all(|name| EXPERIMENTS.named(name).is_ok())
        );
    }
}
