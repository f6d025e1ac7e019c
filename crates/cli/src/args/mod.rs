//! The command line.

mod accounted;
mod bound;
mod calibrate;
mod check;
mod compare;
mod device;
mod dpsgd;
mod files;
mod plot;
mod reproduce;
mod run;
mod serve;

pub(crate) use accounted::AccountedArgs;
pub(crate) use bound::{BoundArgs, Bounded, SettingArgs, SideArg};
pub(crate) use calibrate::CalibrateArgs;
pub(crate) use check::{CheckArgs, TrainingArgs};
pub(crate) use compare::{CompareArgs, SweepArgs, TheoryArgs};
pub(crate) use device::{BenchArgs, DeviceArgs, DevicesArgs};
pub(crate) use dpsgd::{CanaryArg, DataArgs, DpSgdArgs, MemoryArgs, RateArg};
pub(crate) use plot::PlotArgs;
pub(crate) use reproduce::{NUMBERING, ReproduceArgs, Reproduction};
pub(crate) use run::{Asked, RunArgs};
pub(crate) use serve::ServeArgs;

use std::path::PathBuf;

use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};
use dpscope_core::adjacency::Adjacency;
use dpscope_core::audit::bound::ThresholdRule;
use dpscope_core::mechanism::{BatchSampler, BatchedGaussian, SamplerKind, ThreatModel};
use dpscope_engine::Shard;

use crate::failure::Failure;

/// Shows how much privacy a differentially private training run really leaks.
#[derive(Debug, Parser)]
#[command(
    version,
    after_help = "Example:\n  dpscope audit bgm --noise-multiplier 1.0 --steps 100 --observations 1e7\n\n\
        Exit codes: 0 done, 1 internal error, 2 bad input, 3 claim refuted (only with --claim or \
        --fail-above), 4 no such device, 5 artefact of another run, 130 interrupted."
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Audit a mechanism, recorded outputs, scores or counts.
    #[command(
        subcommand,
        after_help = "Example:\n  dpscope audit bgm --noise-multiplier 1.0 --steps 100 --observations 1e7"
    )]
    Audit(Audit),
    /// What theory says of epsilon: claimed, proven, or of the exact pair.
    Bound(BoundArgs),
    /// Noise, steps or epochs for a wanted epsilon and delta.
    Calibrate(CalibrateArgs),
    /// Claimed, proven and exact epsilon of one training in one table.
    Compare(CompareArgs),
    /// Claimed and proven epsilon of each training in a table.
    Sweep(SweepArgs),
    /// How many observations a target epsilon needs, and how far a number of them can see.
    Plan(PlanArgs),
    /// Join the shards of a run.
    Merge(MergeArgs),
    /// Go on with an interrupted run.
    Resume(ResumeArgs),
    /// Repeat published audits and print both numbers.
    Reproduce(ReproduceArgs),
    /// List what can compute.
    Devices(DevicesArgs),
    /// Measure how fast each device counts.
    Bench(BenchArgs),
    /// Whether a described training set-up keeps its claim.
    Check(Box<CheckArgs>),
    /// Show the web app, from this program and on this machine only.
    Serve(ServeArgs),
    /// Print a completion script for a shell.
    Completions(CompletionsArgs),
}

#[derive(Debug, Subcommand)]
pub(crate) enum Audit {
    /// Simulate the batched Gaussian mechanism with a canary and bound its epsilon.
    Bgm(BgmArgs),
    /// Train models by DP-SGD with a canary and bound the epsilon of what the attacker sees.
    Dpsgd(Box<DpSgdArgs>),
    /// Score outputs recorded from your own training runs.
    Outputs(OutputsArgs),
    /// Bound epsilon from attack scores of any kind.
    Scores(ScoresArgs),
    /// Bound epsilon from error counts at one threshold that was fixed beforehand.
    Counts(CountsArgs),
}

/// Reads the command line and refuses files that it names twice; a negative number is a value, so
/// that its message can name the domain.
pub(crate) fn parse() -> Result<Cli, Failure> {
    fn negative_numbers(command: clap::Command) -> clap::Command {
        command
            .mut_args(|arg| if takes_value(&arg) { arg.allow_negative_numbers(true) } else { arg })
            .mut_subcommands(negative_numbers)
    }
    fn takes_value(arg: &clap::Arg) -> bool {
        !arg.is_positional() && arg.get_action().takes_values()
    }
    let mut command = negative_numbers(Cli::command());
    let matches = command.get_matches_mut();
    let cli = Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    files::check_apart(&command, &matches)?;
    Ok(cli)
}

/// What is drawn and who attacks.
#[derive(Debug, Args)]
pub(crate) struct SamplerArgs {
    /// How batches are drawn.
    #[arg(long, default_value = "shuffle", value_parser = sampler_parser())]
    pub(crate) sampler: SamplerKind,
    /// Records in the buffer of partial-shuffle and sliding-buffer.
    #[arg(long, value_name = "K", value_parser = count)]
    pub(crate) buffer_examples: Option<u64>,
    /// Who attacks; by default the strongest attacker defined for the sampler.
    #[arg(long, value_parser = threat_model_parser())]
    pub(crate) threat_model: Option<ThreatModel>,
    /// Records a batch; needed by the buffered samplers and batch-then-shuffle.
    #[arg(long, value_name = "B", value_parser = batch_size)]
    pub(crate) batch_size: Option<u32>,
}

impl SamplerArgs {
    pub(crate) fn sampler(&self) -> Result<BatchSampler, Failure> {
        Ok(self.sampler.with_buffer(self.buffer_examples)?)
    }

    pub(crate) fn threat_model(&self) -> ThreatModel {
        self.threat_model.unwrap_or(self.sampler.default_threat_model())
    }

    /// The mechanism with these batches and this attacker.
    pub(crate) fn mechanism(
        &self,
        noise_multiplier: f64,
        steps_per_epoch: u32,
        epochs: u32,
    ) -> Result<BatchedGaussian, Failure> {
        Ok(BatchedGaussian {
            noise_multiplier,
            steps_per_epoch,
            epochs,
            sampler: self.sampler()?,
            threat_model: self.threat_model(),
            batch_size: self.batch_size,
        })
    }
}

/// The statement that is made.
#[derive(Debug, Args)]
pub(crate) struct StatementArgs {
    /// The delta of the statement.
    #[arg(long, default_value = "1e-5", value_parser = open_unit)]
    pub(crate) delta: f64,
    /// Chance that the bound is wrong: 0.05 is 95 % confidence.
    #[arg(long, default_value = "0.05", value_parser = open_unit)]
    pub(crate) significance: f64,
}

/// What is compared with the result.
#[derive(Debug, Args)]
pub(crate) struct ClaimArgs {
    /// The epsilon that was reported for the training; exit code 3 if it is refuted.
    #[arg(long, value_name = "EPS")]
    pub(crate) claim: Option<f64>,
    /// The delta that was reported with it; it must be that of --delta.
    #[arg(long, value_name = "DELTA", value_parser = open_unit, requires = "claim")]
    pub(crate) claim_delta: Option<f64>,
    /// Adjacency of the claim.
    #[arg(long, value_enum, default_value = "add-remove", requires = "claim")]
    pub(crate) claim_adjacency: AdjacencyArg,
    /// Exit with code 3 if the bound exceeds this epsilon.
    #[arg(long, value_name = "EPS")]
    pub(crate) fail_above: Option<f64>,
}

/// What the audits of recorded runs share.
#[derive(Debug, Args)]
pub(crate) struct RecordedArgs {
    /// Count runs with NaN or infinity against the attacker, instead of refusing the file.
    #[arg(long)]
    pub(crate) count_non_finite: bool,
    #[command(flatten)]
    pub(crate) statement: StatementArgs,
    /// Seed of the random half or pilot, below 2^53; fresh entropy if not given.
    #[arg(long, value_parser = seed)]
    pub(crate) seed: Option<u64>,
    #[command(flatten)]
    pub(crate) plot: PlotArgs,
    #[command(flatten)]
    pub(crate) claim: ClaimArgs,
    #[command(flatten)]
    pub(crate) show: ShowArgs,
}

/// How the result is shown.
#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// Print one JSON document on stdout.
    #[arg(long)]
    pub(crate) json: bool,
    /// No progress bar.
    #[arg(long)]
    pub(crate) quiet: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Example:\n  dpscope audit bgm --noise-multiplier 1.0 --steps 100 \\\n    \
        --observations 1e7 --claim 0.72")]
pub(crate) struct BgmArgs {
    /// Noise standard deviation divided by the clip norm, 0.2 to 20.
    #[arg(long, value_name = "S")]
    pub(crate) noise_multiplier: f64,
    /// Batches an epoch, 1 to 100000.
    #[arg(long, value_name = "T", value_parser = small_count)]
    pub(crate) steps: u32,
    /// Passes over the data, 1 to 1000.
    #[arg(long, value_name = "E", default_value = "1", value_parser = small_count)]
    pub(crate) epochs: u32,
    #[command(flatten)]
    pub(crate) sampler: SamplerArgs,
    /// Observations of both worlds together; even; may be written 1e7.
    #[arg(long, value_name = "N", value_parser = count)]
    pub(crate) observations: u64,
    #[command(flatten)]
    pub(crate) run: RunArgs,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  dpscope audit outputs runs.npz --noise-multiplier 1.0 \\\n    \
        --threat-model partially-informed\n\n\
        runs.npz holds the arrays `target` and `zero_out`, of shape (runs, epochs, steps) or (runs, \
        steps), and may hold the numbers noise_multiplier, clip_norm and batch_size. npy and \
        csv (one row a run, epoch-major) hold one world a file: --target FILE --zero-out FILE."
)]
pub(crate) struct OutputsArgs {
    /// File with the arrays `target` and `zero_out`: npz or safetensors.
    #[arg(value_name = "RUNS", required_unless_present = "target")]
    pub(crate) runs: Option<PathBuf>,
    /// Outputs of the runs with the target record.
    #[arg(long, value_name = "FILE", requires = "zero_out", conflicts_with = "runs")]
    pub(crate) target: Option<PathBuf>,
    /// Outputs of the runs with the zero-out record in its place.
    #[arg(long, value_name = "FILE", requires = "target")]
    pub(crate) zero_out: Option<PathBuf>,
    /// Noise standard deviation divided by the clip norm, 0.2 to 20.
    #[arg(long, value_name = "S")]
    pub(crate) noise_multiplier: Option<f64>,
    #[command(flatten)]
    pub(crate) sampler: SamplerArgs,
    /// Epochs in a row, where an array has no axis for them.
    #[arg(long, value_name = "E", value_parser = small_count)]
    pub(crate) epochs: Option<u32>,
    /// Clip norm C: outputs are divided by it.
    #[arg(long, value_name = "C")]
    pub(crate) clip_norm: Option<f64>,
    /// Outputs are means over B records: they are multiplied by B.
    #[arg(long, value_name = "B", value_parser = batch_size)]
    pub(crate) per_batch_mean: Option<u32>,
    /// Step of an epoch that holds the target, from 0 (deterministic batching only).
    #[arg(long, value_name = "STEP", default_value_t = 0)]
    pub(crate) target_step: u32,
    /// How the threshold is chosen.
    #[arg(long, value_enum, default_value = "simultaneous")]
    pub(crate) threshold_rule: RuleArg,
    #[command(flatten)]
    pub(crate) recorded: RecordedArgs,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  dpscope audit scores --target in.npy --zero-out out.npy --claim 2.0"
)]
pub(crate) struct ScoresArgs {
    /// Scores of the runs with the target record: npy, npz or safetensors with one array, csv.
    #[arg(long, value_name = "FILE")]
    pub(crate) target: PathBuf,
    /// Scores of the runs without it.
    #[arg(long, value_name = "FILE")]
    pub(crate) zero_out: PathBuf,
    /// Which world a higher score speaks for.
    #[arg(long, value_enum, default_value = "target")]
    pub(crate) higher_means: WorldArg,
    /// How the threshold is chosen.
    #[arg(long, value_enum, default_value = "split")]
    pub(crate) threshold_rule: RuleArg,
    #[command(flatten)]
    pub(crate) training: AccountedArgs,
    #[command(flatten)]
    pub(crate) recorded: RecordedArgs,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  dpscope audit counts --false-positives 12 --zero-out-trials 1000 \\\n    \
        --false-negatives 480 --target-trials 1000"
)]
pub(crate) struct CountsArgs {
    /// Runs without the target record that the attack took for runs with it.
    #[arg(long, value_name = "FP", value_parser = count)]
    pub(crate) false_positives: u64,
    /// Runs with the target record that the attack took for runs without it.
    #[arg(long, value_name = "FN", value_parser = count)]
    pub(crate) false_negatives: u64,
    /// Runs with the target record.
    #[arg(long, value_name = "N", value_parser = count)]
    pub(crate) target_trials: u64,
    /// Runs without it.
    #[arg(long, value_name = "N", value_parser = count)]
    pub(crate) zero_out_trials: u64,
    #[command(flatten)]
    pub(crate) training: AccountedArgs,
    #[command(flatten)]
    pub(crate) statement: StatementArgs,
    #[command(flatten)]
    pub(crate) plot: PlotArgs,
    #[command(flatten)]
    pub(crate) claim: ClaimArgs,
    #[command(flatten)]
    pub(crate) show: ShowArgs,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  dpscope plan --epsilon 9\n  dpscope plan --noise-multiplier 1 --steps 100 --observations 1e7"
)]
pub(crate) struct PlanArgs {
    /// The epsilon that a bound should be able to reach.
    #[arg(long, value_name = "EPS")]
    pub(crate) epsilon: Option<f64>,
    /// Observations of both worlds together.
    #[arg(long, value_name = "N", value_parser = count)]
    pub(crate) observations: Option<u64>,
    /// With --steps: predict the bound of an audit by a small simulation.
    #[arg(long, value_name = "S", requires = "steps")]
    pub(crate) noise_multiplier: Option<f64>,
    /// Batches an epoch.
    #[arg(long, value_name = "T", value_parser = small_count, requires = "noise_multiplier")]
    pub(crate) steps: Option<u32>,
    /// Passes over the data.
    #[arg(long, value_name = "E", default_value = "1", value_parser = small_count)]
    pub(crate) epochs: u32,
    #[command(flatten)]
    pub(crate) sampler: SamplerArgs,
    #[command(flatten)]
    pub(crate) statement: StatementArgs,
    /// How the threshold will be chosen.
    #[arg(long, value_enum, default_value = "simultaneous")]
    pub(crate) threshold_rule: RuleArg,
    /// Seed of the small simulation.
    #[arg(long, value_parser = seed)]
    pub(crate) seed: Option<u64>,
    /// Print one JSON document on stdout.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Example:\n  dpscope merge shard-*.json --claim 0.72")]
pub(crate) struct MergeArgs {
    /// Artefacts of one plan, in any order.
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Write the joined histograms here.
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Accept missing observations; the result is then an estimate.
    #[arg(long)]
    pub(crate) allow_gaps: bool,
    /// Accept shards of different float modes.
    #[arg(long)]
    pub(crate) allow_mixed: bool,
    #[command(flatten)]
    pub(crate) plot: PlotArgs,
    #[command(flatten)]
    pub(crate) claim: ClaimArgs,
    #[command(flatten)]
    pub(crate) show: ShowArgs,
}

#[derive(Debug, Args)]
#[command(
    mut_arg("data", |arg| arg.help("The file that the models are trained on, if it is not made up")),
    mut_arg("labels", |arg| arg.help("File of its labels, for IDX")),
    mut_arg("classes", |arg| arg.help("Classes of it that were kept, in the same order")),
    after_help = "Example:\n  dpscope resume audit.checkpoint"
)]
pub(crate) struct ResumeArgs {
    /// Checkpoint of the run.
    #[arg(value_name = "CHECKPOINT")]
    pub(crate) checkpoint: PathBuf,
    #[command(flatten)]
    pub(crate) data: DataArgs,
    /// Where the outputs of the trained models go: the file that the run began with.
    #[arg(long, value_name = "FILE.npz")]
    pub(crate) outputs_to: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) device: DeviceArgs,
    #[command(flatten)]
    pub(crate) memory: MemoryArgs,
    /// Write the histograms here as well, for `dpscope merge`.
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) plot: PlotArgs,
    #[command(flatten)]
    pub(crate) claim: ClaimArgs,
    #[command(flatten)]
    pub(crate) show: ShowArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "Example:\n  dpscope completions bash \\\n    \
        > ~/.local/share/bash-completion/completions/dpscope")]
pub(crate) struct CompletionsArgs {
    /// The shell.
    #[arg(value_enum)]
    pub(crate) shell: clap_complete::Shell,
    /// Print the script inside one JSON document.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum RuleArg {
    /// One half of the data chooses the cut, the other gives the bound.
    Split,
    /// A few cuts fixed by a pilot share the significance: a bound from all data.
    Simultaneous,
    /// The largest value over all cuts, as in the paper: an estimate, not a bound.
    MaxUncorrected,
}

impl From<RuleArg> for ThresholdRule {
    fn from(rule: RuleArg) -> Self {
        match rule {
            RuleArg::Split => ThresholdRule::Split,
            RuleArg::Simultaneous => ThresholdRule::Simultaneous,
            RuleArg::MaxUncorrected => ThresholdRule::MaxUncorrected,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum AdjacencyArg {
    AddRemove,
    ZeroOut,
    Replace,
}

impl From<AdjacencyArg> for Adjacency {
    fn from(adjacency: AdjacencyArg) -> Self {
        match adjacency {
            AdjacencyArg::AddRemove => Adjacency::AddRemove,
            AdjacencyArg::ZeroOut => Adjacency::ZeroOut,
            AdjacencyArg::Replace => Adjacency::Replace,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum WorldArg {
    Target,
    ZeroOut,
}

fn sampler_parser() -> impl clap::builder::TypedValueParser<Value = SamplerKind> {
    use clap::builder::{PossibleValuesParser, TypedValueParser};
    PossibleValuesParser::new(SamplerKind::ALL.map(SamplerKind::name))
        .try_map(|name| name.parse::<SamplerKind>())
}

fn threat_model_parser() -> impl clap::builder::TypedValueParser<Value = ThreatModel> {
    use clap::builder::{PossibleValuesParser, TypedValueParser};
    PossibleValuesParser::new(ThreatModel::ALL.map(ThreatModel::name))
        .try_map(|name| name.parse::<ThreatModel>())
}

/// A whole number, also as 1e7 or 10_000_000.
pub(crate) fn count(text: &str) -> Result<u64, String> {
    const MOST: u64 = 1 << 53;
    let plain = text.replace('_', "");
    let parsed = plain.parse::<u64>().ok().or_else(|| {
        let value: f64 = plain.parse().ok()?;
        // Beyond 2⁵³ the cast saturates, and the limit refuses it.
        (value.fract() == 0.0 && value >= 0.0).then_some(value as u64)
    });
    match parsed {
        Some(value) if value <= MOST => Ok(value),
        Some(_) => Err(format!("`{text}` is more than 2^53")),
        None => {
            Err(format!("`{text}` is not a whole number from 0; write 10000000, 10_000_000 or 1e7"))
        }
    }
}

/// As [`count`], at least 1.
fn positive(text: &str) -> Result<u64, String> {
    match count(text)? {
        0 => Err(format!("`{text}` is too small; give at least 1")),
        value => Ok(value),
    }
}

/// A number of any kind; its domain is checked where it is used.
pub(crate) fn number(text: &str) -> Result<f64, String> {
    text.parse().map_err(|_| format!("`{text}` is not a number; write it as 0.5 or 1e-5"))
}

/// A seed that a JSON number and a link can carry.
fn seed(text: &str) -> Result<u64, String> {
    let parsed = text.parse().ok().filter(|&seed: &u64| seed < 1 << 53);
    parsed.ok_or_else(|| format!("`{text}` is not a whole number from 0 and below 2^53"))
}

/// A number strictly between 0 and 1.
fn open_unit(text: &str) -> Result<f64, String> {
    let parsed = text.parse().ok().filter(|&value: &f64| value > 0.0 && value < 1.0);
    parsed.ok_or_else(|| format!("`{text}` does not lie strictly between 0 and 1"))
}

fn small_count(text: &str) -> Result<u32, String> {
    u32::try_from(count(text)?).map_err(|_| format!("`{text}` is too large"))
}

fn batch_size(text: &str) -> Result<u32, String> {
    match small_count(text)? {
        0 => Err("a batch holds at least one record".to_owned()),
        size => Ok(size),
    }
}

fn shard(text: &str) -> Result<Shard, String> {
    let wanted = || format!("`{text}` is not a shard; write i/N with 1 <= i <= N, e.g. 2/8");
    let (index, count) = text.split_once('/').ok_or_else(wanted)?;
    let number = |part: &str| part.trim().parse::<u64>().map_err(|_| wanted());
    let shard = Shard { index: number(index)?, count: number(count)? };
    if (1..=shard.count).contains(&shard.index) { Ok(shard) } else { Err(wanted()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn counts_may_be_written_with_an_exponent() {
        for (text, value) in [
            ("1e7", 10_000_000),
            ("10_000", 10_000),
            ("2.5e3", 2500),
            ("0", 0),
            ("9007199254740992", 1 << 53),
        ] {
            assert_eq!(count(text), Ok(value));
        }
        for text in ["", "1.5", "-1", "1e300", "nan", "inf", "ten", "9007199254740993"] {
            assert!(count(text).is_err(), "{text}");
        }
    }

    #[test]
    fn probabilities_and_seeds_stay_inside_their_domain() {
        assert_eq!((open_unit("1e-5"), seed("9007199254740991")), (Ok(1e-5), Ok((1 << 53) - 1)));
        for text in ["0", "1", "-1", "nan", "inf", "", "x"] {
            assert!(open_unit(text).is_err(), "{text}");
        }
        for text in ["9007199254740992", "-1", "1.5", "", "x"] {
            assert!(seed(text).is_err(), "{text}");
        }
    }

    #[test]
    fn shards_are_counted_from_one() {
        assert_eq!(shard("2/8"), Ok(Shard { index: 2, count: 8 }));
        for text in ["0/8", "9/8", "1", "a/b", "1/0", "-1/3", "1/2/3"] {
            assert!(shard(text).is_err(), "{text}");
        }
    }
}
