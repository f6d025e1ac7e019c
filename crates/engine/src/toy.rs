//! A workload for tests: it adds up a hash of each unit, in one stage or two, on a device that fails
//! on request.

use std::cell::Cell;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use serde::{Deserialize, Serialize};

use crate::{
    Artefact, Control, Device, EngineError, Evidence, FloatMode, GpuError, Plan, Progress, Queue,
    QueueError, RunControl, Shard, UnitRange, Wave, Workload, begin, run,
};

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ToyPlan {
    pub(crate) units: u64,
    pub(crate) stages: u32,
    pub(crate) seed: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ToyStage {
    pub(crate) number: u32,
    /// The sum of the stage before.
    pub(crate) before: u64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ToySum {
    pub(crate) units: u64,
    pub(crate) sum: u64,
}

pub(crate) const PLAN: ToyPlan = ToyPlan { units: 10_000, stages: 1, seed: 7 };

impl Plan for ToyPlan {
    const SCHEMA: &'static str = "toy/1";
    const MAX_BYTES: usize = 1 << 16;
    const RESULTS_PER_UNIT: u64 = 2;
    type Stage = ToyStage;
    type Evidence = ToySum;

    fn group(&self) -> u64 {
        64
    }

    fn units(&self) -> u64 {
        self.units
    }

    fn named(ranges: &str) -> String {
        format!("units {ranges}")
    }

    fn empty(&self, _: &ToyStage) -> ToySum {
        ToySum { units: 0, sum: 0 }
    }

    fn is_last(&self, stage: &ToyStage) -> bool {
        stage.number == self.stages
    }

    fn differences(&self, other: &Self) -> String {
        format!("seed: {} here, {} there", self.seed, other.seed)
    }

    fn check(&self, stage: &ToyStage, evidence: &ToySum, units: u64) -> Result<(), &'static str> {
        let is_right = (1..=self.stages).contains(&stage.number) && evidence.units == units;
        if is_right { Ok(()) } else { Err("its sum is of other units") }
    }
}

impl Evidence for ToySum {
    fn join(&mut self, other: &Self) -> Result<(), EngineError> {
        self.units += other.units;
        self.sum = self.sum.wrapping_add(other.sum);
        Ok(())
    }

    fn is_of(&self, units: u64) -> bool {
        self.units == units
    }
}

/// What the device does with a wave.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Fate {
    Works,
    LostAtSubmission,
    LostAtCollection,
    Unfit,
    Miscounts,
}

#[derive(Debug)]
pub(crate) struct Toy {
    pub(crate) plan: ToyPlan,
    /// Fates of the waves that are submitted to the device; without any, the CPU computes.
    pub(crate) fates: Option<fn(u64) -> Fate>,
    pub(crate) reopenings: u64,
    pub(crate) mode: FloatMode,
}

impl Toy {
    pub(crate) fn new(plan: ToyPlan) -> Self {
        Toy { plan, fates: None, reopenings: 3, mode: FloatMode::Exact }
    }

    fn sum(&self, stage: &ToyStage, range: UnitRange) -> ToySum {
        let hash = |unit: u64| {
            let word = (unit + (self.plan.seed << 32)).wrapping_add(stage.before);
            word.wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29)
        };
        let sum = (range.first..range.end).map(hash).fold(0, u64::wrapping_add);
        ToySum { units: range.len(), sum }
    }
}

impl Workload for Toy {
    type Plan = ToyPlan;
    type Queue<'a> = ToyQueue<'a>;

    fn plan(&self) -> &ToyPlan {
        &self.plan
    }

    fn first_stage(&self, _: &(dyn Fn() -> bool + Sync)) -> Result<ToyStage, EngineError> {
        Ok(ToyStage { number: 1, before: 0 })
    }

    fn next_stage(
        &self,
        stage: &ToyStage,
        whole: &ToySum,
    ) -> Result<Option<ToyStage>, EngineError> {
        let next = ToyStage { number: stage.number + 1, before: whole.sum };
        Ok((!self.plan.is_last(stage)).then_some(next))
    }

    fn cpu(&self) -> Device {
        Device { name: "cpu".to_owned(), mode: self.mode }
    }

    fn device(&self) -> Device {
        let name = if self.fates.is_some() { "toy" } else { "cpu" };
        Device { name: name.to_owned(), mode: self.mode }
    }

    fn smallest_wave(&self) -> u64 {
        3
    }

    fn compute(
        &self,
        stage: &ToyStage,
        range: UnitRange,
        _: &dyn Control,
    ) -> Result<ToySum, EngineError> {
        Ok(self.sum(stage, range))
    }

    fn queue<'a>(&'a self, stage: &'a ToyStage, _: &'a dyn Control) -> Option<ToyQueue<'a>> {
        let (opening, waves) = (1, Cell::new(0));
        self.fates.map(|fates| ToyQueue { toy: self, stage, fates, opening, waves })
    }
}

pub(crate) struct ToyQueue<'a> {
    toy: &'a Toy,
    stage: &'a ToyStage,
    fates: fn(u64) -> Fate,
    opening: u64,
    waves: Cell<u64>,
}

fn lost() -> QueueError {
    GpuError::Device("the toy is lost".to_owned()).into()
}

impl Queue for ToyQueue<'_> {
    type Evidence = ToySum;
    type Ticket = (UnitRange, Fate);

    fn depth(&self) -> usize {
        2
    }

    fn smallest_wave(&self) -> u64 {
        100
    }

    fn opening(&self) -> u64 {
        self.opening
    }

    async fn submit(&mut self, range: UnitRange) -> Result<(UnitRange, Fate), QueueError> {
        let fate = (self.fates)(self.waves.replace(self.waves.get() + 1));
        if fate == Fate::LostAtSubmission { Err(lost()) } else { Ok((range, fate)) }
    }

    async fn collect(
        &mut self,
        (range, fate): (UnitRange, Fate),
    ) -> Result<Wave<ToySum>, QueueError> {
        let mut evidence = self.toy.sum(self.stage, range);
        match fate {
            Fate::LostAtSubmission | Fate::LostAtCollection => return Err(lost()),
            Fate::Unfit => return Err(GpuError::Unfit("too large".to_owned()).into()),
            Fate::Miscounts => evidence.units -= 1,
            Fate::Works => {}
        }
        Ok(Wave { range, evidence, spent_ms: 250.0 })
    }

    async fn reopen(&mut self, opening: u64) -> Result<bool, String> {
        if self.opening != opening {
            return Ok(false);
        }
        if self.opening > self.toy.reopenings {
            return Err("it stays closed".to_owned());
        }
        self.opening += 1;
        Ok(true)
    }
}

/// Stops after a number of waves; a wave seems to take `wave_ms`.
pub(crate) struct Scripted {
    waves_left: AtomicU64,
    clock: AtomicU64,
    wave_ms: u64,
    pub(crate) last: Mutex<Option<Artefact<ToyPlan>>>,
    pub(crate) warnings: Mutex<Vec<String>>,
}

impl Scripted {
    pub(crate) fn new(waves: u64, wave_ms: u64) -> Self {
        Scripted {
            waves_left: AtomicU64::new(waves),
            clock: AtomicU64::new(0),
            wave_ms,
            last: Mutex::default(),
            warnings: Mutex::default(),
        }
    }
}

impl Control for Scripted {
    fn keep_going(&self) -> bool {
        self.waves_left.load(Ordering::SeqCst) > 0
    }

    fn now_ms(&self) -> f64 {
        self.clock.fetch_add(self.wave_ms, Ordering::SeqCst) as f64
    }

    fn warn(&self, message: &str) {
        self.warnings.lock().unwrap().push(message.to_owned());
    }
}

impl RunControl<ToyPlan> for Scripted {
    fn after_wave(
        &self,
        state: &Artefact<ToyPlan>,
        progress: Progress,
    ) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        assert_eq!(progress.done, 2 * state.done());
        self.waves_left.fetch_sub(1, Ordering::SeqCst);
        *self.last.lock().unwrap() = Some(state.clone());
        Ok(())
    }
}

/// The shard of a toy's plan, computed.
pub(crate) fn computed(toy: &Toy, shard: Shard, wave_ms: u64) -> Artefact<ToyPlan> {
    let control = Scripted::new(u64::MAX, wave_ms);
    let start = begin(toy, shard.range(toy.plan.units).unwrap(), &control).unwrap();
    pollster::block_on(run(toy, start, &control)).unwrap()
}
