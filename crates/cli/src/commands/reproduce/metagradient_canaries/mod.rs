//! `dpscope reproduce metagradient-canaries`: optimised canaries beside others.

mod audits;
mod comparison;
mod scale;
mod set_result;
mod sets;

pub(super) use scale::ScaleArg;

use dpscope_core::accounting::{Accountant, Given, Poisson, Query, Training};
use dpscope_core::format::rounded;
use dpscope_train::data::Examples;
use dpscope_train::metagradient::{
    CanaryEvaluation, CanaryStart, Checkpointing, FeatureRanges, GradientPart, MeanAuc,
    OptimizationSettings, Optimizer, SmoothModel, StartLabels,
};
use dpscope_train::{ModelSpec, Network};
use serde_json::{Value, json};

use super::mean::MeanEstimate;
use super::names::Table;
use super::one_run_validity::without_coverage::Statement;
use super::reproduced::Reproduced;
use super::{ReproduceArgs, data};
use crate::commands::canaries::optimise::model::{load_data, network};
use crate::failure::{Exit, Failure};
use crate::host;
use crate::output::print_note;
use crate::progress::{RowProgress, is_drawn};
use audits::{Audits, CLIP_NORM, REFERENCES, RedrawnAudits, Repeats, guesses_of};
use comparison::{CanarySetComparison, comparisons, sentences};
use scale::Sizes;
use set_result::CanarySetResult;
use sets::{CanarySet, CanarySetKind, SgdTrainings, records_of, with_redrawn_halves};

const SIGNIFICANCE: f64 = 0.05;
const DEFAULT_DELTA: f64 = 1e-5;
const DEFAULT_RUNS: u64 = 10;
const MOMENTUM: f64 = 0.9;

/// Memory for the states of a training, in MiB.
const STATES_MIB: u64 = 512;

/// Kinds of canaries at most.
const SETS: usize = 5;

pub(super) fn run(args: &ReproduceArgs, seed: u64) -> Result<Reproduced, Failure> {
    let comparison = Comparison::new(args, seed)?;
    let is_default = args.runs.is_none() && args.canaries.is_none() && args.metasteps.is_none();
    if is_default && is_drawn(args.show.quiet) {
        let Sizes { model, duration, .. } = &comparison.sizes;
        print_note(&format!("{model}: {duration} on two cores; --runs and --metasteps shorten it"));
    }
    let threads = args.threads();
    let pool = host::pool(threads)?;
    pool.install(|| comparison.report(args.show.quiet, threads))
}

/// What is compared.
struct Comparison {
    sizes: Sizes,
    examples: Examples,
    spec: ModelSpec,
    network: Network,
    settings: OptimizationSettings,
    runs: u32,
    statement: Statement,
    seed: u64,
}

/// Canaries of a kind after all trainings.
struct Trained<'a> {
    set: CanarySet<'a>,
    sgd: CanaryEvaluation,
    dpsgd: Repeats,
}

/// Coins that were redrawn after the trainings of optimised canaries: nothing leaks.
struct NullCanaries {
    sgd_raw: MeanEstimate,
    sgd_calibrated: MeanEstimate,
    dpsgd_raw: MeanEstimate,
    dpsgd_calibrated: MeanEstimate,
    /// Redrawn games: redraws of each repeat, calibrated scores.
    games: u64,
    /// Largest bound over the number of guesses, uncorrected; mean over games.
    estimate: MeanEstimate,
    /// The value that 95 % of these do not exceed.
    estimate_quantile_95: f64,
    estimates_above_zero: u64,
    bounds_above_zero: u64,
}

impl Comparison {
    fn new(args: &ReproduceArgs, seed: u64) -> Result<Self, Failure> {
        let mut sizes = args.scale.unwrap_or(ScaleArg::Mlp).sizes()?;
        let checked = |option, value, default, range| {
            let value = ReproduceArgs::in_range(option, value, default, range, "")?;
            u32::try_from(value).map_err(Failure::input)
        };
        let range = (20, u64::from(sizes.slots) / 2);
        sizes.canaries = checked("--canaries", args.canaries, sizes.canaries.into(), range)?;
        sizes.metasteps = args.metasteps.unwrap_or(sizes.metasteps);
        let runs = checked("--runs", args.runs, DEFAULT_RUNS, (2, 200))?;
        let model = SmoothModel::named(&sizes.model)
            .ok_or_else(|| Failure::with(Exit::Internal, "a model without a name"))?;
        let records = u64::from(sizes.slots - sizes.canaries);
        let all = load_data(&args.data, Some(model.data), sizes.canaries.into(), Some(records))?;
        if all.len() < sizes.slots as usize {
            let (found, needed) = (all.len(), sizes.slots);
            return Err(Failure::input(format!(
                "{} has {found} records, but --scale {} needs {needed}",
                all.name(),
                sizes.model
            )));
        }
        let first: Vec<u32> = (0..sizes.slots).collect();
        let examples = match all.len() == sizes.slots as usize {
            true => all,
            false => all.select(all.name(), &first).unwrap_or(all),
        };
        let (spec, network) = network(&sizes.model, &examples)?;
        let settings = OptimizationSettings {
            steps: model.steps,
            batch_size: model.batch_size,
            learning_rate: model.learning_rate,
            rule: Optimizer::Momentum { momentum: MOMENTUM, weight_decay: 0.0 },
            ..OptimizationSettings::new(sizes.metasteps, seed)
        };
        let delta = args.delta.unwrap_or(DEFAULT_DELTA);
        let statement = Statement { delta, significance: SIGNIFICANCE };
        Ok(Comparison { sizes, examples, spec, network, settings, runs, statement, seed })
    }

    fn start(&self, labels: StartLabels) -> Result<CanaryStart<'_>, Failure> {
        let canaries = self.sizes.canaries as usize;
        CanaryStart::draw(&self.examples, canaries, None, labels, self.seed).map_err(Failure::input)
    }

    /// All trainings.
    fn report(&self, quiet: bool, threads: usize) -> Result<Reproduced, Failure> {
        let (start, other) = (self.start(StartLabels::Own)?, self.start(StartLabels::Other)?);
        let rows = 2 * self.sizes.metasteps as usize + 2 * SETS;
        let progress = RowProgress::new(quiet, rows).with_estimate();
        let states = (self.network.parameters() * 2 * size_of::<f32>()) as u64;
        let memory = (STATES_MIB << 20) / rayon::current_num_threads() as u64;
        let checkpointing = Checkpointing::within(self.settings.steps, states, memory)
            .unwrap_or(Checkpointing::TwoLevel);
        let ranges = FeatureRanges::of(&self.examples);
        let sgd = SgdTrainings {
            network: &self.network,
            ranges: &ranges,
            settings: &self.settings,
            checkpointing,
        };
        let direct = sgd.optimised(&start, GradientPart::Direct, &progress)?;
        let optimised = sgd.optimised(&start, GradientPart::Whole, &progress)?;
        let rounded = sets::rounded(&self.examples, &optimised);
        let mut sets = vec![
            records_of(CanarySetKind::Random, &start),
            records_of(CanarySetKind::Mislabelled, &other),
            direct,
            optimised,
        ];
        sets.extend(rounded);
        let base = self.base(&start)?;
        let audits = Audits {
            spec: &self.spec,
            base: &base,
            sizes: &self.sizes,
            statement: self.statement,
            repeats: self.runs,
            threads,
            seed: self.seed,
        };
        let mut trained = Vec::with_capacity(sets.len());
        for set in sets {
            progress.next(&format!("SGD, {}", set.kind.name()));
            let after_sgd = sgd.evaluated(&set, self.runs)?;
            progress.next(&format!("DP-SGD, {}", set.kind.name()));
            let dpsgd = audits.train(&set)?;
            trained.push(Trained { set, sgd: after_sgd, dpsgd });
        }
        drop(progress);
        self.compared(&trained, &audits)
    }

    /// The records that are no canaries.
    fn base(&self, start: &CanaryStart<'_>) -> Result<Examples, Failure> {
        let mut is_canary = vec![false; self.examples.len()];
        start.records.iter().for_each(|&record| is_canary[record as usize] = true);
        let others: Vec<u32> =
            (0..self.examples.len() as u32).filter(|&at| !is_canary[at as usize]).collect();
        self.examples
            .select(self.examples.name(), &others)
            .ok_or_else(|| Failure::with(Exit::Internal, "records that do not exist"))
    }

    fn compared(
        &self,
        trained: &[Trained<'_>],
        audits: &Audits<'_>,
    ) -> Result<Reproduced, Failure> {
        let mut sets = Vec::with_capacity(trained.len());
        for Trained { set, sgd, dpsgd } in trained {
            sets.push(CanarySetResult {
                set: set.kind,
                best_metasteps: set.best_metasteps,
                skipped: set.skipped,
                sgd_raw: of_auc(sgd.raw()),
                sgd_calibrated: of_auc(sgd.calibrated()),
                dpsgd_raw: audits.audited(dpsgd, false)?,
                dpsgd_calibrated: audits.audited(dpsgd, true)?,
            });
        }
        let optimised = trained
            .iter()
            .find(|one| one.set.kind == CanarySetKind::Optimised)
            .ok_or_else(|| Failure::with(Exit::Internal, "no optimised canaries"))?;
        self.document(&sets, &self.null(optimised, audits)?)
    }

    fn document(
        &self,
        sets: &[CanarySetResult],
        null: &NullCanaries,
    ) -> Result<Reproduced, Failure> {
        let runs = u64::from(self.runs);
        let compared = comparisons(sets, runs);
        let sentences = sentences(runs, &compared);
        let description = sentences.iter().map(|(label, words)| format!("{label}: {words}."));
        let description = description.collect::<Vec<_>>().join(" ");
        let published: Vec<PublishedFigure> =
            data::csv(include_str!("../../../../papers/metagradient_canaries/published.csv"))?;
        let rows = sets.iter().map(CanarySetResult::row).chain([null.row()]);
        let tables = vec![
            Table::new("comparisons", compared.iter().map(CanarySetComparison::row)),
            Table::new("sets", rows),
            Table::new("published", published.iter().map(published_row)),
        ];
        let mut facts = self.facts(sets, null)?;
        facts["found"] = description.into();
        let page = include_str!("../../../../papers/metagradient_canaries/page.toml");
        let notes = vec![("comparisons", sentences)];
        Ok(Reproduced::new(page, facts, tables, notes))
    }

    /// Sizes and settings of the trainings, and what is found where nothing leaks.
    fn facts(&self, sets: &[CanarySetResult], redrawn: &NullCanaries) -> Result<Value, Failure> {
        let Self { sizes, settings, .. } = self;
        let mechanism = sizes.mechanism();
        let Statement { delta, significance } = self.statement;
        let query = Query::upper(Training::from(&mechanism), Given::Delta(delta));
        let claimed = Poisson.account(&query)?.epsilon;
        let best = sets.iter().filter(|one| one.set != CanarySetKind::OptimisedRounded);
        let best =
            best.filter_map(|one| Some(format!("{} {}", one.set.name(), one.best_metasteps?)));
        let guesses = guesses_of(sizes.canaries.into());
        let skipped = sets.iter().map(|one| one.skipped).max().filter(|&skipped| skipped > 0);
        let percent = |count: u64| 100.0 * count as f64 / redrawn.games as f64;
        Ok(json!({
            "model": sizes.model, "parameters": self.network.parameters(),
            "data": self.examples.name(), "records": sizes.slots - sizes.canaries,
            "canaries": sizes.canaries, "metasteps": sizes.metasteps, "runs": self.runs,
            "best_metasteps": best.collect::<Vec<_>>().join(", "), "skipped": skipped,
            "sgd": {
                "steps": settings.steps, "batch_size": settings.batch_size,
                "learning_rate": settings.learning_rate, "momentum": MOMENTUM,
            },
            "dpsgd": {
                "noise_multiplier": mechanism.noise_multiplier,
                "sampling_rate": 1.0 / f64::from(mechanism.steps_per_epoch),
                "steps": mechanism.steps_per_epoch * mechanism.epochs, "clip_norm": CLIP_NORM,
                "learning_rate": sizes.learning_rate, "delta": delta, "significance": significance,
                "claimed_epsilon": claimed,
                "guesses": guesses, "references": REFERENCES,
            },
            "null": {
                "games": redrawn.games, "estimate_quantile_95": redrawn.estimate_quantile_95,
                "estimates_above_zero": redrawn.estimates_above_zero,
                "estimates_above_zero_percent": percent(redrawn.estimates_above_zero),
                "bounds_above_zero": redrawn.bounds_above_zero,
                "bounds_above_zero_percent": percent(redrawn.bounds_above_zero),
            },
        }))
    }

    /// Optimised canaries with coins that are drawn after the trainings.
    fn null(&self, of: &Trained<'_>, audits: &Audits<'_>) -> Result<NullCanaries, Failure> {
        let auc =
            |scores: Vec<Vec<f64>>| of_auc(with_redrawn_halves(scores, &of.sgd, self.seed).raw());
        let redrawn = audits.redrawn(&of.dpsgd)?;
        let RedrawnAudits { raw_auc, calibrated_auc, mut estimates, bounds_above_zero } = redrawn;
        estimates.sort_unstable_by(f64::total_cmp);
        let games = estimates.len();
        let at_95 = (95 * games).div_ceil(100).max(1) - 1;
        Ok(NullCanaries {
            sgd_raw: auc(of.sgd.scores.clone()),
            sgd_calibrated: auc(of.sgd.calibrated_scores()),
            dpsgd_raw: raw_auc,
            dpsgd_calibrated: calibrated_auc,
            games: games as u64,
            estimate: MeanEstimate::of(&estimates),
            estimate_quantile_95: estimates[at_95],
            estimates_above_zero: estimates.iter().filter(|&&value| value > 0.0).count() as u64,
            bounds_above_zero,
        })
    }
}

/// A mean AUC.
fn of_auc(auc: MeanAuc) -> MeanEstimate {
    MeanEstimate { value: auc.value, standard_error: auc.standard_error }
}

/// Name of the last row, where nothing leaks.
const REDRAWN: &str = "coins redrawn";

impl NullCanaries {
    fn row(&self) -> Value {
        json!({
            "set": "coins-redrawn", "set_text": REDRAWN, "sgd_raw": self.sgd_raw,
            "sgd_calibrated": self.sgd_calibrated, "dpsgd_raw": self.dpsgd_raw,
            "dpsgd_calibrated": self.dpsgd_calibrated, "calibrated_estimate": self.estimate,
        })
    }
}

/// A kind, and its published figures: of each pair, that of arXiv:2507.15836 and of its submission.
type PublishedFigure = (String, [[f64; 2]; 4]);

fn published_row((set, figures): &PublishedFigure) -> Value {
    let columns = ["scratch_coins", "scratch_pairs", "finetuned_coins", "finetuned_pairs"];
    let mut row = json!({ "set": set });
    for (name, figure) in columns.into_iter().zip(figures) {
        row[name] = json!(figure);
        row[format!("{name}_text")] = figure.map(|value| rounded(value, 3)).join(" / ").into();
    }
    row
}
