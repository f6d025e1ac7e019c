//! The main loop: waves of observations, a merge, a chance to save and to stop.

use std::collections::VecDeque;

use dpscope_shaders::FloatMode;
use dpscope_shaders::bgm::{Phase, ScoreKernel};

use crate::backend::{WaveCounts, Work};
use crate::control::{Control, Progress};
use crate::merge::joined;
use crate::plan::ValidPlan;
use crate::wave::WaveSize;
use crate::{Artefact, ArtefactError, Backend, EngineError, ObservationRange};

/// Counts the remaining observations of `state` and returns it complete.
///
/// The counts are a function of the plan: they do not depend on threads, waves, or where an earlier
/// run stopped. On [`EngineError::Stopped`] the last state passed to
/// [`Control::after_wave`] can be resumed.
///
/// # Errors
/// A state of another plan, version or float mode; cancelled by the caller; a backend that fails or
/// miscounts; an error of [`Control::after_wave`].
pub async fn run(
    plan: &ValidPlan,
    mut state: Artefact,
    backend: &Backend,
    control: &dyn Control,
) -> Result<Artefact, EngineError> {
    let kernel = ScoreKernel::new(plan.distribution(), plan.plan().seed, Phase::Audit)?;
    if plan.plan().training != backend.training() {
        return Err(ArtefactError::TrainingMismatch {
            is_training: plan.plan().training.is_some(),
        }
        .into());
    }
    check_state(plan, &state, &kernel, backend.float_mode())?;
    let bins = state.layout.bins;
    let mut counting = backend.counting(Work { kernel: &kernel, bins: &bins, control });
    let resumed = 2 * state.done();
    let total = 2 * state.range.len();
    let mut size = WaveSize::new(counting.smallest_wave());
    let mut in_flight = VecDeque::new();
    loop {
        let ranges: Vec<ObservationRange> = in_flight.iter().map(|&(range, _)| range).collect();
        let mut submitted = joined(&state.counted, &ranges)?;
        while in_flight.len() < counting.depth() {
            let remaining = state.range.first_gap(&submitted);
            if remaining.is_empty() {
                break;
            }
            let first = remaining.first;
            let range = ObservationRange { first, end: first + size.next.min(remaining.len()) };
            match counting.submit(range).await {
                Ok(pending) => in_flight.push_back((range, pending)),
                // Waves in flight are counted and saved first.
                Err(EngineError::Stopped) if !in_flight.is_empty() => break,
                Err(error) => return Err(error),
            }
            submitted = joined(&submitted, &[range])?;
        }
        let Some((_, pending)) = in_flight.pop_front() else { return Ok(state) };
        let counted = counting.collect(pending).await?;
        add(&mut state, backend, &counted)?;
        let progress = Progress { done: 2 * state.done(), total, resumed };
        control.after_wave(&state, progress).map_err(EngineError::Control)?;
        if !control.keep_going() && !state.is_finished() {
            return Err(EngineError::Stopped);
        }
        size.learn(
            counted.range.len(),
            counted.sampling_ms,
            counting.smallest_wave(),
            counting.depth(),
        );
    }
}

/// Adds the counts of a wave to a state after checking their number.
fn add(state: &mut Artefact, backend: &Backend, counted: &WaveCounts) -> Result<(), EngineError> {
    let range = counted.range;
    let trials = counted.histograms.trials();
    let mut tallies = counted.tallies.iter().flatten();
    if trials.target != range.len()
        || trials.zero_out != range.len()
        || tallies.any(|tally| tally.runs != range.len())
    {
        return Err(EngineError::Miscounted {
            backend: backend.device(),
            counted: trials.target.saturating_add(trials.zero_out),
            expected: 2 * range.len(),
        });
    }
    state.histograms.merge(&counted.histograms)?;
    if let (Some(training), Some(tallies)) = (&mut state.training, &counted.tallies) {
        training.add(tallies);
    }
    state.counted = joined(&state.counted, &[range])?;
    state.sampling_ms += counted.sampling_ms.max(0.01);
    if counted.is_fallback {
        state.fallback_shards = state.fallback_shards.saturating_add(1);
        let (device, mode) = backend.fallback_device();
        state.note_device(device);
        state.note_float_mode(mode);
    } else {
        state.note_device(backend.device());
        state.note_float_mode(backend.float_mode());
    }
    Ok(())
}

/// Checks that the kernel's scores can be added to the state's histograms.
fn check_state(
    plan: &ValidPlan,
    state: &Artefact,
    kernel: &ScoreKernel,
    mode: FloatMode,
) -> Result<(), ArtefactError> {
    if state.plan != *plan.plan() {
        let differences = plan.plan().differences(&state.plan);
        return Err(ArtefactError::PlanMismatch { differences });
    }
    state.check_training()?;
    let here = env!("CARGO_PKG_VERSION");
    if state.version != here {
        let (found, expected) = (state.version.clone(), here.to_owned());
        return Err(ArtefactError::VersionMismatch { found, expected });
    }
    if state.layout.bins.unit() != kernel.score_unit() {
        let what = "the unit of its scores is not that of its plan: written by another version";
        return Err(ArtefactError::Inconsistent { what });
    }
    if !state.float_modes.is_empty() && !state.float_modes.contains(&mode) {
        let found: Vec<String> = state.float_modes.iter().map(ToString::to_string).collect();
        return Err(ArtefactError::FloatModeMismatch { found: found.join(", "), here: mode });
    }
    Ok(())
}

#[cfg(test)]
pub(crate) mod tests {
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicU64, Ordering};

    use dpscope_core::audit::histogram::ScoreBins;

    use super::*;
    use crate::backend::CpuBackend;
    use crate::plan::tests::plan;
    use crate::{Layout, MergeOptions, Plan, Shard, merge};

    /// Stops after a number of waves; a wave seems to take `wave_ms`.
    struct Scripted {
        waves_left: AtomicU64,
        clock: AtomicU64,
        wave_ms: u64,
        last: Mutex<Option<Artefact>>,
    }

    impl Scripted {
        fn new(waves: u64, wave_ms: u64) -> Self {
            let clock = AtomicU64::new(0);
            Scripted { waves_left: AtomicU64::new(waves), clock, wave_ms, last: Mutex::default() }
        }
    }

    impl Control for Scripted {
        fn keep_going(&self) -> bool {
            self.waves_left.load(Ordering::SeqCst) > 0
        }

        fn now_ms(&self) -> f64 {
            self.clock.fetch_add(self.wave_ms, Ordering::SeqCst) as f64
        }

        fn after_wave(
            &self,
            state: &Artefact,
            progress: Progress,
        ) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
            assert_eq!(progress.done, 2 * state.done());
            self.waves_left.fetch_sub(1, Ordering::SeqCst);
            *self.last.lock().unwrap() = Some(state.clone());
            Ok(())
        }
    }

    fn backend(threads: usize) -> Backend {
        Backend::Cpu(CpuBackend::new(threads).unwrap())
    }

    pub(crate) fn counted(plan: Plan, shard: Shard, threads: usize, wave_ms: u64) -> Artefact {
        let (valid, backend) = (plan.validated().unwrap(), backend(threads));
        let layout = Layout::of(&valid, backend.cpu(), &|| true).unwrap();
        let start = Artefact::empty(&valid, layout, shard.range(&plan).unwrap());
        let control = Scripted::new(u64::MAX, wave_ms);
        pollster::block_on(run(&valid, start, &backend, &control)).unwrap()
    }

    #[test]
    fn counts_do_not_depend_on_threads_or_waves() {
        let reference = counted(plan(), Shard::WHOLE, 1, 250);
        assert!(reference.is_complete() && reference.done() == 10_000);
        for (threads, wave_ms) in [(2, 250), (3, 1), (2, 100_000)] {
            let other = counted(plan(), Shard::WHOLE, threads, wave_ms);
            assert_eq!(other.histogram_digest(), reference.histogram_digest());
        }
        let other_seed = counted(Plan { seed: 8, ..plan() }, Shard::WHOLE, 1, 250);
        assert_ne!(other_seed.histogram_digest(), reference.histogram_digest());
    }

    #[test]
    fn any_split_merges_to_the_undivided_run() {
        let whole = counted(plan(), Shard::WHOLE, 2, 250);
        for count in [2, 3, 7] {
            let mut parts: Vec<Artefact> =
                (1..=count).map(|index| counted(plan(), Shard { index, count }, 2, 250)).collect();
            parts.reverse();
            let merged = merge(parts, MergeOptions::default()).unwrap();
            assert!(merged.is_complete());
            assert_eq!(merged.histogram_digest(), whole.histogram_digest());
            assert_eq!(merged.outcome().unwrap(), whole.outcome().unwrap());
        }
    }

    #[test]
    fn stopped_runs_resume_from_their_bytes_with_equal_counts() {
        let whole = counted(plan(), Shard::WHOLE, 2, 250);
        let valid = plan().validated().unwrap();
        let backend = backend(2);
        let layout = Layout::of(&valid, backend.cpu(), &|| true).unwrap();
        let range = Shard::WHOLE.range(&plan()).unwrap();
        let mut state = Artefact::empty(&valid, layout, range);
        let mut stops = 0;
        let finished = loop {
            let control = Scripted::new(2, 4_000);
            match pollster::block_on(run(&valid, state, &backend, &control)) {
                Ok(finished) => break finished,
                Err(EngineError::Stopped) => {
                    stops += 1;
                    let last = control.last.lock().unwrap().take().unwrap();
                    state = Artefact::from_bytes(&last.to_bytes()).unwrap();
                    assert!(matches!(
                        state.outcome().unwrap(),
                        dpscope_core::audit::Outcome::Estimate(_)
                    ));
                }
                Err(error) => panic!("{error}"),
            }
        };
        assert!(stops > 3, "{stops}");
        assert_eq!(finished.histogram_digest(), whole.histogram_digest());
        assert_eq!(finished.outcome().unwrap(), whole.outcome().unwrap());
    }

    #[test]
    fn a_merge_with_gaps_can_be_filled() {
        let whole = counted(plan(), Shard::WHOLE, 2, 250);
        let part = |index| counted(plan(), Shard { index, count: 5 }, 1, 250);
        let options = MergeOptions { allow_gaps: true, ..MergeOptions::default() };
        let sum = merge(vec![part(4), part(2)], options).unwrap();
        let backend = backend(2);
        let control = Scripted::new(u64::MAX, 4_000);
        let valid = plan().validated().unwrap();
        let filled = pollster::block_on(run(&valid, sum, &backend, &control)).unwrap();
        assert!(filled.is_complete());
        assert_eq!(filled.histogram_digest(), whole.histogram_digest());
    }

    #[test]
    fn a_state_of_another_plan_or_unit_is_refused() {
        let (valid, backend) = (plan().validated().unwrap(), backend(1));
        let range = ObservationRange { first: 0, end: 10_000 };
        let layout = Layout::of(&valid, backend.cpu(), &|| true).unwrap();
        let start = |plan: Plan, unit: f64| {
            let bins = ScoreBins::new(unit * layout.bins.unit(), -1000, 30, 100).unwrap();
            let layout = Layout { bins, ..layout.clone() };
            Artefact::empty(&plan.validated().unwrap(), layout, range)
        };
        let refused = |state| {
            let control = Scripted::new(u64::MAX, 250);
            match pollster::block_on(run(&valid, state, &backend, &control)) {
                Err(EngineError::Artefact(error)) => Some(error),
                other => other.map(|_| None).unwrap(),
            }
        };
        assert_eq!(refused(start(plan(), 1.0)), None);
        let differences = "delta: 0.00001 here, 1e-6 there".to_owned();
        let other = start(Plan { delta: 1e-6, ..plan() }, 1.0);
        assert_eq!(refused(other), Some(ArtefactError::PlanMismatch { differences }));
        let unit = refused(start(plan(), 2.0));
        assert!(matches!(unit, Some(ArtefactError::Inconsistent { .. })), "{unit:?}");
    }

    #[test]
    fn a_state_of_another_float_mode_is_refused() {
        let (valid, backend) = (plan().validated().unwrap(), backend(1));
        let layout = Layout::of(&valid, backend.cpu(), &|| true).unwrap();
        let range = ObservationRange { first: 0, end: 10_000 };
        for (modes, is_taken) in [
            (&[][..], true),
            (&[FloatMode::Exact], true),
            (&[FloatMode::Fast], false),
            (&[FloatMode::Fast, FloatMode::Exact], true),
        ] {
            let mut state = Artefact::empty(&valid, layout.clone(), range);
            state.float_modes = modes.to_vec();
            let control = Scripted::new(u64::MAX, 250);
            match pollster::block_on(run(&valid, state, &backend, &control)) {
                Ok(_) => assert!(is_taken, "{modes:?}"),
                Err(error) => {
                    assert!(
                        !is_taken && error.to_string().contains("counted in float mode fast"),
                        "{error}"
                    );
                }
            }
        }
    }

    #[test]
    fn the_two_worlds_do_not_share_a_stream() {
        let state = counted(plan(), Shard::WHOLE, 1, 250);
        let [d, d_prime] = [
            &state.histograms.world(dpscope_core::adjacency::World::Target)[0],
            &state.histograms.world(dpscope_core::adjacency::World::ZeroOut)[0],
        ];
        assert_ne!(d, d_prime);
    }
}
