//! A wave of models on a device: its memory, its submissions, what comes back.

use std::sync::Arc;

use dpscope_core::adjacency::World;
use dpscope_engine::backend::gpu::{Ahead, Failure, OpenDevice, Pace};
use dpscope_engine::{Control, ObservationRange};
use dpscope_shaders::train::Turn;

use super::cut::{Part, Parts};
use super::host_rows::HostRows;
use super::pipelines::{Pipeline, Pipelines, SLOT_BYTES, SLOTS};
use super::plan::Place;
use crate::trainer::DpSgd;

/// Operations of the first submission: under a second in software, and nothing to a GPU. Dispatches
/// beyond what a submission may take are cut.
const FIRST_WORK: u64 = 1 << 28;

/// The memory of a wave.
#[derive(Debug)]
pub(super) struct Buffers {
    /// Runs of each world that it has room for.
    runs: u64,
    turns: wgpu::Buffer,
    theta: wgpu::Buffer,
    rows: wgpu::Buffer,
    outputs: wgpu::Buffer,
    bindings: wgpu::BindGroup,
}

/// What waves of a training go through.
#[derive(Debug)]
pub(super) struct Waves {
    pub(super) loaded: Pipelines,
    buffers: Option<Buffers>,
    ahead: Ahead,
    count: u64,
}

/// What a wave gave.
#[derive(Debug)]
pub(super) struct WaveResult {
    /// o of each model, the runs of D first.
    pub(super) outputs: Vec<f32>,
    /// θ at the end of the first models of each world.
    asked: [Vec<f32>; 2],
    /// Entries of θ.
    count: usize,
}

impl WaveResult {
    /// θ at the end of a run, where it was asked for.
    pub(super) fn parameters(
        &self,
        range: ObservationRange,
        world: World,
        run: u64,
    ) -> Option<&[f32]> {
        let first = (run - range.first) as usize * self.count;
        self.asked[world.index()].get(first..first + self.count)
    }
}

impl Waves {
    pub(super) fn new(loaded: Pipelines, most_work: u64) -> Self {
        let ahead = Ahead::new(Pace::new(FIRST_WORK.min(most_work), most_work));
        Waves { loaded, buffers: None, ahead, count: 0 }
    }

    /// Runs of each world whose heaviest dispatch takes as long as a submission may.
    pub(super) fn runs(&self) -> u64 {
        let by_pace = self.ahead.budget() / (2 * self.loaded.heaviest());
        by_pace.clamp(1, self.loaded.most_runs)
    }

    /// Halves what waves may take, if there is anything to halve.
    pub(super) fn halve(&mut self, failed: u64) -> bool {
        self.buffers = None;
        self.loaded.most_runs = failed.min(self.loaded.most_runs) / 2;
        self.loaded.most_runs > 0
    }

    /// Trains both worlds' models of these runs; `asked` of each give their parameters.
    pub(super) fn trained(
        &mut self,
        cpu: &DpSgd,
        range: ObservationRange,
        asked: u64,
        control: &dyn Control,
    ) -> Result<WaveResult, Failure> {
        let mut wave = self.begun(range, control)?;
        let mut rows = HostRows::new(cpu, &wave.loaded.plan, range);
        let training = cpu.training();
        for epoch in 0..training.mechanism.epochs {
            rows.draw(epoch, control)?;
            for step in 0..training.mechanism.steps_per_epoch {
                wave.step(&mut rows, epoch, step)?;
            }
        }
        let outputs = wave.outputs()?;
        let asked = World::BOTH.map(|world| wave.parameters(world, asked));
        let [target, zero_out] = asked;
        let count = training.network.parameters();
        Ok(WaveResult { outputs, asked: [target?, zero_out?], count })
    }

    /// A wave whose models are as before the first step.
    pub(super) fn begun<'a>(
        &'a mut self,
        range: ObservationRange,
        control: &'a dyn Control,
    ) -> Result<Wave<'a>, Failure> {
        let Waves { loaded, buffers, ahead, count } = self;
        *count += 1;
        let is_enough = buffers.as_ref().is_some_and(|buffers| buffers.runs >= range.len());
        if !is_enough {
            *buffers = None; // before there is more
        }
        let buffers = match buffers {
            Some(buffers) => buffers,
            none => {
                // so that waves which grow take new memory seldom
                let room = range.len().next_power_of_two().min(loaded.most_runs);
                none.insert(Buffers::new(loaded, room.max(range.len()))?)
            }
        };
        let mut wave = Wave {
            loaded,
            buffers,
            ahead,
            control,
            range,
            number: *count,
            slots: Vec::new(),
            last: None,
            dispatches: Vec::new(),
            work: 0,
        };
        let turn = wave.turn(0, 0, 0);
        for kernel in &loaded.begin {
            wave.dispatch(kernel, &turn)?;
        }
        Ok(wave)
    }
}

impl Buffers {
    fn new(loaded: &Pipelines, runs: u64) -> Result<Self, Failure> {
        let device = loaded.open.device();
        let kinds = [
            wgpu::ErrorFilter::OutOfMemory,
            wgpu::ErrorFilter::Internal,
            wgpu::ErrorFilter::Validation,
        ];
        let scopes = kinds.map(|kind| device.push_error_scope(kind));
        let buffers = Buffers::made(loaded, runs);
        let mut errors = Vec::new();
        for scope in scopes.into_iter().rev() {
            errors.extend(pollster::block_on(scope.pop()));
        }
        loaded.open.check()?;
        match errors.first() {
            None => Ok(buffers),
            Some(error) => {
                let bytes = loaded.need.bytes(runs);
                Err(Failure::Unfit(format!("the device gives no {bytes} bytes: {error}")))
            }
        }
    }

    fn made(loaded: &Pipelines, runs: u64) -> Self {
        use wgpu::BufferUsages as Usage;
        let (open, plan) = (&loaded.open, &loaded.plan);
        let sizes = plan.words_per_model();
        let models = |words: usize, usage: Usage| {
            open.buffer(Usage::STORAGE | usage, 2 * runs * 4 * words as u64)
        };
        let canary = match plan.fixed_canary() {
            Some(canary) => {
                let bits: Vec<u32> = canary.iter().map(|entry| entry.to_bits()).collect();
                open.filled(Usage::STORAGE, &bits)
            }
            None => models(sizes.canary, Usage::empty()),
        };
        let turns = open.buffer(Usage::UNIFORM | Usage::COPY_DST, SLOT_BYTES * SLOTS as u64);
        let values = models(sizes.values, Usage::empty());
        let theta = models(sizes.theta, Usage::COPY_SRC | Usage::COPY_DST);
        let sums = models(sizes.sums, Usage::empty());
        let data = open.filled(Usage::STORAGE, plan.data());
        let rows = models(sizes.rows, Usage::COPY_SRC | Usage::COPY_DST);
        let outputs = models(sizes.outputs, Usage::COPY_SRC);
        let storage = [&values, &theta, &sums, &canary, &data, &rows, &outputs];
        let turn = wgpu::BufferBinding {
            buffer: &turns,
            offset: 0,
            size: wgpu::BufferSize::new(SLOT_BYTES),
        };
        let mut entries = vec![wgpu::BindGroupEntry {
            binding: 0,
            resource: wgpu::BindingResource::Buffer(turn),
        }];
        for (binding, buffer) in (1..).zip(storage) {
            entries.push(wgpu::BindGroupEntry { binding, resource: buffer.as_entire_binding() });
        }
        let bindings = open.device().create_bind_group(&wgpu::BindGroupDescriptor {
            label: None,
            layout: &loaded.layout,
            entries: &entries,
        });
        Buffers { runs, turns, theta, rows, outputs, bindings }
    }
}

/// Models that are being trained.
pub(super) struct Wave<'a> {
    pub(super) loaded: &'a Pipelines,
    buffers: &'a Buffers,
    ahead: &'a mut Ahead,
    control: &'a dyn Control,
    range: ObservationRange,
    number: u64,
    /// The turns of the next submission, a slot each.
    slots: Vec<u32>,
    last: Option<Turn>,
    dispatches: Vec<(&'a Pipeline, Part, u32)>,
    work: u64,
}

impl<'a> Wave<'a> {
    fn open(&self) -> &'a Arc<OpenDevice> {
        &self.loaded.open
    }

    fn models(&self) -> u64 {
        2 * self.range.len()
    }

    fn turn(&self, epoch: u32, step: u32, pass: u32) -> Turn {
        let (first_run, runs) = (self.range.first, self.range.len() as u32);
        self.loaded.plan.turn(Place { first_run, runs, epoch, step, pass })
    }

    /// One step of all models.
    pub(super) fn step(
        &mut self,
        rows: &mut HostRows<'_>,
        epoch: u32,
        step: u32,
    ) -> Result<(), Failure> {
        let loaded = self.loaded;
        let passes = loaded.plan.passes(rows.most_kept(step));
        for pass in 0..passes {
            let turn = self.turn(epoch, step, pass);
            if let Some(words) = rows.words(step, pass) {
                // all that reads the rows of before must be submitted
                self.submit()?;
                self.open().write(&self.buffers.rows, 0, &words);
            }
            for kernel in loaded.choose.iter().chain(&loaded.pass) {
                self.dispatch(kernel, &turn)?;
            }
        }
        let turn = self.turn(epoch, step, passes - 1);
        loaded.finish.iter().try_for_each(|kernel| self.dispatch(kernel, &turn))
    }

    /// Puts a dispatch into the next submission, or into some of its own where that is full.
    fn dispatch(&mut self, kernel: &'a Pipeline, turn: &Turn) -> Result<(), Failure> {
        let work = self.models().saturating_mul(kernel.operations);
        let mut parts = Parts::new(kernel.groups, work);
        while parts.left() > 0 {
            let budget = self.ahead.budget();
            if self.work > 0 && self.work.saturating_add(parts.left()) > budget {
                self.submit()?;
            }
            let Some(part) = parts.next(self.ahead.budget()) else { break };
            self.put(kernel, part, &Turn { first_group: part.first_group, ..*turn })?;
        }
        Ok(())
    }

    /// Puts a part into the next submission.
    fn put(&mut self, kernel: &'a Pipeline, part: Part, turn: &Turn) -> Result<(), Failure> {
        let is_new = self.last != Some(*turn);
        if is_new && self.slots.len() as u64 == SLOT_BYTES / 4 * SLOTS as u64 {
            self.submit()?;
        }
        let slot_words = (SLOT_BYTES / 4) as usize;
        if self.last != Some(*turn) {
            self.last = Some(*turn);
            self.slots.extend(turn.words());
            self.slots.resize(self.slots.len().next_multiple_of(slot_words), 0);
        }
        let slot = self.slots.len() / slot_words - 1;
        self.dispatches.push((kernel, part, slot as u32 * SLOT_BYTES as u32));
        self.work = self.work.saturating_add(part.work);
        Ok(())
    }

    /// Submits what is waiting, once the device is not too far behind.
    pub(super) fn submit(&mut self) -> Result<(), Failure> {
        if self.dispatches.is_empty() {
            return Ok(());
        }
        if !self.control.keep_going() {
            return Err(Failure::Stopped);
        }
        let open = self.open();
        while self.ahead.is_full() {
            let now_ms = || self.control.now_ms();
            pollster::block_on(self.ahead.land(open, now_ms))?;
        }
        open.check()?;
        let submitted_ms = self.control.now_ms();
        open.write(&self.buffers.turns, 0, &self.slots);
        let mut encoder = open.device().create_command_encoder(&Default::default());
        let mut pass = encoder.begin_compute_pass(&Default::default());
        for (kernel, part, offset) in &self.dispatches {
            let [x, y] = part.groups;
            pass.set_pipeline(&kernel.pipeline);
            pass.set_bind_group(0, &self.buffers.bindings, &[*offset]);
            pass.dispatch_workgroups(x, y, self.models() as u32);
        }
        drop(pass);
        let submission = open.queue().submit([encoder.finish()]);
        self.ahead.submitted(open, self.number, self.work, submitted_ms, submission);
        self.dispatches.clear();
        self.slots.clear();
        (self.last, self.work) = (None, 0);
        Ok(())
    }

    /// All outputs so far, model by model.
    pub(super) fn outputs(&mut self) -> Result<Vec<f32>, Failure> {
        let words = self.loaded.plan.words_per_model().outputs;
        self.submit()?;
        let outputs = self.read(&self.buffers.outputs, 0, self.models(), words)?;
        Ok(outputs.into_iter().map(f32::from_bits).collect())
    }

    /// θ of the first models of a world.
    pub(super) fn parameters(&mut self, world: World, models: u64) -> Result<Vec<f32>, Failure> {
        let words = self.loaded.plan.words_per_model().theta;
        self.submit()?;
        let first = world.index() as u64 * self.range.len();
        let parameters = self.read(&self.buffers.theta, first, models, words)?;
        Ok(parameters.into_iter().map(f32::from_bits).collect())
    }

    /// The rows of the last pass, model by model.
    pub(super) fn rows(&mut self) -> Result<Vec<u32>, Failure> {
        let words = self.loaded.plan.words_per_model().rows;
        self.submit()?;
        self.read(&self.buffers.rows, 0, self.models(), words)
    }

    /// Waits for all that was submitted, then for so many models' words of a buffer.
    fn read(
        &mut self,
        buffer: &wgpu::Buffer,
        first: u64,
        models: u64,
        words: usize,
    ) -> Result<Vec<u32>, Failure> {
        if models == 0 {
            return Ok(Vec::new());
        }
        let (open, bytes) = (self.open(), 4 * words as u64);
        let reading = open.read(buffer, first * bytes..(first + models) * bytes);
        let now_ms = || self.control.now_ms();
        while pollster::block_on(self.ahead.land(open, now_ms))?.is_some() {}
        let read = pollster::block_on(reading.words())?;
        if read.len() as u64 != models * words as u64 {
            return Err(Failure::Device(format!("it sent {} words", read.len())));
        }
        Ok(read)
    }
}
