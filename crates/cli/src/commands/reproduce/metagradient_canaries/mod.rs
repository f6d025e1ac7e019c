//! `dpscope reproduce metagradient-canaries`: optimised canaries beside others.

mod audits;
mod comparison;
mod scale;
mod sets;
mod trainings;

pub(super) use scale::ScaleArg;

use dpscope_core::accounting::{Accountant, Given, Poisson, Query, Training};
use dpscope_train::data::Packed;
use dpscope_train::metagradient::{CanaryEvaluation, GradientPart, MeanAuc, StartLabels};
use serde_json::{Value, json};

use super::mean::MeanEstimate;
use super::names::{Table, written};
use super::one_run_validity::without_coverage::Statement;
use super::page::Reproduced;
use super::{ReproduceArgs, data};
use crate::commands::audit::dpsgd::{mechanism, one_run};
use crate::commands::canaries::optimise::rounded;
use crate::failure::Failure;
use crate::host;
use crate::output::print_note;
use crate::progress::{RowProgress, is_drawn};
use audits::Repeats;
use comparison::{comparisons, measures, sentences};
use scale::Sizes;
use sets::{CanarySet, with_redrawn_halves};
use trainings::{Comparison, MOMENTUM, REFERENCES, guesses_of};

/// Kinds of canaries at most; the last is a rounded one.
const SETS: usize = 5;

/// The kind that others are compared with.
const OPTIMISED: &str = "optimised";

pub(super) fn run(args: &ReproduceArgs, seed: u64) -> Result<Reproduced, Failure> {
    let pool = host::pool(args.threads())?;
    let comparison = pool.install(|| Comparison::new(args, seed))?;
    let is_default = args.runs.is_none() && args.canaries.is_none() && args.metasteps.is_none();
    if is_default && is_drawn(args.show.quiet) {
        let Sizes { model, duration, .. } = &comparison.sizes;
        print_note(&format!("{model}: {duration} on two cores; --runs and --metasteps shorten it"));
    }
    pool.install(|| comparison.report(args.show.quiet))
}

impl Comparison {
    /// All trainings.
    fn report(&self, quiet: bool) -> Result<Reproduced, Failure> {
        let (start, other) = (self.start(StartLabels::Own)?, self.start(StartLabels::Other)?);
        let rows = 2 * self.sizes.metasteps as usize + 2 * SETS;
        let progress = RowProgress::new(quiet, rows).with_estimate();
        let direct = ("direct-only", "direct part only");
        let mut sets = vec![
            CanarySet::records("random", &start),
            CanarySet::records("mislabelled", &other),
            self.optimised(direct, &start, GradientPart::Direct, &progress)?,
            self.optimised((OPTIMISED, OPTIMISED), &start, GradientPart::Whole, &progress)?,
        ];
        if matches!(self.examples.packed(), Packed::Bits { .. }) {
            let values = rounded(&sets[3].values);
            let (id, name) = ("optimised-rounded", "optimised, rounded");
            sets.push(CanarySet { id, name, values, ..sets[3] });
        }
        let base = self.base(&start)?;
        let (mut rows, mut null) = (Vec::with_capacity(sets.len() + 1), <[Value; 2]>::default());
        for set in &sets {
            progress.next(&format!("SGD, {}", set.name));
            let sgd = self.evaluated(set)?;
            progress.next(&format!("DP-SGD, {}", set.name));
            let dpsgd = self.train(set, &base)?;
            rows.push(self.row(set, &sgd, &dpsgd)?);
            if set.id == OPTIMISED {
                null = self.null(&sgd, &dpsgd)?;
            }
        }
        drop(progress);
        self.document(&sets, rows, null)
    }

    fn document(
        &self,
        sets: &[CanarySet<'_>],
        mut rows: Vec<Value>,
        [null_row, null_facts]: [Value; 2],
    ) -> Result<Reproduced, Failure> {
        let (runs, measures) = (u64::from(self.runs), measures()?);
        let compared = comparisons(&measures, &rows, runs);
        let sentences = sentences(&measures, &compared, runs);
        let description = sentences.iter().map(|(label, words)| format!("{label}: {words}."));
        let description = description.collect::<Vec<_>>().join(" ");
        let published: Vec<PublishedFigure> =
            data::csv(include_str!("../../../../papers/metagradient_canaries/published.csv"))?;
        rows.push(null_row);
        let mut facts = self.facts(sets)?;
        facts["null"] = null_facts;
        facts["found"] = description.into();
        let tables = vec![
            Table::new("comparisons", compared),
            Table::new("sets", rows),
            Table::new("published", published.iter().map(published_row)),
        ];
        let page = include_str!("../../../../papers/metagradient_canaries/page.toml");
        Ok(Reproduced::new(page, facts, tables, vec![("comparisons", sentences)]))
    }

    /// The row of a set: by the loss of the final model, and calibrated by the canary's mean loss in
    /// trainings without it.
    fn row(
        &self,
        set: &CanarySet<'_>,
        sgd: &CanaryEvaluation,
        dpsgd: &Repeats,
    ) -> Result<Value, Failure> {
        let mut row = json!({
            "set": set.id, "set_text": set.name, "best_metasteps": set.best_metasteps,
            "skipped": set.skipped, "sgd_raw": of_auc(sgd.raw()),
            "sgd_calibrated": of_auc(sgd.calibrated()),
        });
        for (prefix, auc, is_calibrated) in
            [("", "dpsgd_raw", false), ("calibrated_", "dpsgd_calibrated", true)]
        {
            let audited = self.audited(dpsgd, is_calibrated)?;
            let mut sorted = audited.bounds.clone();
            sorted.sort_unstable_by(f64::total_cmp);
            row[auc] = json!(audited.auc);
            row[format!("{prefix}estimate")] = json!(MeanEstimate::of(&audited.estimates));
            row[format!("{prefix}median_bound")] = json!(sorted[(sorted.len() - 1) / 2]);
            row[format!("{prefix}joint_bound")] = json!(self.joint_bound(dpsgd, is_calibrated)?);
            row[format!("{prefix}estimates")] = json!(audited.estimates);
            row[format!("{prefix}bounds")] = json!(audited.bounds);
        }
        Ok(row)
    }

    /// Sizes and settings of the trainings.
    fn facts(&self, sets: &[CanarySet<'_>]) -> Result<Value, Failure> {
        let Self { sizes, settings, audit, .. } = self;
        let mechanism = mechanism(audit)?;
        let dpsgd = one_run::settings(audit, &mechanism, None)?;
        let Statement { delta, significance } = self.statement();
        let query = Query::upper(Training::from(&mechanism), Given::Delta(delta));
        let claimed = Poisson.account(&query)?.epsilon;
        let optimised = sets.iter().take(SETS - 1);
        let best =
            optimised.filter_map(|set| Some(format!("{} {}", set.name, set.best_metasteps?)));
        let skipped = sets.iter().map(|set| set.skipped).max().filter(|&skipped| skipped > 0);
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
                "steps": mechanism.steps_per_epoch * mechanism.epochs, "clip_norm": dpsgd.clip_norm,
                "learning_rate": dpsgd.learning_rate, "delta": delta, "significance": significance,
                "claimed_epsilon": claimed, "guesses": guesses_of(sizes.canaries.into()),
                "references": REFERENCES,
            },
        }))
    }

    /// Row and facts of optimised canaries with coins that are drawn after the trainings: nothing leaks.
    fn null(&self, sgd: &CanaryEvaluation, dpsgd: &Repeats) -> Result<[Value; 2], Failure> {
        let redrawn = with_redrawn_halves(sgd, self.seed);
        let sgd_raw = of_auc(redrawn.raw());
        let calibrated = CanaryEvaluation { scores: sgd.calibrated_scores(), ..redrawn };
        let [raw, games] = [self.redrawn(dpsgd, false)?, self.redrawn(dpsgd, true)?];
        let mut estimates = games.estimates;
        estimates.sort_unstable_by(f64::total_cmp);
        let count = estimates.len();
        let at_95 = (95 * count).div_ceil(100).max(1) - 1;
        let above = |values: &[f64]| values.iter().filter(|&&value| value > 0.0).count();
        let (estimates_above, bounds_above) = (above(&estimates), above(&games.bounds));
        let percent = |above: usize| 100.0 * above as f64 / count as f64;
        let row = json!({
            "set": "coins-redrawn", "set_text": "coins redrawn", "sgd_raw": sgd_raw,
            "sgd_calibrated": of_auc(calibrated.raw()), "dpsgd_raw": raw.auc,
            "dpsgd_calibrated": games.auc, "calibrated_estimate": MeanEstimate::of(&estimates),
        });
        let facts = json!({
            "games": count, "estimate_quantile_95": estimates[at_95],
            "estimates_above_zero": estimates_above,
            "estimates_above_zero_percent": percent(estimates_above),
            "bounds_above_zero": bounds_above, "bounds_above_zero_percent": percent(bounds_above),
        });
        Ok([row, facts])
    }
}

/// A mean AUC.
fn of_auc(auc: MeanAuc) -> MeanEstimate {
    MeanEstimate { value: auc.value, standard_error: auc.standard_error }
}

/// A kind, and its published figures: of each pair, that of arXiv:2507.15836 and of its submission.
type PublishedFigure = (String, [[f64; 2]; 4]);

fn published_row((set, figures): &PublishedFigure) -> Value {
    let columns = ["scratch_coins", "scratch_pairs", "finetuned_coins", "finetuned_pairs"];
    let mut row = json!({ "set": set });
    for (name, figure) in columns.into_iter().zip(figures) {
        row[name] = json!(figure);
        row[format!("{name}_text")] =
            figure.map(|value| written(value, "0.000")).join(" / ").into();
    }
    row
}
