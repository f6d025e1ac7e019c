//! A wave of models on a device: memory, submissions and results.

use std::sync::Arc;

use dpscope_engine::gpu::{OpenDevice, SubmissionPace, SubmissionQueue};
use dpscope_engine::{Control, GpuError, UnitRange};
use dpscope_shaders::train::PassParams;

use super::cut::{Part, Parts};
use super::pipelines::{Pipeline, Pipelines, SLOT_BYTES, SLOTS};
use super::plan::PassPosition;

/// Operations of the first submission: under a second on a software driver, negligible on a GPU.
/// Larger dispatches are split.
pub(super) const FIRST_WORK: u64 = 1 << 28;

/// Rows that the host writes.
pub(super) trait PassRows {
    /// Size of the largest batch of a step, if it varies.
    fn max_batch(&self, step: u32) -> Option<usize>;

    /// The contents of the buffer `rows` for a pass, for all models; `None` if the device selects them.
    fn words(&self, step: u32, pass: u32) -> Option<Vec<u32>>;
}

/// The device memory of a wave.
#[derive(Debug)]
pub(super) struct Buffers {
    /// Capacity.
    units: u64,
    turns: wgpu::Buffer,
    theta: wgpu::Buffer,
    vector: wgpu::Buffer,
    rows: wgpu::Buffer,
    outputs: wgpu::Buffer,
    bindings: wgpu::BindGroup,
}

/// Executes the waves of a training.
#[derive(Debug)]
pub struct Waves {
    pub(super) pipelines: Pipelines,
    buffers: Option<Buffers>,
    submissions: SubmissionQueue,
    count: u64,
    /// Whether a warning about halved waves was issued.
    has_warned: bool,
}

impl Waves {
    pub(super) fn new(pipelines: Pipelines, max_work: u64) -> Self {
        let submissions =
            SubmissionQueue::new(SubmissionPace::new(FIRST_WORK.min(max_work), max_work));
        Waves { pipelines, buffers: None, submissions, count: 0, has_warned: false }
    }

    /// Number of units whose most expensive kernel fits in one submission.
    pub(super) fn units(&self) -> u64 {
        let operations = self.pipelines.plan.worlds() * self.pipelines.max_operations();
        (self.submissions.budget() / operations).clamp(1, self.pipelines.max_units)
    }

    /// Halves the size of waves after a wave of `failed` units did not fit, and warns the first time.
    ///
    /// # Errors
    /// Not even one unit fits.
    pub(super) fn halve(
        &mut self,
        failed: u64,
        reason: String,
        control: &dyn Control,
    ) -> Result<(), GpuError> {
        self.buffers = None;
        self.pipelines.max_units = failed.min(self.pipelines.max_units) / 2;
        if self.pipelines.max_units == 0 {
            return Err(GpuError::Unfit(reason));
        }
        if !self.has_warned {
            let units = self.pipelines.plan.units(self.units());
            control.warn(&format!("{reason}; training {units} at a time"));
        }
        self.has_warned = true;
        Ok(())
    }

    /// Initialises the models of a wave.
    pub(super) async fn begin<'a>(
        &'a mut self,
        range: UnitRange,
        control: &'a dyn Control,
    ) -> Result<Wave<'a>, GpuError> {
        let Waves { pipelines, buffers, submissions, count, .. } = self;
        *count += 1;
        let is_enough = buffers.as_ref().is_some_and(|buffers| buffers.units >= range.len());
        if !is_enough {
            *buffers = None; // free the memory before allocating more
        }
        let buffers = match buffers {
            Some(buffers) => buffers,
            none => {
                // growing waves reallocate rarely
                let room = range.len().next_power_of_two().min(pipelines.max_units);
                none.insert(Buffers::new(pipelines, room.max(range.len())).await?)
            }
        };
        let mut wave = Wave {
            pipelines,
            buffers,
            submissions,
            control,
            range,
            number: *count,
            slots: Vec::new(),
            last: None,
            dispatches: Vec::new(),
            work: 0,
        };
        let turn = wave.turn(0, 0, 0);
        wave.dispatch_all(&pipelines.kernels.begin, &turn).await?;
        Ok(wave)
    }
}

impl Buffers {
    async fn new(pipelines: &Pipelines, units: u64) -> Result<Self, GpuError> {
        let device = pipelines.open.device();
        let kinds = [
            wgpu::ErrorFilter::OutOfMemory,
            wgpu::ErrorFilter::Internal,
            wgpu::ErrorFilter::Validation,
        ];
        let scopes = kinds.map(|kind| device.push_error_scope(kind));
        let buffers = Buffers::allocate(pipelines, units);
        let mut errors = Vec::new();
        for scope in scopes.into_iter().rev() {
            errors.extend(scope.pop().await);
        }
        pipelines.open.check()?;
        match errors.first() {
            None => Ok(buffers),
            Some(error) => {
                let bytes = pipelines.need.bytes(units);
                Err(GpuError::Unfit(format!(
                    "the device could not allocate {bytes} bytes: {error}"
                )))
            }
        }
    }

    fn allocate(pipelines: &Pipelines, units: u64) -> Self {
        use wgpu::BufferUsages as Usage;
        let (open, plan) = (&pipelines.open, &pipelines.plan);
        let sizes = plan.words_per_model();
        let models = |words: usize, usage: Usage| {
            open.buffer(Usage::STORAGE | usage, plan.worlds() * units * 4 * words as u64)
        };
        let vector = match plan.shared_vector() {
            Some(vector) => {
                let bits: Vec<u32> = vector.iter().map(|entry| entry.to_bits()).collect();
                open.filled(Usage::STORAGE, &bits)
            }
            None => models(sizes.vector, Usage::COPY_SRC),
        };
        let turns = open.buffer(Usage::UNIFORM | Usage::COPY_DST, SLOT_BYTES * SLOTS as u64);
        let values = models(sizes.values, Usage::empty());
        let theta = models(sizes.theta, Usage::COPY_SRC | Usage::COPY_DST);
        let sums = models(sizes.sums, Usage::empty());
        let data = open.filled(Usage::STORAGE, plan.data());
        let rows = models(sizes.rows, Usage::COPY_SRC | Usage::COPY_DST);
        let outputs = models(sizes.outputs, Usage::COPY_SRC);
        let storage = [&values, &theta, &sums, &vector, &data, &rows, &outputs];
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
            layout: &pipelines.layout,
            entries: &entries,
        });
        Buffers { units, turns, theta, vector, rows, outputs, bindings }
    }
}

/// Models in training.
pub(super) struct Wave<'a> {
    pub(super) pipelines: &'a Pipelines,
    buffers: &'a Buffers,
    submissions: &'a mut SubmissionQueue,
    control: &'a dyn Control,
    range: UnitRange,
    number: u64,
    /// Uniforms of the next submission, one slot per pass.
    slots: Vec<u32>,
    last: Option<PassParams>,
    dispatches: Vec<(&'a Pipeline, Part, u32)>,
    work: u64,
}

impl<'a> Wave<'a> {
    fn open(&self) -> &'a Arc<OpenDevice> {
        &self.pipelines.open
    }

    fn models(&self) -> u64 {
        self.pipelines.plan.worlds() * self.range.len()
    }

    fn turn(&self, epoch: u32, step: u32, pass: u32) -> PassParams {
        let (first_run, runs) = (self.range.first, self.range.len() as u32);
        self.pipelines.plan.pass_params(PassPosition { first_run, runs, epoch, step, pass })
    }

    /// Replaces the parameters θ of all models.
    pub(super) async fn write_parameters(&mut self, parameters: &[f32]) -> Result<(), GpuError> {
        // pending dispatches still use the previous ones
        self.submit().await?;
        let words: Vec<u32> = parameters.iter().map(|parameter| parameter.to_bits()).collect();
        self.open().write(&self.buffers.theta, 0, &words);
        Ok(())
    }

    /// Executes one step of all models.
    pub(super) async fn step(
        &mut self,
        rows: &dyn PassRows,
        epoch: u32,
        step: u32,
    ) -> Result<(), GpuError> {
        let Pipelines { plan, kernels, .. } = self.pipelines;
        let passes = plan.passes(rows.max_batch(step));
        for pass in 0..passes {
            let turn = self.turn(epoch, step, pass);
            if let Some(words) = rows.words(step, pass) {
                // pending dispatches still read the previous rows
                self.submit().await?;
                self.open().write(&self.buffers.rows, 0, &words);
            }
            self.dispatch_all(kernels.choose.iter().chain(&kernels.pass), &turn).await?;
        }
        let turn = self.turn(epoch, step, passes - 1);
        self.dispatch_all(&kernels.release, &turn).await?;
        self.examine(&kernels.observe, plan.observed(), (epoch, step)).await?;
        self.dispatch_all(&kernels.finish, &turn).await
    }

    /// Selects the records of a pass, for all models.
    pub(super) async fn select(
        &mut self,
        epoch: u32,
        step: u32,
        pass: u32,
    ) -> Result<(), GpuError> {
        let turn = self.turn(epoch, step, pass);
        self.dispatch_all(&self.pipelines.kernels.choose, &turn).await
    }

    /// Evaluates the canaries and held-out records of a training with many canaries.
    pub(super) async fn evaluate(&mut self) -> Result<(), GpuError> {
        let Pipelines { plan, kernels, .. } = self.pipelines;
        self.examine(&kernels.evaluate, plan.evaluated(), (0, 0)).await
    }

    /// Executes kernels over records that do not depend on the sampler.
    async fn examine(
        &mut self,
        kernels: &'a [Pipeline],
        records: u32,
        (epoch, step): (u32, u32),
    ) -> Result<(), GpuError> {
        if kernels.is_empty() {
            return Ok(());
        }
        for pass in 0..self.pipelines.plan.passes(Some(records as usize)) {
            let turn = self.turn(epoch, step, pass);
            self.dispatch_all(kernels, &turn).await?;
        }
        Ok(())
    }

    async fn dispatch_all(
        &mut self,
        kernels: impl IntoIterator<Item = &'a Pipeline>,
        turn: &PassParams,
    ) -> Result<(), GpuError> {
        for kernel in kernels {
            self.dispatch(kernel, turn).await?;
        }
        Ok(())
    }

    /// Adds a dispatch to the next submission; splits it if necessary.
    async fn dispatch(&mut self, kernel: &'a Pipeline, turn: &PassParams) -> Result<(), GpuError> {
        let work = self.models().saturating_mul(kernel.operations);
        let mut parts = Parts::new(kernel.groups, work);
        while parts.remaining() > 0 {
            let budget = self.submissions.budget();
            if self.work > 0 && self.work.saturating_add(parts.remaining()) > budget {
                self.submit().await?;
            }
            let Some(part) = parts.next(self.submissions.budget()) else { break };
            let turn = PassParams { first_group: part.first_group, ..*turn };
            self.add_part(kernel, part, &turn).await?;
        }
        Ok(())
    }

    /// Adds a part of a dispatch to the next submission.
    async fn add_part(
        &mut self,
        kernel: &'a Pipeline,
        part: Part,
        turn: &PassParams,
    ) -> Result<(), GpuError> {
        let is_new = self.last != Some(*turn);
        if is_new && self.slots.len() as u64 == SLOT_BYTES / 4 * SLOTS as u64 {
            self.submit().await?;
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

    /// Submits the pending dispatches once the device is not too far behind.
    pub(super) async fn submit(&mut self) -> Result<(), GpuError> {
        if self.dispatches.is_empty() {
            return Ok(());
        }
        if !self.control.keep_going() {
            return Err(GpuError::Stopped);
        }
        let open = self.open();
        while self.submissions.is_full() {
            let now_ms = || self.control.now_ms();
            self.submissions.wait_for_oldest(open, now_ms).await?;
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
        self.submissions.push(open, self.number, self.work, submitted_ms, submission);
        self.dispatches.clear();
        self.slots.clear();
        (self.last, self.work) = (None, 0);
        Ok(())
    }

    /// Reads all outputs so far, model by model.
    pub(super) async fn outputs(&mut self) -> Result<Vec<f32>, GpuError> {
        let words = self.pipelines.plan.words_per_model().outputs;
        self.submit().await?;
        let outputs = self.read(&self.buffers.outputs, 0, self.models(), words).await?;
        Ok(outputs.into_iter().map(f32::from_bits).collect())
    }

    /// Reads the parameters θ of some models.
    pub(super) async fn parameters(
        &mut self,
        first: u64,
        models: u64,
    ) -> Result<Vec<f32>, GpuError> {
        let words = self.pipelines.plan.words_per_model().theta;
        self.submit().await?;
        let parameters = self.read(&self.buffers.theta, first, models, words).await?;
        Ok(parameters.into_iter().map(f32::from_bits).collect())
    }

    /// Reads the velocity of each model; empty if there is none.
    pub(super) async fn velocities(&mut self) -> Result<Vec<f32>, GpuError> {
        let words = self.pipelines.plan.words_per_model().vector;
        if words == 0 {
            return Ok(Vec::new());
        }
        self.submit().await?;
        let velocities = self.read(&self.buffers.vector, 0, self.models(), words).await?;
        Ok(velocities.into_iter().map(f32::from_bits).collect())
    }

    /// Reads the rows of the last pass, model by model.
    pub(super) async fn rows(&mut self) -> Result<Vec<u32>, GpuError> {
        let words = self.pipelines.plan.words_per_model().rows;
        self.submit().await?;
        self.read(&self.buffers.rows, 0, self.models(), words).await
    }

    /// Waits for all submissions, then reads the words of some models from a buffer.
    async fn read(
        &mut self,
        buffer: &wgpu::Buffer,
        first: u64,
        models: u64,
        words: usize,
    ) -> Result<Vec<u32>, GpuError> {
        if models == 0 {
            return Ok(Vec::new());
        }
        let (open, bytes) = (self.open(), 4 * words as u64);
        let reading = open.read(buffer, first * bytes..(first + models) * bytes);
        let now_ms = || self.control.now_ms();
        while self.submissions.wait_for_oldest(open, now_ms).await?.is_some() {}
        let read = reading.words().await?;
        if read.len() as u64 != models * words as u64 {
            return Err(GpuError::Device(format!("the device returned {} words", read.len())));
        }
        Ok(read)
    }
}
