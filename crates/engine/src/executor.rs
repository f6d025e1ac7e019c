//! Waves of a stage on the best device that works: one that fails is reopened, then replaced by the
//! CPU.

use crate::workload::{Device, Queue, QueueError, Wave, Workload};
use crate::{Control, EngineError, GpuError, Plan, UnitRange};

type EvidenceOf<W> = <<W as Workload>::Plan as Plan>::Evidence;
type TicketOf<'a, W> = <<W as Workload>::Queue<'a> as Queue>::Ticket;

/// Computes waves; what was submitted is collected in the same order.
pub(crate) struct Executor<'a, W: Workload> {
    workload: &'a W,
    stage: &'a <W::Plan as Plan>::Stage,
    control: &'a dyn Control,
    /// `None` if the CPU computes.
    queue: Option<W::Queue<'a>>,
    /// Whether the CPU has replaced a device.
    fell_back: bool,
}

/// A wave in flight.
pub(crate) enum Pending<T, E> {
    Computed(Computed<E>),
    /// With the opening of the device that it was submitted to.
    Submitted {
        range: UnitRange,
        opening: u64,
        ticket: Result<T, GpuError>,
    },
}

/// A computed wave.
pub(crate) struct Computed<E> {
    pub(crate) wave: Wave<E>,
    pub(crate) device: Device,
    /// Whether the CPU replaced a failed device.
    pub(crate) is_fallback: bool,
}

impl<'a, W: Workload> Executor<'a, W> {
    pub(crate) fn new(
        workload: &'a W,
        stage: &'a <W::Plan as Plan>::Stage,
        control: &'a dyn Control,
    ) -> Self {
        let queue = workload.queue(stage, control);
        Executor { workload, stage, control, queue, fell_back: false }
    }

    /// Number of waves in flight.
    pub(crate) fn depth(&self) -> usize {
        self.queue.as_ref().map_or(1, |queue| queue.depth().max(1))
    }

    /// Wave sizes are multiples of this.
    pub(crate) fn smallest_wave(&self) -> u64 {
        let cpu = || self.workload.smallest_wave();
        self.queue.as_ref().map_or_else(cpu, Queue::smallest_wave).max(1)
    }

    pub(crate) async fn submit(
        &mut self,
        range: UnitRange,
    ) -> Result<Pending<TicketOf<'a, W>, EvidenceOf<W>>, EngineError> {
        let Some(queue) = &mut self.queue else {
            return Ok(Pending::Computed(self.compute(range)?));
        };
        let opening = queue.opening();
        let ticket = match queue.submit(range).await {
            Ok(ticket) => Ok(ticket),
            Err(QueueError::Run(error)) => return Err(error),
            Err(QueueError::Gpu(GpuError::Stopped)) => return Err(EngineError::Stopped),
            // waves in flight are collected first
            Err(QueueError::Gpu(failure)) => Err(failure),
        };
        Ok(Pending::Submitted { range, opening, ticket })
    }

    /// The evidence of the first submitted wave, or of the start of it.
    pub(crate) async fn collect(
        &mut self,
        pending: Pending<TicketOf<'a, W>, EvidenceOf<W>>,
    ) -> Result<Computed<EvidenceOf<W>>, EngineError> {
        let (range, opening, ticket) = match pending {
            Pending::Computed(computed) => return Ok(computed),
            Pending::Submitted { range, opening, ticket } => (range, opening, ticket),
        };
        let Some(queue) = &mut self.queue else { return self.compute_start(range) };
        let collected = match ticket {
            Ok(ticket) => queue.collect(ticket).await,
            Err(failure) => Err(failure.into()),
        };
        match collected {
            Ok(wave) => Ok(Computed { wave, device: self.workload.device(), is_fallback: false }),
            Err(QueueError::Run(error)) => Err(error),
            Err(QueueError::Gpu(failure)) => self.repeat(range, opening, failure).await,
        }
    }

    /// Repeats a failed wave on the reopened device; otherwise the start of it on the CPU, which also
    /// computes all later waves.
    async fn repeat(
        &mut self,
        range: UnitRange,
        mut opening: u64,
        mut failure: GpuError,
    ) -> Result<Computed<EvidenceOf<W>>, EngineError> {
        let Some(queue) = &mut self.queue else { return self.compute_start(range) };
        let reason = loop {
            let reason = match failure {
                GpuError::Stopped => return Err(EngineError::Stopped),
                GpuError::Unfit(reason) => break reason,
                GpuError::Device(reason) => reason,
            };
            let is_new = match queue.reopen(opening).await {
                Ok(is_new) => is_new,
                Err(closed) => break format!("{reason}; {closed}"),
            };
            if is_new {
                self.control.warn(&format!("{reason}; the device was reopened"));
            }
            opening = queue.opening();
            let repeated = match queue.submit(range).await {
                Ok(ticket) => queue.collect(ticket).await,
                Err(failure) => Err(failure),
            };
            match repeated {
                Ok(wave) => {
                    return Ok(Computed {
                        wave,
                        device: self.workload.device(),
                        is_fallback: false,
                    });
                }
                Err(QueueError::Run(error)) => return Err(error),
                Err(QueueError::Gpu(GpuError::Device(again))) if is_new => break again,
                // It was lost after another wave opened it.
                Err(QueueError::Gpu(again)) => failure = again,
            }
        };
        self.control.warn(&format!("{reason}; continuing on the CPU"));
        (self.queue, self.fell_back) = (None, true);
        self.compute_start(range)
    }

    /// Computes the start of a wave: a whole wave of a device may take the CPU hours.
    fn compute_start(&self, range: UnitRange) -> Result<Computed<EvidenceOf<W>>, EngineError> {
        self.compute(range.first(self.smallest_wave()))
    }

    fn compute(&self, range: UnitRange) -> Result<Computed<EvidenceOf<W>>, EngineError> {
        let started = self.control.now_ms();
        let evidence = self.workload.compute(self.stage, range, self.control)?;
        let wave = Wave { range, evidence, spent_ms: self.control.now_ms() - started };
        Ok(Computed { wave, device: self.workload.cpu(), is_fallback: self.fell_back })
    }
}
