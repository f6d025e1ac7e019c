//! Arguments of `reproduce`.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};

use crate::args::{DeviceArgs, ShowArgs, count, seed};

/// What the numbers of figures are that stand for experiments with DP-SGD.
pub(crate) const NUMBERING: &str = "the figure numbers 4 to 7, 9 and 10 follow the order of the \
                                    experiments in the paper's text and were not checked against \
                                    the printed figures, so compare by what a table shows";

#[derive(Debug, Args)]
#[command(after_help = format!(
    "Examples:\n  dpscope reproduce figure-3 --observations 1e6\n  \
     dpscope reproduce partial-shuffle --runs 200\n\nOf the names above, {NUMBERING}."
))]
pub(crate) struct ReproduceArgs {
    /// What to repeat.
    #[arg(value_parser = parser())]
    pub(crate) what: Wanted,
    /// Observations of both worlds together in each setting, for figure-3 and table-1.
    #[arg(long, value_name = "N", value_parser = count)]
    pub(crate) observations: Option<u64>,
    /// Runs of both worlds together in each setting, for all others; by default what two cores do in
    /// about two minutes.
    #[arg(long, value_name = "N", value_parser = count)]
    pub(crate) runs: Option<u64>,
    /// Seed of all random words; fresh entropy if not given.
    #[arg(long, value_parser = seed)]
    pub(crate) seed: Option<u64>,
    #[command(flatten)]
    pub(crate) device: DeviceArgs,
    #[command(flatten)]
    pub(crate) show: ShowArgs,
}

/// What is repeated, each of DP-SGD also under the number of a figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Reproduction {
    /// Figure 3: epsilon by number of observations.
    #[value(name = "figure-3")]
    Figure3,
    /// Table I: the settings of published models.
    #[value(name = "table-1")]
    Table1,
    /// Models trained under an attacker who knows one record of every batch; also figure-4.
    #[value(name = "dpsgd-partially-informed", alias = "figure-4")]
    PartiallyInformed,
    /// The same with larger batches, and with one canary for all runs; also figure-5.
    #[value(name = "dpsgd-batch-size", alias = "figure-5")]
    BatchSize,
    /// DP-SGD whose every gradient is the attacker's: nothing is trained; also figure-6.
    #[value(name = "dpsgd-worst-case", alias = "figure-6")]
    WorstCase,
    /// Models trained under an attacker who knows nothing of the other records; also figure-7.
    #[value(name = "dpsgd-target-canary", alias = "figure-7")]
    TargetCanary,
    /// Models whose data were shuffled in a buffer, or not at all; also figure-9.
    #[value(alias = "figure-9")]
    PartialShuffle,
    /// Batches that were formed first and then shuffled; also figure-10.
    #[value(alias = "figure-10")]
    BatchThenShuffle,
}

/// What is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Wanted {
    pub(crate) what: Reproduction,
    /// Whether the name is a number that was not checked against the paper.
    pub(crate) is_by_number: bool,
}

impl Reproduction {
    /// Its own name.
    pub(crate) fn name(self) -> String {
        self.to_possible_value().map_or(String::new(), |value| value.get_name().to_owned())
    }
}

fn parser() -> impl TypedValueParser<Value = Wanted> {
    let names = Reproduction::value_variants().iter().filter_map(ValueEnum::to_possible_value);
    PossibleValuesParser::new(names).try_map(|name| {
        let what = Reproduction::from_str(&name, false)?;
        Ok::<_, String>(Wanted { what, is_by_number: name != what.name() })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_experiment_with_dp_sgd_has_a_number_of_its_own() {
        let all = Reproduction::value_variants().iter().skip(2);
        for (what, number) in all.zip([4, 5, 6, 7, 9, 10]) {
            let number = format!("figure-{number}");
            assert_eq!(Reproduction::from_str(&number, false), Ok(*what), "{number}");
            assert_ne!(what.name(), number);
            let help = what.to_possible_value().and_then(|value| value.get_help().cloned());
            assert!(help.is_some_and(|help| help.to_string().contains(&number)), "{number}");
        }
    }
}
