//! `dpscope reproduce metagradient-canaries`: optimised canaries beside others.

mod audits;
mod published;
mod scale;
mod sets;
mod table;

pub(super) use scale::ScaleArg;

use dpscope_core::accounting::{Accountant, Given, Poisson, Query, Training};
use dpscope_report::figure::metagradient_canaries_svg;
use dpscope_report::record::{
    CanaryMeasure, CanarySetComparison, CanarySetKind, CanarySetResult, DpSgdSettings,
    MeanEstimate, MetagradientCanariesReport, NullCanaries, SgdSettings,
};
use dpscope_train::data::Examples;
use dpscope_train::metagradient::{
    CanaryEvaluation, CanaryStart, Checkpointing, FeatureRanges, GradientPart, MeanAuc,
    OptimizationSettings, Optimizer, SmoothModel, StartLabels,
};
use dpscope_train::{ModelSpec, Network};

use super::ReproduceArgs;
use super::one_run_validity::without_coverage::Statement;
use crate::args::{DeviceChoice, check_drawing, write_drawing};
use crate::commands::canaries::optimise::model::{load_data, network};
use crate::failure::{CommandResult, Exit, Failure, reject_unused_options};
use crate::host;
use crate::output::{print_json, print_note, print_text};
use crate::progress::{RowProgress, is_drawn};
use crate::seed::seed_or_fresh;
use audits::{Audits, CLIP_NORM, REFERENCES, RedrawnAudits, Repeats, guesses_of};
use published::PUBLISHED;
use scale::Sizes;
use sets::{CanarySet, SgdTrainings, records_of, rounded, with_redrawn_halves};

const SIGNIFICANCE: f64 = 0.05;
const DEFAULT_DELTA: f64 = 1e-5;
const DEFAULT_RUNS: u64 = 10;
const MOMENTUM: f64 = 0.9;

/// Memory for the states of a training, in MiB.
const STATES_MIB: u64 = 512;

/// Kinds of canaries at most.
const SETS: usize = 5;

pub(super) fn run(args: &ReproduceArgs) -> CommandResult {
    let uses_gpu = !matches!(args.device.device, DeviceChoice::Auto | DeviceChoice::Cpu);
    reject_unused_options(
        &[
            ("--observations", args.observations.is_some()),
            ("--device", uses_gpu),
            ("--float-mode", args.device.float_mode.is_some()),
        ],
        "with metagradient-canaries, which trains --runs repeats on the CPU",
    )?;
    args.plot.as_deref().map_or(Ok(()), check_drawing)?;
    let comparison = Comparison::new(args)?;
    let is_default = args.runs.is_none() && args.canaries.is_none() && args.metasteps.is_none();
    if is_default && is_drawn(args.show.quiet) {
        let Sizes { model, duration, .. } = comparison.sizes;
        print_note(&format!("{model}: {duration} on two cores; --runs and --metasteps shorten it"));
    }
    let threads = args.device.threads.map_or(0, usize::from);
    let pool = host::pool(threads)?;
    let report = pool.install(|| comparison.report(args.show.quiet, threads))?;
    if args.show.json {
        print_json(&report)?;
    } else {
        print_text(&table::text(&report))?;
    }
    if let Some(path) = &args.plot {
        write_drawing(path, &metagradient_canaries_svg(&report))?;
    }
    Ok(Exit::Done)
}

/// The number of an option in a range.
fn checked(
    option: &str,
    value: u64,
    allowed: std::ops::RangeInclusive<u64>,
) -> Result<u32, Failure> {
    let (least, most) = (allowed.start(), allowed.end());
    u32::try_from(value).ok().filter(|_| allowed.contains(&value)).ok_or_else(|| {
        Failure::input(format!("{option} is {value}; it must be from {least} to {most}"))
    })
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

impl Comparison {
    fn new(args: &ReproduceArgs) -> Result<Self, Failure> {
        let mut sizes = args.scale.unwrap_or(ScaleArg::Mlp).sizes();
        let most = u64::from(sizes.slots) / 2;
        let canaries = args.canaries.unwrap_or(sizes.canaries.into());
        sizes.canaries = checked("--canaries", canaries, 20..=most)?;
        sizes.metasteps = args.metasteps.unwrap_or(sizes.metasteps);
        let runs = checked("--runs", args.runs.unwrap_or(DEFAULT_RUNS), 2..=200)?;
        let model = SmoothModel::named(sizes.model)
            .ok_or_else(|| Failure::with(Exit::Internal, "a model without a name"))?;
        let records = u64::from(sizes.slots - sizes.canaries);
        let (seed, _) = seed_or_fresh(args.seed)?;
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
        let (spec, network) = network(sizes.model, &examples)?;
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
    fn report(&self, quiet: bool, threads: usize) -> Result<MetagradientCanariesReport, Failure> {
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
        let rounded = rounded(&self.examples, &optimised);
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
    ) -> Result<MetagradientCanariesReport, Failure> {
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
        Ok(MetagradientCanariesReport {
            schema: "dpscope.metagradient_canaries/1",
            version: env!("CARGO_PKG_VERSION"),
            model: self.sizes.model.to_owned(),
            parameters: self.network.parameters() as u64,
            data: self.examples.name().to_owned(),
            records: (self.sizes.slots - self.sizes.canaries).into(),
            canaries: self.sizes.canaries.into(),
            metasteps: self.sizes.metasteps.into(),
            runs: self.runs.into(),
            sgd: SgdSettings {
                steps: self.settings.steps as u64,
                batch_size: self.settings.batch_size as u64,
                learning_rate: self.settings.learning_rate,
                momentum: MOMENTUM,
            },
            dpsgd: self.dpsgd_settings()?,
            seed: self.seed.to_string(),
            comparisons: comparisons(&sets, self.runs.into()),
            sets,
            null: self.null(optimised, audits)?,
            published: PUBLISHED.into(),
        })
    }

    fn dpsgd_settings(&self) -> Result<DpSgdSettings, Failure> {
        let mechanism = self.sizes.mechanism();
        let Statement { delta, significance } = self.statement;
        let query = Query::upper(Training::from(&mechanism), Given::Delta(delta));
        let steps = u64::from(mechanism.steps_per_epoch);
        Ok(DpSgdSettings {
            noise_multiplier: mechanism.noise_multiplier,
            sampling_rate: 1.0 / steps as f64,
            steps: steps * u64::from(mechanism.epochs),
            clip_norm: CLIP_NORM,
            learning_rate: self.sizes.learning_rate,
            claimed_epsilon: Poisson.account(&query)?.epsilon,
            delta,
            significance,
            guesses: guesses_of(self.sizes.canaries.into()),
            references: REFERENCES.into(),
        })
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

/// Optimised canaries against the three other kinds.
fn comparisons(sets: &[CanarySetResult], runs: u64) -> Vec<CanarySetComparison> {
    let Some(optimised) = sets.iter().find(|one| one.set == CanarySetKind::Optimised) else {
        return Vec::new();
    };
    type Pick = fn(&CanarySetResult) -> MeanEstimate;
    let measures: [(CanaryMeasure, Pick); 3] = [
        (CanaryMeasure::SgdCalibratedAuc, |one| one.sgd_calibrated),
        (CanaryMeasure::DpsgdEstimate, |one| one.dpsgd_raw.estimate),
        (CanaryMeasure::DpsgdCalibratedEstimate, |one| one.dpsgd_calibrated.estimate),
    ];
    let is_other = |one: &&CanarySetResult| {
        !matches!(one.set, CanarySetKind::Optimised | CanarySetKind::OptimisedRounded)
    };
    let of_measure = |(measure, pick): (CanaryMeasure, Pick)| {
        let others = sets.iter().filter(is_other);
        others.map(move |one| {
            CanarySetComparison::new((measure, runs), (one.set, pick(one)), pick(optimised))
        })
    };
    measures.into_iter().flat_map(of_measure).collect()
}

/// A mean AUC.
fn of_auc(auc: MeanAuc) -> MeanEstimate {
    MeanEstimate { value: auc.value, standard_error: auc.standard_error }
}
