//! Trees of `DpEvent` (dp_accounting 0.6).

use dpscope_core::foreign_text::ForeignText;

use super::node::{At, Node};
use super::record::{
    AccountantRecordError, GaussianPhase, MOST_DEPTH, MOST_STEPS, TreeAggregation,
};

const NO_OP: &str = "NoOpDpEvent";
const GAUSSIAN: &str = "GaussianDpEvent";
const POISSON: &str = "PoissonSampledDpEvent";
const SELF_COMPOSED: &str = "SelfComposedDpEvent";
const COMPOSED: &str = "ComposedDpEvent";
const TREE: &str = "SingleEpochTreeAggregationDpEvent";

/// Events of dp_accounting without a proven value here, and why.
const REFUSED: [(&str, &str); 12] = [
    ("NonPrivateDpEvent", "it has no finite epsilon"),
    ("UnsupportedDpEvent", "dp_accounting does not account for it either"),
    ("RandomizedResponseDpEvent", "only Gaussian noise is accounted for"),
    ("LaplaceDpEvent", "only Gaussian noise is accounted for"),
    ("DiscreteLaplaceDpEvent", "only Gaussian noise is accounted for"),
    ("SampledWithReplacementDpEvent", "no value is proven here for sampling with replacement"),
    (
        "SampledWithoutReplacementDpEvent",
        "it is not Poisson sampled; describe it with the loader fixed-size instead",
    ),
    (TREE, "its noise is correlated between steps; account for it as a matrix mechanism"),
    ("RepeatAndSelectDpEvent", "no value is proven here for selection among runs"),
    ("MixtureOfGaussiansDpEvent", "only one sensitivity and one probability are accounted for"),
    ("ZCDpEvent", "zero-concentrated privacy is only a bound on the mechanism, which is unknown"),
    (
        "TruncatedSubsampledGaussianDpEvent",
        "it is not Poisson sampled; describe it by its loader and maximum batch size instead",
    ),
];

/// One event, with its place.
struct Event<'n> {
    name: &'n str,
    fields: Vec<(&'n str, &'n Node)>,
    at: At,
}

impl<'n> Event<'n> {
    fn of(node: &'n Node, at: &At, depth: usize) -> Result<Self, AccountantRecordError> {
        if depth > MOST_DEPTH {
            return Err(at.error(format!("more than {MOST_DEPTH} events inside each other")));
        }
        let record = node.record(at)?;
        let find = |name: &str| record.iter().find(|(key, _)| key == name).map(|(_, value)| value);
        let (key, name) = match (find("type"), find("class_name")) {
            (Some(name), None) => ("type", name),
            (None, Some(name)) => ("class_name", name),
            (Some(_), Some(_)) => {
                return Err(at.error("it has both `type` and `class_name`; leave one out"));
            }
            (None, None) => {
                return Err(at.error(
                    "the field `type` with the class of the event, such as `GaussianDpEvent`, is \
                     missing",
                ));
            }
        };
        let name = name.text(&at.field(key))?;
        if let Some(module) = find("module_name") {
            let place = at.field("module_name");
            let module = module.text(&place)?;
            if !module.starts_with("dp_accounting.") {
                return Err(place.error(format!(
                    "`{}` is not dp_accounting; the event `{}` of another module is unknown",
                    ForeignText::new(module),
                    ForeignText::new(name)
                )));
            }
        }
        let is_own = |key: &str| !["type", "class_name", "module_name"].contains(&key);
        let fields = record.iter().map(|(key, value)| (key.as_str(), value));
        let fields = fields.filter(|(key, _)| is_own(key)).collect();
        Ok(Event { name, fields, at: at.clone() })
    }

    /// The values of exactly these fields.
    fn fields<const N: usize>(
        &self,
        names: [&'static str; N],
    ) -> Result<[(&'n Node, At); N], AccountantRecordError> {
        if let Some((unknown, _)) = self.fields.iter().find(|(key, _)| !names.contains(key)) {
            let known = if N == 0 { "it has none".to_owned() } else { names.join(", ") };
            return Err(self
                .at
                .field(unknown)
                .error(format!("unknown field of {}; its fields: {known}", self.name)));
        }
        let mut found = Vec::with_capacity(N);
        for name in names {
            let value = self.fields.iter().find(|(key, _)| *key == name);
            let Some((_, value)) = value else {
                return Err(self.at.error(format!("{} needs the field `{name}`", self.name)));
            };
            found.push((*value, self.at.field(name)));
        }
        found.try_into().map_err(|_| self.at.error("its fields cannot be read"))
    }

    fn unknown(&self) -> AccountantRecordError {
        let at = self.at.field("type");
        match REFUSED.iter().find(|(name, _)| *name == self.name) {
            Some((name, why)) => at.error(format!("{name} cannot be accounted for: {why}")),
            None => at.error(format!(
                "unknown event `{}`; {NO_OP}, {GAUSSIAN}, {POISSON}, {SELF_COMPOSED} and \
                 {COMPOSED} are known",
                ForeignText::new(self.name)
            )),
        }
    }

    fn noise_multiplier(&self) -> Result<f64, AccountantRecordError> {
        let [(noise, at)] = self.fields(["noise_multiplier"])?;
        let noise = noise.number(&at)?;
        if noise > 0.0 {
            return Ok(noise);
        }
        Err(at.error(format!("is {noise:?}; without noise there is no finite epsilon")))
    }
}

/// Tree aggregation, if that is the whole record.
pub(super) fn tree(node: &Node) -> Result<Option<TreeAggregation>, AccountantRecordError> {
    let event = Event::of(node, &At::root(), 0)?;
    if event.name != TREE {
        return Ok(None);
    }
    let [(noise, noise_at), (counts, counts_at)] =
        event.fields(["noise_multiplier", "step_counts"])?;
    let noise_multiplier = noise.positive(&noise_at)?;
    let steps = match counts {
        Node::List(counts) => {
            let of = |(index, count): (usize, &Node)| count.whole(&counts_at.item(index));
            let counts: Result<Vec<u64>, _> = counts.iter().enumerate().map(of).collect();
            counts?.into_iter().max().unwrap_or(0)
        }
        count => count.whole(&counts_at)?,
    };
    if !(1..=MOST_STEPS).contains(&steps) {
        return Err(counts_at.error("it must have a tree of 1 to 1e9 steps"));
    }
    Ok(Some(TreeAggregation { noise_multiplier, steps }))
}

/// The phases of a tree, equal ones next to each other joined.
pub(super) fn phases(node: &Node) -> Result<Vec<GaussianPhase>, AccountantRecordError> {
    let mut phases = Vec::new();
    let root = At::root();
    add(&mut phases, node, &root, 0, 1)?;
    let total = phases.iter().fold(0_u64, |sum, phase| sum.saturating_add(phase.steps));
    if total > MOST_STEPS {
        return Err(
            root.error(format!("it has {total} steps in all; at most 1e9 are accounted for"))
        );
    }
    if total == 0 {
        return Err(root.error("its events have no step with noise; save it after the training"));
    }
    Ok(phases)
}

/// Appends the phases of an event that happens `times` times.
fn add(
    phases: &mut Vec<GaussianPhase>,
    node: &Node,
    at: &At,
    depth: usize,
    times: u64,
) -> Result<(), AccountantRecordError> {
    let event = Event::of(node, at, depth)?;
    match event.name {
        NO_OP => event.fields([]).map(|[]| ()),
        GAUSSIAN => {
            push(phases, event.noise_multiplier()?, 1.0, times);
            Ok(())
        }
        POISSON => {
            let [(rate, rate_at), (inner, inner_at)] =
                event.fields(["sampling_probability", "event"])?;
            let sampling_rate = rate.number(&rate_at)?;
            if !(0.0..=1.0).contains(&sampling_rate) {
                return Err(rate_at.error(format!("is {sampling_rate:?}; it must be in 0 to 1")));
            }
            let noise = joint_noise(inner, &inner_at, depth + 1)?;
            if let Some(noise) = noise.filter(|_| sampling_rate > 0.0) {
                push(phases, noise, sampling_rate, times);
            }
            Ok(())
        }
        SELF_COMPOSED => {
            let [(inner, inner_at), (count, count_at)] = event.fields(["event", "count"])?;
            let times = times.checked_mul(count.whole(&count_at)?);
            let Some(times) = times.filter(|times| *times <= MOST_STEPS) else {
                return Err(count_at.error("more than 1e9 steps in all"));
            };
            add(phases, inner, &inner_at, depth + 1, times)
        }
        COMPOSED => {
            let [(events, events_at)] = event.fields(["events"])?;
            for (index, inner) in events.list(&events_at)?.iter().enumerate() {
                add(phases, inner, &events_at.item(index), depth + 1, times)?;
            }
            Ok(())
        }
        _ => Err(event.unknown()),
    }
}

fn push(phases: &mut Vec<GaussianPhase>, noise_multiplier: f64, sampling_rate: f64, steps: u64) {
    let is_same = |last: &&mut GaussianPhase| {
        (last.noise_multiplier, last.sampling_rate) == (noise_multiplier, sampling_rate)
    };
    match phases.last_mut().filter(is_same) {
        Some(last) => last.steps = last.steps.saturating_add(steps),
        None if steps > 0 => phases.push(GaussianPhase { noise_multiplier, sampling_rate, steps }),
        None => {}
    }
}

/// σ of Gaussian events on one sample, which together are one: 1/σ² = Σ 1/σᵢ². None without any.
fn joint_noise(node: &Node, at: &At, depth: usize) -> Result<Option<f64>, AccountantRecordError> {
    let event = Event::of(node, at, depth)?;
    if event.name == POISSON {
        return Err(at.error("a PoissonSampledDpEvent inside another one cannot be accounted for"));
    }
    let mut inner = Vec::new();
    add(&mut inner, node, at, depth, 1)?;
    if inner.iter().any(|phase| phase.sampling_rate < 1.0) {
        return Err(at.error("a PoissonSampledDpEvent inside another one cannot be accounted for"));
    }
    if let [GaussianPhase { noise_multiplier, steps: 1, .. }] = inner[..] {
        return Ok(Some(noise_multiplier));
    }
    let precision = |phase: &GaussianPhase| {
        phase.steps as f64 / (phase.noise_multiplier * phase.noise_multiplier)
    };
    let precision: f64 = inner.iter().map(precision).sum();
    if precision == 0.0 && inner.is_empty() {
        return Ok(None);
    }
    let noise = 1.0 / precision.sqrt();
    if noise > 0.0 && noise.is_finite() {
        return Ok(Some(noise));
    }
    Err(at.error("the noise of these events together is out of range"))
}
