//! Two models in memory: the cosines of canaries with their difference.

use dpscope_core::audit::one_shot::{CosineNull, unseen_finding};
use dpscope_core::foreign_text::ForeignText;
use dpscope_formats::Array;
use dpscope_simulation::{CanaryDirections, ModelChange};

use crate::{
    CONTROL, CommittedFederatedPlan, FederatedScores, File, FileError, RecordedError,
    ReleaseSummary, class_findings, flattening_problem,
};

/// Directions that no client sent, whose cosines are tested for uniformity.
pub const UNSEEN: u64 = 200;

/// Arrays that a message names.
const SHOWN: usize = 6;

/// Names and shapes of the arrays of a model, by sorted name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelLayout(pub Vec<(String, Vec<u64>)>);

impl ModelLayout {
    /// Number of parameters.
    #[must_use]
    pub fn parameters(&self) -> u64 {
        self.0.iter().map(|(_, shape)| shape.iter().product::<u64>()).sum()
    }

    /// Why it is no model of a plan of so many parameters.
    #[must_use]
    pub fn dimension_problem(&self, dimension: u64) -> Option<String> {
        let parameters = self.parameters();
        (parameters != dimension).then(|| {
            format!(
                "has {parameters} parameters ({}), but the plan has {dimension}; save only trained \
                 parameters",
                self.text()
            )
        })
    }

    /// Why it has not the parameters of another file, `name`.
    #[must_use]
    pub fn difference(&self, other: &Self, name: &str) -> Option<String> {
        (self != other).then(|| {
            format!(
                "has different arrays ({}) from {name} ({}); save the same parameters in every file",
                self.text(),
                other.text()
            )
        })
    }

    /// The first arrays with their shapes.
    fn text(&self) -> String {
        let shown = |(name, shape): &(String, Vec<u64>)| match name.as_str() {
            "" => format!("one array {shape:?}"),
            name => format!("{} {shape:?}", ForeignText::new(name)),
        };
        let more = (self.0.len() > SHOWN).then(|| "…".to_owned());
        let shown: Vec<String> = self.0.iter().take(SHOWN).map(shown).chain(more).collect();
        shown.join(", ")
    }
}

/// Arrays of a model by sorted name.
struct Model<'a> {
    file: &'a File<'a>,
    arrays: Vec<(String, Array)>,
}

impl<'a> Model<'a> {
    fn read(file: &'a File<'a>) -> Result<Self, FileError> {
        let dataset = file.dataset()?;
        let names: Vec<String> = dataset.names().into_iter().map(str::to_owned).collect();
        let about = |error| file.unreadable(error);
        let mut arrays = match names.is_empty() {
            true => vec![(String::new(), dataset.into_only().map_err(about)?)],
            false => names
                .into_iter()
                .map(|name| dataset.array(&name).map_err(about).map(|array| (name, array)))
                .collect::<Result<_, _>>()?,
        };
        arrays.sort_by(|(one, _), (other, _)| one.cmp(other));
        let diverged = arrays.iter().find_map(|(name, array)| Some((name, array.non_finite()?)));
        if let Some((name, bad)) = diverged {
            let array = match name.as_str() {
                "" => String::new(),
                name => format!(" of array `{}`", ForeignText::new(name)),
            };
            return Err(file.refused(format!(
                "has {} at index {:?}{array}: the training diverged, so it cannot be audited",
                bad.value, bad.index
            )));
        }
        Ok(Self { file, arrays })
    }

    fn layout(&self) -> ModelLayout {
        let shape = |array: &Array| array.shape().iter().map(|&length| length as u64).collect();
        ModelLayout(self.arrays.iter().map(|(name, array)| (name.clone(), shape(array))).collect())
    }

    fn parameters(self) -> Vec<f64> {
        self.arrays.into_iter().flat_map(|(_, array)| array.into_data()).collect()
    }

    fn check(&self, problem: Option<String>) -> Result<(), FileError> {
        problem.map_or(Ok(()), |problem| Err(self.file.refused(problem)))
    }
}

/// Scores of the canaries of a plan from the models before and after a training, and the digest that the
/// plan is bound to.
///
/// # Errors
/// Models that cannot be read, that differ in their arrays, or that are equal.
pub fn model_scores(
    initial: &File<'_>,
    last: &File<'_>,
    null: &CosineNull,
    plan: &CommittedFederatedPlan,
) -> Result<(FederatedScores, String), RecordedError> {
    let dimension = plan.plan.dimension;
    let (before, after) = (Model::read(initial)?, Model::read(last)?);
    after.check(after.layout().difference(&before.layout(), initial.name))?;
    after.check(after.layout().dimension_problem(dimension))?;
    let mut change = after.parameters();
    let before = before.parameters();
    change.iter_mut().zip(before).for_each(|(after, before)| *after -= before);
    let read = |first: u64, count: usize| {
        Ok::<_, FileError>(change.iter().skip(first as usize).take(count).copied().collect())
    };
    let summary = ReleaseSummary::of(dimension, read)?;
    let scaled = change.into_iter().map(|entry| (entry / summary.unit) as f32).collect();
    let scaled = summary.has_direction().then(|| ModelChange::of_scaled(scaled)).flatten();
    let change = scaled.ok_or_else(|| last.refused(unchanged(summary, initial.name)))?;
    let mut directions = CanaryDirections::new(plan.direction_seed(), dimension as usize);
    let all: Vec<u64> = (0..plan.inserted() + UNSEEN).chain([CONTROL]).collect();
    let mut cosines = Vec::new();
    directions.cosines_of(&all, std::slice::from_ref(&change), &mut cosines);
    let control = cosines.pop().unwrap_or_default();
    let scores = FederatedScores::of_directions(&cosines, control, null, plan)?;
    Ok((scores, ReleaseSummary::digest_of(&[summary], "FinalModel")))
}

/// Refuses an update of canary 0, as the audited code flattens it, in another direction than that of the
/// plan.
///
/// # Errors
/// A file that cannot be read, another number of parameters, or another direction.
pub fn check_flattening(
    control: &File<'_>,
    plan: &CommittedFederatedPlan,
) -> Result<(), FileError> {
    let sent = Model::read(control)?;
    sent.check(sent.layout().dimension_problem(plan.plan.dimension))?;
    let values = sent.parameters();
    let read = |first: u64, count: usize| {
        Ok::<_, FileError>(values.iter().skip(first as usize).take(count).copied().collect())
    };
    let problem = flattening_problem(plan, read)?;
    problem.map_or(Ok(()), |problem| Err(control.refused(problem)))
}

fn unchanged(summary: ReleaseSummary, initial: &str) -> String {
    if summary.unit == 0.0 {
        format!("has the same parameters as {initial}: add the model after the training")
    } else {
        format!("differs from {initial} by more than f64 holds: add models that did not diverge")
    }
}

impl FederatedScores {
    /// From the cosines of the canaries of a plan, of [`UNSEEN`] directions after them, and of the
    /// control client with the change of a model.
    ///
    /// # Errors
    /// A cosine outside \[−1, 1\].
    pub fn of_directions(
        cosines: &[f64],
        control: f64,
        null: &CosineNull,
        plan: &CommittedFederatedPlan,
    ) -> Result<Self, RecordedError> {
        let inserted = plan.inserted();
        let (seen, unseen) = cosines.split_at(cosines.len().min(inserted as usize));
        let of_class = class_findings(null, plan, (0..).zip(seen.iter().copied()))?;
        Ok(Self {
            tails: null.tails(seen)?,
            exact_tails: None,
            cosines: seen.to_vec(),
            inserted,
            control: Some(control),
            is_control_seen: false,
            findings: unseen_finding(&null.tails(unseen)?).into_iter().chain(of_class).collect(),
        })
    }
}
