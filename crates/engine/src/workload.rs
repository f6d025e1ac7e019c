//! What the engine needs to know about a computation.

use std::convert::Infallible;
use std::future::Future;
use std::marker::PhantomData;

use crate::{ArtefactError, Control, EngineError, FloatMode, GpuError, Plan, UnitRange};

/// A computation that turns units of a plan into evidence.
///
/// The evidence of a unit is a function of plan, stage and index of the unit. The CPU computes every
/// workload; a device may compute waves of units through a [`Queue`], and the CPU takes over if it
/// fails.
pub trait Workload {
    /// The plans that it executes.
    type Plan: Plan;
    /// Its way to a device; [`NoQueue`] if there is none.
    type Queue<'a>: Queue<Evidence = <Self::Plan as Plan>::Evidence>
    where
        Self: 'a;

    /// The plan.
    fn plan(&self) -> &Self::Plan;

    /// The first stage, a function of the plan alone: the same for every shard and device.
    ///
    /// # Errors
    /// `keep_going` returned `false`; the plan cannot be executed.
    fn first_stage(
        &self,
        keep_going: &(dyn Fn() -> bool + Sync),
    ) -> Result<<Self::Plan as Plan>::Stage, EngineError>;

    /// The stage after one whose evidence is whole; `None` after the last.
    ///
    /// # Errors
    /// Evidence without a next stage.
    fn next_stage(
        &self,
        _stage: &<Self::Plan as Plan>::Stage,
        _whole: &<Self::Plan as Plan>::Evidence,
    ) -> Result<Option<<Self::Plan as Plan>::Stage>, EngineError> {
        Ok(None)
    }

    /// Evidence of no units.
    fn empty(&self, stage: &<Self::Plan as Plan>::Stage) -> <Self::Plan as Plan>::Evidence {
        self.plan().empty(stage)
    }

    /// Checks that units computed here can be added to saved evidence of the same plan.
    ///
    /// # Errors
    /// A stage or evidence of another computation.
    fn check(
        &self,
        _stage: &<Self::Plan as Plan>::Stage,
        _evidence: &<Self::Plan as Plan>::Evidence,
    ) -> Result<(), ArtefactError> {
        Ok(())
    }

    /// The CPU.
    fn cpu(&self) -> Device;

    /// The device of [`queue`](Self::queue), or the CPU.
    fn device(&self) -> Device {
        self.cpu()
    }

    /// Minimum number of units that occupies the CPU; waves are multiples of it.
    fn smallest_wave(&self) -> u64;

    /// Evidence of some units, by the CPU.
    ///
    /// # Errors
    /// Cancelled by `control`; an error of a callback.
    fn compute(
        &self,
        stage: &<Self::Plan as Plan>::Stage,
        range: UnitRange,
        control: &dyn Control,
    ) -> Result<<Self::Plan as Plan>::Evidence, EngineError>;

    /// The device's queue for a stage; `None` if the CPU computes.
    fn queue<'a>(
        &'a self,
        _stage: &'a <Self::Plan as Plan>::Stage,
        _control: &'a dyn Control,
    ) -> Option<Self::Queue<'a>> {
        None
    }
}

/// Name and float mode of a device, for reports and for the merging of counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Device {
    /// Its name.
    pub name: String,
    /// How it computes.
    pub mode: FloatMode,
}

/// Evidence of a wave.
#[derive(Debug, Clone, PartialEq)]
pub struct Wave<E> {
    /// The requested units, or the first of them.
    pub range: UnitRange,
    /// Their evidence.
    pub evidence: E,
    /// Wall time; that of overlapping waves is not counted twice.
    pub spent_ms: f64,
}

/// Why a queue has no evidence.
#[derive(Debug)]
pub enum QueueError {
    /// The device failed, and the wave must be repeated.
    Gpu(GpuError),
    /// The run ends.
    Run(EngineError),
}

impl From<GpuError> for QueueError {
    fn from(error: GpuError) -> Self {
        QueueError::Gpu(error)
    }
}

impl From<EngineError> for QueueError {
    fn from(error: EngineError) -> Self {
        QueueError::Run(error)
    }
}

impl From<QueueError> for EngineError {
    fn from(error: QueueError) -> Self {
        match error {
            QueueError::Gpu(error) => error.into(),
            QueueError::Run(error) => error,
        }
    }
}

/// Waves on a device: submitted, and collected in the same order.
pub trait Queue {
    /// What a wave yields.
    type Evidence;
    /// A submitted wave.
    type Ticket;

    /// Number of waves in flight.
    fn depth(&self) -> usize;

    /// Minimum number of units that occupies the device; waves are multiples of it.
    fn smallest_wave(&self) -> u64;

    /// How often the device has been opened so far.
    fn opening(&self) -> u64;

    /// Submits a wave.
    ///
    /// # Errors
    /// The device fails; cancelled.
    fn submit(
        &mut self,
        range: UnitRange,
    ) -> impl Future<Output = Result<Self::Ticket, QueueError>>;

    /// The evidence of the first submitted wave.
    ///
    /// # Errors
    /// The device failed; cancelled.
    fn collect(
        &mut self,
        ticket: Self::Ticket,
    ) -> impl Future<Output = Result<Wave<Self::Evidence>, QueueError>>;

    /// Opens the device again; returns whether this call did, or an earlier one since `opening`.
    ///
    /// # Errors
    /// Why the device stays closed.
    fn reopen(&mut self, opening: u64) -> impl Future<Output = Result<bool, String>>;
}

/// The queue of a workload that no device computes.
#[derive(Debug)]
pub struct NoQueue<E>(Infallible, PhantomData<E>);

impl<E> Queue for NoQueue<E> {
    type Evidence = E;
    type Ticket = Infallible;

    fn depth(&self) -> usize {
        match self.0 {}
    }

    fn smallest_wave(&self) -> u64 {
        match self.0 {}
    }

    fn opening(&self) -> u64 {
        match self.0 {}
    }

    async fn submit(&mut self, _: UnitRange) -> Result<Infallible, QueueError> {
        match self.0 {}
    }

    async fn collect(&mut self, ticket: Infallible) -> Result<Wave<E>, QueueError> {
        match ticket {}
    }

    async fn reopen(&mut self, _: u64) -> Result<bool, String> {
        match self.0 {}
    }
}
