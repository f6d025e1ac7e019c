//! Derivatives of trainings with respect to their canaries, as in `metagradient.json`.

use std::collections::{BTreeMap, HashMap};
use std::convert::Infallible;

use dpscope_core::math;
use dpscope_train::metagradient::{
    Augmentation, BatchRows, Checkpointing, Cost, Derivatives, InnerTraining, Metagradient,
    Occurrence, Optimizer, Record, Records, ReferenceDerivatives, Reversible, Segment, UpdateRule,
    metasmoothness, reverse,
};
use dpscope_train::{LayerSpec, ModelSpec, Network, Shape};
use serde::Deserialize;

use super::document::{Case, Document, GoldenError};
use super::library::{Answer, Library};
use super::{Finding, Outcome};

/// Difference from the expected vector, in units of its largest value.
const TOLERANCE: f64 = 1e-10;
/// Difference from the expected derivatives of one example, in units of the largest value.
const PRODUCT_TOLERANCE: f64 = 1e-12;

#[derive(Debug, Clone, Deserialize)]
struct Dataset {
    base: Vec<Vec<f64>>,
    base_labels: Vec<u32>,
    canaries: Vec<Vec<f64>>,
    canary_labels: Vec<u32>,
}

#[derive(Debug, Clone, Deserialize)]
struct ModelFields {
    layers: Vec<LayerSpec>,
    input: [usize; 3],
    logit_scale: f64,
}

impl ModelFields {
    fn network(&self, case: &Case<'_>) -> Result<Network, GoldenError> {
        let [channels, height, width] = self.input;
        let mut layers = self.layers.clone();
        if self.logit_scale != 1.0 {
            layers.push(LayerSpec::Scale { factor: self.logit_scale });
        }
        let spec = ModelSpec { input: Shape { channels, height, width }, layers };
        Network::new(&spec).map_err(|error| case.error(&error.to_string()))
    }
}

#[derive(Debug, Deserialize)]
struct OptimizerFields {
    kind: String,
    #[serde(default)]
    momentum: f64,
    #[serde(default)]
    weight_decay: f64,
    #[serde(default)]
    beta1: f64,
    #[serde(default)]
    beta2: f64,
    #[serde(default)]
    eps: f64,
    #[serde(default)]
    eps_root: f64,
}

impl OptimizerFields {
    fn optimizer(&self, case: &Case<'_>) -> Result<Optimizer, GoldenError> {
        let &OptimizerFields { momentum, weight_decay, beta1, beta2, .. } = self;
        Ok(match &self.kind[..] {
            "sgd" | "momentum" => Optimizer::Momentum { momentum, weight_decay },
            "nesterov" => Optimizer::Nesterov { momentum, weight_decay },
            "decoupled" => Optimizer::DecoupledDecay { momentum, weight_decay },
            "adam" => {
                let (epsilon, epsilon_root) = (self.eps, self.eps_root);
                Optimizer::Adam { beta1, beta2, epsilon, epsilon_root, weight_decay }
            }
            other => return Err(case.error(&format!("unknown optimizer `{other}`"))),
        })
    }
}

#[derive(Debug, Deserialize)]
struct AugmentationFields {
    flip: bool,
    dy: i32,
    dx: i32,
}

#[derive(Debug, Deserialize)]
struct TrainingFields {
    dataset: String,
    theta0: Vec<f64>,
    optimizer: OptimizerFields,
    learning_rates: Vec<f64>,
    clip_norm: Option<f64>,
    noise_scale: Option<f64>,
    batches: Vec<Vec<(String, u32, Option<AugmentationFields>)>>,
    weights: Vec<f64>,
}

/// A training and its canaries.
#[derive(Debug, Clone)]
pub struct MetagradientProblem {
    /// The model.
    pub network: Network,
    /// The optimiser.
    pub optimizer: Optimizer,
    /// The rows of each step.
    pub batches: Vec<Vec<Occurrence>>,
    /// Values of all canaries.
    pub canaries: Vec<f64>,
    data: Dataset,
    initial: Vec<f64>,
    learning_rates: Vec<f64>,
    weights: Vec<f64>,
    clip_norm: Option<f64>,
    noise_scale: Option<f64>,
}

impl Records<f64> for Dataset {
    fn append(&self, record: u32, examples: &mut Vec<f64>) -> u32 {
        examples.extend_from_slice(&self.base[record as usize]);
        self.base_labels[record as usize]
    }
}

impl MetagradientProblem {
    fn new(case: &Case<'_>, datasets: &BTreeMap<String, Dataset>) -> Result<Self, GoldenError> {
        let network = case.parsed::<ModelFields>()?.network(case)?;
        let fields = case.parsed::<TrainingFields>()?;
        let data = datasets.get(&fields.dataset);
        let data = data.ok_or_else(|| case.error("names no data set of the file"))?.clone();
        let occurrence = |(source, index, augmentation): &(String, u32, Option<_>)| {
            let (record, count) = match &source[..] {
                "b" => (Record::Base(*index), data.base.len()),
                _ => (Record::Canary(*index), data.canaries.len()),
            };
            if *index as usize >= count {
                return Err(case.error("a batch names a record that is not in the data set"));
            }
            let changed = |&AugmentationFields { flip, dy, dx }: &AugmentationFields| {
                Augmentation { is_flipped: flip, down: dy, right: dx }
            };
            Ok(Occurrence { record, augmentation: augmentation.as_ref().map(changed) })
        };
        let batches = fields.batches.iter().map(|rows| rows.iter().map(occurrence).collect());
        let is_sized = fields.theta0.len() == network.parameters()
            && fields.learning_rates.len() == fields.batches.len()
            && fields.weights.len() == data.canaries.len()
            && data.canaries.iter().chain(&data.base).all(|row| row.len() == network.inputs());
        if !is_sized {
            return Err(case.error("has lists of other lengths than its model and data"));
        }
        Ok(MetagradientProblem {
            optimizer: fields.optimizer.optimizer(case)?,
            batches: batches.collect::<Result<_, _>>()?,
            canaries: data.canaries.concat(),
            initial: fields.theta0,
            learning_rates: fields.learning_rates,
            weights: fields.weights,
            clip_norm: fields.clip_norm,
            noise_scale: fields.noise_scale,
            network,
            data,
        })
    }

    /// Derivatives of the model.
    #[must_use]
    pub fn reference(&self) -> ReferenceDerivatives<'_> {
        ReferenceDerivatives::new(&self.network)
    }

    /// Calls `use_training` with the training, by some rule.
    fn with_training<T>(
        &self,
        rule: &dyn UpdateRule<f64>,
        use_training: impl FnOnce(&InnerTraining<'_, f64>) -> T,
    ) -> T {
        let scale = self.noise_scale.unwrap_or(0.0);
        let noise = move |step: usize, sum: &mut [f64]| {
            for (p, value) in sum.iter_mut().enumerate() {
                *value += scale * math::sin((p * (step + 1)) as f64);
            }
        };
        use_training(&InnerTraining {
            base: &self.data,
            labels: &self.data.canary_labels,
            weights: &self.weights,
            initial: &self.initial,
            batches: &self.batches,
            learning_rates: &self.learning_rates,
            rule,
            clip_norm: self.clip_norm,
            noise: Some(&noise),
            keep_going: &|| true,
        })
    }

    /// Objective and derivatives by some rule and with some derivatives of the model.
    ///
    /// # Errors
    /// The training diverged.
    pub fn solve<D: Derivatives<Number = f64>>(
        &self,
        derivatives: &mut D,
        rule: &dyn UpdateRule<f64>,
    ) -> Answer<Metagradient<f64>> {
        self.with_training(rule, |training| {
            training.metagradient(derivatives, &self.canaries, Checkpointing::StoreAll)
        })
        .map_err(|error| error.to_string())
    }

    /// The canaries moved by `h` along cos(1.9 p + 0.3).
    fn moved(&self, h: f64) -> Vec<f64> {
        self.canaries.iter().enumerate().map(|(p, value)| value + h * direction(p)).collect()
    }

    fn objective_at(&self, library: &dyn Library, h: f64) -> Answer<f64> {
        let problem = MetagradientProblem { canaries: self.moved(h), ..self.clone() };
        library.metagradient(&problem).map(|found| found.objective)
    }

    fn parameters_at(&self, h: f64) -> Answer<Vec<f64>> {
        let train = |training: &InnerTraining<'_, f64>| {
            training.train(&mut self.reference(), &self.moved(h))
        };
        let trained = self.with_training(&self.optimizer, train);
        trained.map_err(|error| error.to_string())
    }
}

fn direction(place: usize) -> f64 {
    math::cos(1.9 * place as f64 + 0.3)
}

pub(super) fn evaluate(
    document: &Document,
    library: &dyn Library,
) -> Result<Vec<Finding>, GoldenError> {
    let whole = document.whole();
    let datasets = whole.at("datasets")?.parsed()?;
    let mut findings = document.each_case(|case| training(case, &datasets, library))?;
    let cases = whole.at("cases")?.list()?;
    for (index, case) in whole.at("finite_differences")?.list()?.into_iter().enumerate() {
        let case = case.with_id(format!("finite_differences-{}", index + 1));
        let id = case.at("case")?.text()?;
        let of_case = cases.iter().find(|other| {
            other.at("id").is_ok_and(|other| other.text().is_ok_and(|other| other == id))
        });
        let of_case = of_case.ok_or_else(|| case.error("names no case of the file"))?;
        let problem = MetagradientProblem::new(of_case, &datasets)?;
        findings.extend(finite_differences(&case, &problem, library)?);
    }
    for (index, case) in whole.at("products")?.list()?.into_iter().enumerate() {
        findings.extend(products(&case.with_id(format!("products-{}", index + 1)))?);
    }
    for (index, case) in whole.at("checkpointing")?.at("counts")?.list()?.into_iter().enumerate() {
        findings.extend(counts(&case.with_id(format!("checkpointing-{}", index + 1)))?);
    }
    Ok(findings)
}

/// Compares a vector, relative to its largest value.
fn compared(
    expected: &Case<'_>,
    seen: &Answer<Vec<f64>>,
    tolerance: f64,
) -> Result<Finding, GoldenError> {
    let values: Vec<f64> = match expected.parsed::<Vec<Vec<f64>>>() {
        Ok(rows) => rows.concat(),
        Err(_) => expected.parsed()?,
    };
    let seen = match seen {
        Ok(seen) => seen,
        Err(refusal) => {
            return Ok(expected.finding(f64::INFINITY, Outcome::Failed(refusal.clone())));
        }
    };
    if seen.len() != values.len() {
        return Err(expected.error(&format!("has {} values, not {}", values.len(), seen.len())));
    }
    let largest = values.iter().fold(0.0, |most: f64, value| most.max(value.abs()));
    let mut distance = 0.0;
    for (expected, seen) in values.iter().zip(seen) {
        let difference = (expected - seen).abs();
        // NaN is no agreement.
        distance = if difference <= distance { distance } else { difference };
    }
    let allowed = tolerance * largest;
    let outcome = if distance <= allowed {
        Outcome::Passed
    } else {
        Outcome::Failed(format!("differs by {distance:e}, more than {allowed:e}"))
    };
    Ok(Finding { relative: distance / largest, ..expected.finding(distance, outcome) })
}

fn training(
    case: &Case<'_>,
    datasets: &BTreeMap<String, Dataset>,
    library: &dyn Library,
) -> Result<Vec<Finding>, GoldenError> {
    let problem = MetagradientProblem::new(case, datasets)?;
    let found = library.metagradient(&problem);
    let of = |select: fn(&Metagradient<f64>) -> Vec<f64>| {
        found.as_ref().map(select).map_err(Clone::clone)
    };
    let expected = case.at("expected")?;
    let objective = found.as_ref().map(|found| found.objective).map_err(Clone::clone);
    let mut findings =
        vec![expected.at("phi")?.compared(objective, |value| TOLERANCE * value.max(1.0))?];
    for (name, seen) in [
        ("metagradient", of(|found| found.gradient.clone())),
        ("direct", of(|found| found.direct.clone())),
        ("theta_T", of(|found| found.parameters.clone())),
        ("lambda_0", of(|found| found.initial_gradient.clone())),
    ] {
        findings.push(compared(&expected.at(name)?, &seen, TOLERANCE)?);
    }
    Ok(findings)
}

fn finite_differences(
    case: &Case<'_>,
    problem: &MetagradientProblem,
    library: &dyn Library,
) -> Result<Vec<Finding>, GoldenError> {
    let found = library.metagradient(problem);
    let along = |select: fn(&Metagradient<f64>) -> &[f64]| {
        let product = |values: &[f64]| -> f64 {
            values.iter().enumerate().map(|(p, value)| value * direction(p)).sum()
        };
        found.as_ref().map(|found| product(select(found))).map_err(Clone::clone)
    };
    let derivative = case.at("derivative")?;
    let exact = derivative.number()?;
    let within = |value: f64| TOLERANCE * value.max(1.0);
    let mut findings = vec![
        derivative.compared(along(|found| &found.gradient), within)?,
        case.at("direct_only")?.compared(along(|found| &found.direct), within)?,
    ];
    for row in case.at("central_differences_h_value_error")?.list()? {
        let [h, value, error] = &row.list()?[..] else {
            return Err(row.error("expected step, value and error"));
        };
        let step = h.number()?;
        let ends = [step, -step].map(|h| problem.objective_at(library, h));
        let [ahead, behind] = ends;
        let difference = ahead.and_then(|ahead| Ok((ahead - behind?) / (2.0 * step)));
        // The objective is exact to a few units of its last digit.
        let rounding = 1e-15 / step;
        findings.push(value.compared(difference.clone(), |value| within(value) + rounding)?);
        let seen = difference.map(|difference| (difference - exact).abs());
        findings.push(error.compared(seen, |value| within(value) + rounding)?);
    }
    let h = 0.05;
    let parameters: Answer<Vec<_>> =
        [0.0, h, 2.0 * h].iter().map(|&h| problem.parameters_at(h)).collect();
    let smoothness = parameters.map(|at| metasmoothness([&at[0][..], &at[1], &at[2]]));
    findings.push(case.at("metasmoothness_at_h_0_05")?.compared(smoothness, within)?);
    Ok(findings)
}

fn products(case: &Case<'_>) -> Result<Vec<Finding>, GoldenError> {
    let network = case.parsed::<ModelFields>()?.network(case)?;
    let vector = |name: &str| case.at(name)?.parsed::<Vec<f64>>();
    let (theta, direction, example) = (vector("theta")?, vector("direction")?, vector("example")?);
    let label = case.at("label")?.parsed::<u32>()?;
    let (count, inputs) = (network.parameters(), network.inputs());
    if theta.len() != count || direction.len() != count || example.len() != inputs {
        return Err(case.error("has lists of other lengths than its model"));
    }
    let batch = BatchRows { examples: &example, sparse: &[], labels: &[label], canaries: 1 };
    let mut reference = ReferenceDerivatives::new(&network);
    let [mut gradient, mut product] = [vec![0.0; count], vec![0.0; count]];
    let [mut input_gradient, mut cross] = [vec![0.0; inputs], vec![0.0; inputs]];
    let loss = reference.objective(&theta, batch, &[1.0], &mut gradient, &mut input_gradient);
    reference.product(&theta, &direction, batch, None, &mut product, &mut cross);
    let (_, tangent) = network.tangent(&theta, &direction, &example, label as usize);
    let mut findings = Vec::new();
    for (name, seen) in [("loss", loss), ("tangent", tangent)] {
        let within = |value: f64| PRODUCT_TOLERANCE * value;
        findings.push(case.at(name)?.compared(Ok(seen), within)?);
    }
    for (name, seen) in [
        ("gradient", gradient),
        ("hessian_product", product),
        ("input_gradient", input_gradient),
        ("cross_product", cross),
    ] {
        findings.push(compared(&case.at(name)?, &Ok(seen), PRODUCT_TOLERANCE)?);
    }
    Ok(findings)
}

/// A process that does nothing.
struct Idle;

impl Reversible for Idle {
    type State = ();
    type Error = Infallible;

    fn advance(&mut self, _: usize, (): &mut ()) -> Result<(), Infallible> {
        Ok(())
    }

    fn finish(&mut self, (): &()) -> Result<(), Infallible> {
        Ok(())
    }

    fn visit(&mut self, _: usize, (): &()) -> Result<(), Infallible> {
        Ok(())
    }
}

fn counts(case: &Case<'_>) -> Result<Vec<Finding>, GoldenError> {
    let steps = case.at("steps")?.parsed::<usize>()?;
    let most_states = case.at("most_states")?;
    let Ok(cost) = match case.at("scheme")?.text()? {
        "two-level" => Checkpointing::TwoLevel.reverse(&mut Idle, steps, ()),
        "revolve" => {
            let states = most_states.parsed()?;
            Checkpointing::Revolve { states }.reverse(&mut Idle, steps, ())
        }
        "tree" => tree(steps, case.at("arity")?.parsed()?),
        other => return Err(case.error(&format!("unknown scheme `{other}`"))),
    };
    let Cost { forward_steps, most_states: states } = cost;
    let exact = |_: f64| 0.0;
    Ok(vec![
        case.at("forward_steps")?.compared(Ok(forward_steps as f64), exact)?,
        most_states.compared(Ok(states as f64), exact)?,
    ])
}

/// Each segment is cut into `arity` nearly equal parts whose first states are saved.
fn tree(steps: usize, arity: usize) -> Result<Cost, Infallible> {
    let mut splits = HashMap::new();
    let mut pending = vec![Segment { start: 0, steps }];
    while let Some(segment) = pending.pop() {
        let Segment { start, steps } = segment;
        if steps < 2 {
            continue;
        }
        let parts = arity.max(2).min(steps);
        let mut first = start;
        for part in 0..parts {
            let length = steps / parts + usize::from(part < steps % parts);
            let rest = Segment { start: first, steps: start + steps - first };
            if rest.steps > length {
                splits.insert(rest, length);
            }
            pending.push(Segment { start: first, steps: length });
            first += length;
        }
    }
    reverse(&mut Idle, steps, usize::MAX, |segment, _| splits[&segment], ())
}
