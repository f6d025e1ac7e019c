//! Differences between the original and replays without the target.

use super::{
    Neighbours, Place, Probe, ProbeKind, Replay, ReplayedStep, StepFinding as Finding, StepRecord,
    ValueChange,
};
use crate::adjacency::Adjacency;

/// Differences count beyond this factor times those of the control, and these amounts.
const CONTROL_FACTOR: f64 = 10.0;
const SUM: f64 = 1e-3;
const NORM: f64 = 1e-3;
const STATE: f64 = 1e-6;
const SCALE: f64 = 1e-6;
const VALUE: f64 = 1e-9;

/// Values of the accountant and the loader may be computed in different ways.
const ACCOUNTED: f64 = 1e-6;

/// A change of the control's sums that makes comparisons meaningless, in C.
const NOT_REPRODUCIBLE: f64 = 1e-2;

/// The largest differences between D and its controls.
#[derive(Debug, Clone, Copy, Default)]
struct Floor {
    sum: f64,
    norm: f64,
    release: f64,
    state: f64,
}

impl Floor {
    fn of(replay: &Replay) -> Self {
        let most = |value: fn(&ReplayedStep) -> Option<f64>| {
            replay.steps.iter().filter_map(value).fold(0.0, f64::max)
        };
        Floor {
            sum: most(|step| step.sum_change),
            norm: most(|step| step.other_gradients.map(|it| it.change)),
            release: most(|step| step.release_change),
            state: most(|step| step.state.as_ref().map(|it| it.change)),
        }
    }

    fn max(self, other: Self) -> Self {
        Floor {
            sum: self.sum.max(other.sum),
            norm: self.norm.max(other.norm),
            release: self.release.max(other.release),
            state: self.state.max(other.state),
        }
    }
}

/// What was replayed under one neighbouring relation.
struct Neighbour<'a> {
    adjacency: Adjacency,
    replay: Option<&'a Replay>,
    probes: Vec<&'a Probe>,
    floor: Floor,
    /// Whether other random draws may explain differences.
    is_random: bool,
    /// Steps of both runs, up to the first after which the state differs.
    steps: Vec<(usize, &'a ReplayedStep, &'a ReplayedStep)>,
}

/// A difference: how large it is, its step, and its probe.
struct Difference<T> {
    size: f64,
    step: Option<usize>,
    probe: Option<ProbeKind>,
    facts: T,
}

impl<T> Difference<T> {
    fn at(step: usize, size: f64, facts: T) -> Self {
        Difference { size, step: Some(step), probe: None, facts }
    }
}

/// All comparisons of a record.
pub(super) struct Comparison<'a> {
    record: &'a StepRecord,
    neighbours: Vec<Neighbour<'a>>,
}

impl<'a> Comparison<'a> {
    pub(super) fn new(record: &'a StepRecord) -> Self {
        let control = Floor::of(&record.control);
        let shapes = record.shape_control.as_ref().map(Floor::of).unwrap_or_default();
        let neighbours = [Adjacency::ZeroOut, Adjacency::AddRemove].into_iter().map(|adjacency| {
            let changes_shapes = adjacency == Adjacency::AddRemove;
            let floor = if changes_shapes { control.max(shapes) } else { control };
            let replay =
                record.replays.iter().find(|it| it.adjacency == adjacency).map(|it| &it.replay);
            let draws_differ = replay.is_some_and(|replay| replay.random_draws_differ);
            let is_random = changes_shapes && (record.draws_random_numbers || draws_differ);
            let steps = replay.map_or_else(Vec::new, |replay| pairs(record, replay, floor.state));
            let probes = record.probes.iter().filter(|it| it.adjacency == adjacency).collect();
            Neighbour { adjacency, replay, probes, floor, is_random, steps }
        });
        let neighbours = neighbours.filter(|it| it.replay.is_some() || !it.probes.is_empty());
        Comparison { record, neighbours: neighbours.collect() }
    }

    /// Whether a replay of D differs so much from D that comparisons say nothing.
    pub(super) fn not_reproducible(&self) -> Option<Finding> {
        let StepRecord { original, control, .. } = self.record;
        let difference = self.control_difference();
        let is_other = control.failure.is_some() != original.failure.is_some()
            || control.steps.len() != original.steps.len()
            || difference.is_some_and(|difference| difference > NOT_REPRODUCIBLE);
        is_other.then_some(Finding::NotReproducible { difference })
    }

    /// The largest change of a sum between D and its control, in C.
    pub(super) fn control_difference(&self) -> Option<f64> {
        largest(self.record.control.steps.iter().filter_map(|step| step.sum_change))
    }

    /// The largest change of a sum by the target, in C, where nothing else changes it.
    pub(super) fn largest_change(&self) -> Option<f64> {
        largest(self.neighbours.iter().flat_map(|it| {
            let steps = it.steps.iter().filter_map(|(_, original, other)| match it.is_random {
                true => original.target_norm,
                false => other.sum_change,
            });
            let probes = it.probes.iter().filter(|_| !it.is_random);
            steps.chain(probes.filter_map(|probe| probe.contribution)).collect::<Vec<_>>()
        }))
    }

    /// Whether each relation has a step that was compared.
    pub(super) fn is_complete(&self) -> bool {
        let compared = |it: &Neighbour<'_>| {
            it.replay.is_none() || it.steps.iter().any(|(_, _, other)| other.sum_change.is_some())
        };
        self.neighbours.iter().all(compared)
    }

    pub(super) fn findings(&self) -> Vec<Finding> {
        let found = [
            self.sensitivity_exceeded(),
            self.other_gradients_change(),
            self.state_differs(),
            self.release_differs(),
            self.steps_differ(),
            self.steps_per_epoch_differ(),
            self.shapes_differ(),
            self.batch_without_step(),
            self.one_world_fails(),
            self.non_finite_gradient(),
            self.random_draws_differ(),
        ];
        let mut findings: Vec<Finding> = found.into_iter().flatten().collect();
        findings.extend(self.values_differ());
        findings
    }

    /// The largest difference over all relations.
    fn across<T>(&self, find: impl Fn(&Neighbour<'_>) -> Vec<Difference<T>>) -> Option<(T, Place)> {
        let mut neighbours = Neighbours::default();
        let mut most: Option<Difference<T>> = None;
        for it in &self.neighbours {
            let first = |a: Difference<T>, b: Difference<T>| if b.size > a.size { b } else { a };
            let found = find(it).into_iter().reduce(first);
            match &found {
                Some(_) => neighbours.differs.push(it.adjacency),
                None => neighbours.same.push(it.adjacency),
            }
            if found.as_ref().is_some_and(|it| most.as_ref().is_none_or(|most| most.size < it.size))
            {
                most = found;
            }
        }
        most.map(|it| (it.facts, Place { step: it.step, probe: it.probe, neighbours }))
    }

    /// Differences that something else than the target cannot explain, else those that it may.
    fn certain_first<T>(
        &self,
        find: impl Fn(&Neighbour<'_>, bool) -> Vec<Difference<T>>,
    ) -> Option<(T, Place, bool)> {
        [false, true].into_iter().find_map(|is_uncertain| {
            let (facts, place) = self.across(|it| find(it, is_uncertain))?;
            Some((facts, place, is_uncertain))
        })
    }

    fn sensitivity_exceeded(&self) -> Option<Finding> {
        let precision = self.record.precision;
        let (change, place, is_uncertain) = self.certain_first(|it, is_uncertain| {
            let tolerance = CONTROL_FACTOR * it.floor.sum + SUM;
            let steps = it.steps.iter().filter_map(|&(step, original, other)| {
                let change = match it.is_random && !is_uncertain {
                    true => original.target_norm,
                    false => other.sum_change,
                }?;
                let rounding = precision * original.sum_norm.unwrap_or(0.0);
                let is_more = change > 1.0 + tolerance + rounding;
                is_more.then(|| Difference::at(step, change, change))
            });
            let probes = it.probes.iter().filter(|_| it.is_random == is_uncertain);
            let probes = probes.filter_map(|probe| {
                let size = probe.contribution.filter(|&change| change > 1.0 + tolerance)?;
                Some(Difference { size, step: None, probe: Some(probe.kind), facts: size })
            });
            steps.chain(probes).collect()
        })?;
        let record = self.record.target;
        Some(Finding::SensitivityExceeded { change, record, place, is_uncertain })
    }

    fn other_gradients_change(&self) -> Option<Finding> {
        let precision = self.record.precision;
        let (other, place, is_uncertain) = self.certain_first(|it, is_uncertain| {
            if it.is_random != is_uncertain {
                return Vec::new();
            }
            let tolerance = CONTROL_FACTOR * it.floor.norm + NORM + precision;
            let steps =
                it.steps.iter().map(|&(step, _, other)| (Some(step), None, other.other_gradients));
            let probes = it.probes.iter().map(|it| (None, Some(it.kind), it.other_gradients));
            steps
                .chain(probes)
                .filter_map(|(step, probe, other)| {
                    let facts = other.filter(|other| other.change > tolerance)?;
                    Some(Difference { size: facts.change, step, probe, facts })
                })
                .collect()
        })?;
        let (change, record) = (other.change, other.record);
        Some(Finding::OtherGradientsChange { change, record, place, is_uncertain })
    }

    fn state_differs(&self) -> Option<Finding> {
        let (state, place) = self.across(|it| {
            let states = it.steps.iter().filter_map(|&(step, _, other)| {
                let state =
                    other.state.clone().filter(|it2| differs(it2.change, it.floor.state))?;
                Some(Difference::at(step, state.change, state))
            });
            states.collect()
        })?;
        Some(Finding::StateDiffers { name: state.name, change: state.change, place })
    }

    /// A difference of the scale, the divisor, the clip norm or σ explains one of the releases.
    fn release_differs(&self) -> Option<Finding> {
        let (change, place) = self.across(|it| {
            let releases = it.steps.iter().filter_map(|&(step, original, other)| {
                let is_explained = VALUES.iter().any(|value| {
                    value.changes_release && value.change(original, other, None).is_some()
                }) || original.noise_multiplier != other.noise_multiplier;
                let cells = self.record.noise.get(step).map_or(&[][..], Vec::as_slice);
                let noise: f64 = cells.iter().map(|cell| cell.powers[1]).sum();
                let sum = original.sum_norm.unwrap_or(0.0);
                let rounding = 2.0 * self.record.precision * (sum * sum + noise).sqrt();
                let tolerance = CONTROL_FACTOR * it.floor.release + SUM + rounding;
                let change = other.release_change.filter(|&change| change > tolerance)?;
                (!is_explained).then(|| Difference::at(step, change, change))
            });
            releases.collect()
        })?;
        Some(Finding::ReleaseDiffers { change, place })
    }

    fn values_differ(&self) -> Vec<Finding> {
        let accountant = self.record.accountant.unwrap_or_default();
        let found = VALUES.iter().flat_map(|value| {
            let control = |step: usize| self.record.control.steps.get(step);
            let between = self.across(|it| {
                let steps = it.steps.iter().filter_map(|&(step, original, other)| {
                    let pair = value.change(original, other, control(step))?;
                    let is_explained =
                        value.follows_divisor && follows_divisor(original, other, pair);
                    (!is_explained).then(|| Difference::at(step, relative(pair[0], pair[1]), pair))
                });
                let probes = it.probes.iter().filter_map(|probe| {
                    let [original, other] = (value.of_probe)(probe);
                    let (facts, probe) = ([original?, other?], Some(probe.kind));
                    let size = relative(facts[0], facts[1]);
                    (size > value.tolerance).then_some(Difference {
                        size,
                        step: None,
                        probe,
                        facts,
                    })
                });
                steps.chain(probes).collect()
            });
            let between = between.map(|([original, other], place)| {
                (value.finding)(ValueChange { original, other, place })
            });
            let accounted = (value.accounted)(&accountant).and_then(|other| {
                let mut steps = self.record.original.steps.iter().enumerate();
                steps.find_map(|(step, values)| {
                    let original =
                        (value.of)(values).filter(|&it| relative(it, other) > ACCOUNTED)?;
                    let place = Place { step: Some(step), ..Place::default() };
                    Some((value.finding)(ValueChange { original, other, place }))
                })
            });
            [between, accounted]
        });
        found.flatten().collect()
    }

    /// Where a batch has no step, fewer steps follow from it.
    fn steps_differ(&self) -> Option<Finding> {
        let original = &self.record.original;
        let ([original, other], place) = self.across(|it| {
            let replay = it.replay.filter(|replay| {
                let ends = replay.failure.is_none() && original.failure.is_none();
                ends && replay.batches_without_step == original.batches_without_step
            });
            let replay = replay
                .map(|replay| (None, [original.steps.len() as u64, replay.steps.len() as u64]));
            let probes = it.probes.iter().filter(|probe| {
                let ends = probe.runs.iter().all(|run| run.failure.is_none());
                ends && probe.kind != ProbeKind::Alone
            });
            let probes = probes.map(|it| (Some(it.kind), [it.runs[0].steps, it.runs[1].steps]));
            let different = |(probe, facts): (Option<ProbeKind>, [u64; 2])| {
                let size = if probe.is_none() { 2.0 } else { 1.0 };
                (facts[0] != facts[1]).then_some(Difference { size, step: None, probe, facts })
            };
            replay.into_iter().chain(probes).filter_map(different).collect()
        })?;
        Some(Finding::StepsDiffer { original, other, place })
    }

    fn steps_per_epoch_differ(&self) -> Option<Finding> {
        let original = self.record.original.steps_per_epoch?;
        let (other, place) = self.across(|it| {
            let steps = it.replay.and_then(|replay| replay.steps_per_epoch);
            let other = steps.filter(|&steps| steps != original);
            other.map(|other| Difference::at(0, 1.0, other)).into_iter().collect()
        })?;
        Some(Finding::StepsPerEpochDiffer { original, other, neighbours: place.neighbours })
    }

    fn shapes_differ(&self) -> Option<Finding> {
        let (shape, place) = self.across(|it| {
            let shape = it.replay.and_then(|replay| replay.shape_change.clone());
            shape.map(|shape| Difference::at(0, 1.0, shape)).into_iter().collect()
        })?;
        Some(Finding::ShapesDiffer { shape, neighbours: place.neighbours })
    }

    fn batch_without_step(&self) -> Option<Finding> {
        let in_original = self.record.original.batches_without_step;
        if in_original > 0 {
            let place = Place::default();
            return Some(Finding::BatchWithoutStep { batches: in_original, place });
        }
        let (batches, place) = self.across(|it| {
            let replay = it.replay.map_or(0, |replay| replay.batches_without_step);
            let alone = it.probes.iter().filter(|probe| probe.kind == ProbeKind::Alone);
            let probes = alone.filter_map(|probe| {
                let fails = probe.runs.iter().any(|run| run.failure.is_some());
                let missing = probe.runs[0].steps.saturating_sub(probe.runs[1].steps);
                (missing > 0 && !fails).then_some((None, Some(probe.kind), missing))
            });
            let found = (replay > 0).then_some((None, None, replay)).into_iter().chain(probes);
            let difference =
                |(step, probe, facts)| Difference { size: facts as f64, step, probe, facts };
            found.map(difference).collect()
        })?;
        Some(Finding::BatchWithoutStep { batches, place })
    }

    fn one_world_fails(&self) -> Option<Finding> {
        let original = &self.record.original;
        let ((with_target, message), place) = self.across(|it| {
            let runs = it.replay.map(|replay| {
                let step = Some(original.steps.len().min(replay.steps.len()));
                (step, None, [&original.failure, &replay.failure])
            });
            let probes = it.probes.iter().map(|probe| {
                let [with, without] = &probe.runs;
                (None, Some(probe.kind), [&with.failure, &without.failure])
            });
            let failed = |(step, probe, failures): (_, Option<_>, [&Option<String>; 2])| {
                let facts = match failures {
                    [Some(message), None] => (true, String::clone(message)),
                    [None, Some(message)] => (false, String::clone(message)),
                    _ => return None,
                };
                // the training itself before a probe
                let size = if probe.is_none() { 2.0 } else { 1.0 };
                Some(Difference { size, step, probe, facts })
            };
            runs.into_iter().chain(probes).filter_map(failed).collect()
        })?;
        Some(Finding::OneWorldFails { message, with_target, place })
    }

    fn non_finite_gradient(&self) -> Option<Finding> {
        let (with_target, place) = self.across(|it| {
            let steps = it.steps.iter().map(|&(step, original, other)| {
                (Some(step), None, [original.is_finite, other.is_finite])
            });
            let probes = it.probes.iter().filter_map(|probe| {
                let ends = probe.runs.iter().all(|run| run.failure.is_none() && run.steps > 0);
                let finite = [probe.runs[0].is_finite, probe.runs[1].is_finite];
                ends.then_some((None, Some(probe.kind), finite))
            });
            let differing = |(step, probe, [with, without]): (_, Option<_>, [bool; 2])| {
                let size = if probe.is_none() { 2.0 } else { 1.0 };
                (with != without).then_some(Difference { size, step, probe, facts: !with })
            };
            steps.chain(probes).filter_map(differing).collect()
        })?;
        Some(Finding::NonFiniteGradient { with_target, place })
    }

    fn random_draws_differ(&self) -> Option<Finding> {
        let ((), place) = self.across(|it| {
            let differs = it.replay.is_some_and(|replay| replay.random_draws_differ);
            if differs { vec![Difference::at(0, 1.0, ())] } else { Vec::new() }
        })?;
        Some(Finding::RandomDrawsDiffer { neighbours: place.neighbours })
    }
}

/// A value of a step that the accountant takes to be one for D and D′.
struct StepValue {
    of: fn(&ReplayedStep) -> Option<f64>,
    of_probe: fn(&Probe) -> [Option<f64>; 2],
    accounted: fn(&super::AccountedSteps) -> Option<f64>,
    finding: fn(ValueChange) -> Finding,
    tolerance: f64,
    changes_release: bool,
    /// Whether a divisor that differs as much explains a difference.
    follows_divisor: bool,
}

const VALUES: [StepValue; 5] = [
    StepValue {
        of: |step| step.release_scale,
        of_probe: |_| [None; 2],
        accounted: |_| None,
        finding: |value| Finding::ScaleDiffers { value },
        tolerance: SCALE,
        changes_release: true,
        follows_divisor: true,
    },
    StepValue {
        of: |step| step.divisor,
        of_probe: |_| [None; 2],
        accounted: |accountant| accountant.expected_batch_size,
        finding: |value| Finding::DivisorDiffers { value },
        tolerance: VALUE,
        changes_release: true,
        follows_divisor: false,
    },
    StepValue {
        of: |step| step.sample_rate,
        of_probe: |_| [None; 2],
        accounted: |accountant| accountant.sample_rate,
        finding: |value| Finding::SampleRateDiffers { value },
        tolerance: VALUE,
        changes_release: false,
        follows_divisor: false,
    },
    StepValue {
        of: |step| step.clip_norm,
        of_probe: |_| [None; 2],
        accounted: |accountant| accountant.clip_norm,
        finding: |value| Finding::ClipNormDiffers { value },
        tolerance: VALUE,
        changes_release: true,
        follows_divisor: false,
    },
    StepValue {
        of: |step| step.learning_rate,
        of_probe: |probe| probe.learning_rates,
        accounted: |_| None,
        finding: |value| Finding::LearningRateDiffers { value },
        tolerance: VALUE,
        changes_release: false,
        follows_divisor: false,
    },
];

impl StepValue {
    /// Both values, if they differ by more than the control does.
    fn change(
        &self,
        original: &ReplayedStep,
        other: &ReplayedStep,
        control: Option<&ReplayedStep>,
    ) -> Option<[f64; 2]> {
        let (value, other) = ((self.of)(original)?, (self.of)(other)?);
        let floor = control.and_then(self.of).map_or(0.0, |control| relative(value, control));
        let tolerance = CONTROL_FACTOR * floor + self.tolerance;
        (relative(value, other) > tolerance).then_some([value, other])
    }
}

/// Whether the divisors of two steps have the ratio of these values.
fn follows_divisor(original: &ReplayedStep, other: &ReplayedStep, [a, b]: [f64; 2]) -> bool {
    let divisors = original.divisor.zip(other.divisor);
    divisors.is_some_and(|(original, other)| relative(a * other, b * original) <= SCALE)
}

/// Steps of both runs, up to the first after which the state differs: later differences follow from it.
fn pairs<'a>(
    record: &'a StepRecord,
    replay: &'a Replay,
    floor: f64,
) -> Vec<(usize, &'a ReplayedStep, &'a ReplayedStep)> {
    let steps = record.original.steps.iter().zip(&replay.steps).enumerate();
    let state = |step: &ReplayedStep| step.state.as_ref().map_or(0.0, |state| state.change);
    let last = replay.steps.iter().position(|step| differs(state(step), floor));
    let count = last.map_or(usize::MAX, |last| last + 1);
    steps.take(count).map(|(at, (original, other))| (at, original, other)).collect()
}

/// Whether a change of the state is beyond that of the control.
fn differs(change: f64, floor: f64) -> bool {
    change > CONTROL_FACTOR * floor + STATE
}

fn relative(a: f64, b: f64) -> f64 {
    let size = a.abs().max(b.abs());
    if size > 0.0 { (a - b).abs() / size } else { 0.0 }
}

fn largest(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    values.into_iter().max_by(f64::total_cmp)
}
