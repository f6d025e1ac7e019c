//! The result: file of the canaries, report and drawing.

use dpscope_formats::Array;
use dpscope_report::figure::{CanaryPictures, canary_optimization_svg};
use dpscope_report::record::{
    AucEstimate, CanaryComparison, CanaryOptimizationReport, CanaryValidation, ComparedCanaries,
};
use dpscope_report::text::canary_optimization_text;
use dpscope_report::words::differs;
use dpscope_train::data::Packed;
use dpscope_train::metagradient::{
    Interruption, MeanAuc, MetaUpdate, OptimizationState, Optimizer, Validation,
};

use super::args::StartArg;
use super::steps::{Command, shown};
use crate::args::write_drawing;
use crate::canary_plan::digest_of_file;
use crate::commands::canaries::file::{canary_file, check_keeps_canaries, write_canaries};
use crate::failure::Failure;
use crate::output::{print_json, print_note, print_text};

/// Below this, metagradients mislead.
const LEAST_SMOOTHNESS: f64 = 0.8;

/// Number of the comparison, which no other evaluation has.
const COMPARISON: u32 = 0;

impl Command<'_> {
    fn has_binary_features(&self) -> bool {
        matches!(self.examples.packed(), Packed::Bits { .. })
    }

    /// The canaries of the file.
    fn in_file(&self, state: &OptimizationState) -> Vec<f32> {
        let best = state.best_canaries();
        match self.has_binary_features() && !self.args.relaxed {
            true => rounded(best),
            false => best.to_vec(),
        }
    }

    /// Compares the canaries before and after on splits of their own.
    pub(super) fn compared(
        &self,
        state: &OptimizationState,
    ) -> Result<Vec<CanaryComparison>, Interruption> {
        let best = state.best_canaries();
        let mut kinds = vec![
            (ComparedCanaries::Start, self.start.canaries.clone()),
            (ComparedCanaries::Optimised, best.to_vec()),
        ];
        if self.has_binary_features() {
            kinds.push((ComparedCanaries::Rounded, rounded(best)));
        }
        let splits = self.optimization.settings.validation_splits;
        let compare = |(canaries, values): (ComparedCanaries, Vec<f32>)| {
            let found = self.optimization.evaluate(COMPARISON, splits, &values)?;
            let [raw, calibrated, per_canary] =
                [found.raw(), found.calibrated(), found.per_canary()].map(estimate);
            Ok(CanaryComparison { canaries, raw, calibrated, per_canary })
        };
        kinds.into_iter().map(compare).collect()
    }

    /// Writes the canaries, prints the report and draws it.
    pub(super) fn finish(
        &self,
        state: &OptimizationState,
        (metasmoothness, devices): (f64, Vec<String>),
        comparison: Vec<CanaryComparison>,
        rough: Option<String>,
    ) -> Result<(), Failure> {
        write_canaries(&self.args.out, &self.canary_file(state)?)?;
        let mut warnings: Vec<String> = rough.into_iter().collect();
        if metasmoothness < LEAST_SMOOTHNESS {
            warnings.push(format!(
                "metasmoothness {metasmoothness:.2} is below {LEAST_SMOOTHNESS}, so metagradients \
                 are unreliable; use smoother layers, larger batches, a smaller learning rate or \
                 a scale layer"
            ));
        }
        if state.skipped() > 0 {
            warnings.push(format!(
                "{} of {} metasteps were skipped, since a training diverged; reduce --learning-rate",
                state.skipped(),
                state.metasteps()
            ));
        }
        if devices.len() > 1 {
            warnings.push(format!(
                "computed on {}, which agree within rounding only: another run need not return the \
                 same bits",
                devices.join(" and ")
            ));
        }
        let of = |canaries| {
            comparison.iter().find(|line| line.canaries == canaries).map(|line| line.calibrated)
        };
        let kinds =
            [ComparedCanaries::Start, ComparedCanaries::Optimised, ComparedCanaries::Rounded];
        if let ([Some(start), Some(relaxed), Some(rounded)], false) =
            (kinds.map(of), self.args.relaxed)
            && differs(start, relaxed) == Some(true)
            && differs(start, rounded) != Some(true)
        {
            warnings.push(
                "rounding to 0 and 1 undoes the gain; use more metasteps, a larger --step-size, or \
                 --relaxed"
                    .to_owned(),
            );
        }
        let report = self.report(state, (metasmoothness, devices), comparison, warnings)?;
        match self.args.show.json {
            true => print_json(&report)?,
            false => print_text(&canary_optimization_text(&report))?,
        }
        for warning in report.warnings.iter().filter(|_| self.args.show.json) {
            print_note(&format!("warning: {warning}"));
        }
        if let Some(path) = &self.args.plot {
            let shape = self.examples.shape();
            let range = self.optimization.ranges.all();
            let optimised = self.in_file(state);
            let pictures = CanaryPictures {
                shape: [shape.channels, shape.height, shape.width],
                range,
                start: &self.start.canaries,
                optimised: &optimised,
            };
            write_drawing(path, &canary_optimization_svg(&report, &pictures))?;
        }
        Ok(())
    }

    fn report(
        &self,
        state: &OptimizationState,
        (metasmoothness, devices): (f64, Vec<String>),
        comparison: Vec<CanaryComparison>,
        warnings: Vec<String>,
    ) -> Result<CanaryOptimizationReport, Failure> {
        let settings = self.optimization.settings;
        let validation = |one: &Validation| CanaryValidation {
            metasteps: one.metasteps.into(),
            raw: estimate(one.raw),
            per_canary: estimate(one.per_canary),
        };
        Ok(CanaryOptimizationReport {
            schema: "dpscope.canary_optimisation/1",
            version: env!("CARGO_PKG_VERSION"),
            file: shown(&self.args.out),
            canaries_digest: digest_of_file(&self.args.out)?,
            canaries: self.args.count,
            model: self.args.model.clone(),
            parameters: self.optimization.network.parameters() as u64,
            data: self.examples.name().to_owned(),
            records: self.start.base_records().into(),
            is_mislabelled: self.args.start == StartArg::Mislabelled,
            steps: settings.steps as u64,
            batch_size: settings.batch_size as u64,
            learning_rate: settings.learning_rate,
            momentum: match settings.rule {
                Optimizer::Momentum { momentum, .. } => momentum,
                _ => 0.0,
            },
            splits: settings.splits.into(),
            update: match settings.update {
                MetaUpdate::Sign => "sign",
                MetaUpdate::Gradient => "gradient",
                MetaUpdate::Momentum => "momentum",
            }
            .to_owned(),
            step_size: settings.step_size,
            seed: settings.seed.to_string(),
            metasmoothness,
            devices,
            metasteps: state.metasteps().into(),
            skipped: state.skipped().into(),
            best_metasteps: state.best.as_ref().map_or(0, |best| best.metasteps.into()),
            is_rounded: self.has_binary_features() && !self.args.relaxed,
            objectives: state.objectives.clone(),
            validations: state.validations.iter().map(validation).collect(),
            compared_splits: settings.validation_splits.into(),
            comparison,
            warnings,
        })
    }

    /// Refuses an existing output, unless the saved optimisation wrote it.
    pub(super) fn check_out(&self, saved: &OptimizationState) -> Result<(), Failure> {
        let is_finished = self.optimization.is_finished(saved);
        let own = is_finished.then(|| self.canary_file(saved)).transpose()?;
        check_keeps_canaries(&self.args.out, own.as_deref())
    }

    /// Inputs in the units of the data, labels as in their file, and the records that canaries started
    /// from.
    fn canary_file(&self, state: &OptimizationState) -> Result<Vec<u8>, Failure> {
        let (shape, count) = (self.examples.shape(), self.start.labels.len());
        let axes = match shape.height * shape.width == 1 {
            true => vec![count, shape.len()],
            false => vec![count, shape.channels, shape.height, shape.width],
        };
        let array = |axes: &[usize], values: Vec<f64>| {
            Array::new(axes.to_vec(), values).map_err(Failure::input)
        };
        let features = |values: &[f32]| array(&axes, values.iter().map(|&v| v.into()).collect());
        let classes = self.examples.load_summary().map(|summary| &summary.classes);
        let label = |&label: &u32| match classes.and_then(|known| known.get(label as usize)) {
            Some(&(in_file, _)) => f64::from(in_file),
            None => f64::from(label),
        };
        let origin = |&record: &u32| f64::from(self.examples.origin(record));
        let mut arrays = vec![
            ("inputs", features(&self.in_file(state))?),
            ("labels", array(&[count], self.start.labels.iter().map(label).collect())?),
            ("indices", array(&[count], self.start.records.iter().map(origin).collect())?),
        ];
        if self.has_binary_features() && !self.args.relaxed {
            arrays.push(("relaxed", features(state.best_canaries())?));
        }
        canary_file(&arrays)
    }
}

fn estimate(auc: MeanAuc) -> AucEstimate {
    AucEstimate { value: auc.value, standard_error: auc.standard_error }
}

/// Binary features.
pub(crate) fn rounded(values: &[f32]) -> Vec<f32> {
    values.iter().map(|&value| if value >= 0.5 { 1.0 } else { 0.0 }).collect()
}
