//! Federated trainings on a GPU: in every round, the clients of several trainings are the models of
//! waves. Clipping, sums, noise and scores stay on the host, in the code of the CPU.

mod rows;
mod self_test;

use std::fmt;

use dpscope_engine::gpu::Adapter;
use dpscope_engine::{Control, Device, EngineError, GpuError, Queue, QueueError, UnitRange, Wave};
use rayon::prelude::*;

use super::device::{Tested, WaveDevice};
use super::pipelines::{SELF_TEST_MODELS, SourceEdit};
use super::plan::{GpuPlan, most_rows};
use super::size::WaveLimits;
use super::subject::Subject;
use super::wave::Waves;
use crate::TrainError;
use crate::federated::{
    FederatedEvidence, FederatedRunner, FederatedTrainer, FederatedUnit, Participant,
};
use crate::threads::Threads;
use rows::LocalRows;

/// Most bytes of stored updates of the trainings of a wave, or of the models of a round's clients.
const MOST_BYTES: u64 = 1 << 30;

/// Most trainings of a wave.
const MOST_TRAININGS: u64 = 256;

/// A device that trains clients; the CPU trainer is the reference of its self-test.
#[derive(Debug)]
pub(crate) struct GpuFederated {
    device: WaveDevice,
}

impl GpuFederated {
    /// Opens an adapter and runs the self-test; `edit` changes kernels, for tests.
    pub(crate) async fn open(
        trainer: &FederatedTrainer,
        adapter: &Adapter,
        limits: WaveLimits,
        edit: Option<SourceEdit>,
        keep_going: &(dyn Fn() -> bool + Sync),
    ) -> Result<Self, EngineError> {
        let device = WaveDevice::open(trainer, adapter, limits, edit, keep_going).await?;
        Ok(GpuFederated { device })
    }

    /// Name and float mode.
    pub(crate) fn device(&self) -> Device {
        self.device.device()
    }

    /// Destroys the device, like a driver reset.
    pub(crate) fn lose_device(&self, may_reopen: bool) {
        if !may_reopen {
            self.device.forbid_reopening();
        }
        self.device.lose();
    }

    /// Number of trainings whose clients of a round fit in a wave, on average, and whose updates fit in
    /// memory.
    fn trainings(&self, trainer: &FederatedTrainer) -> u64 {
        let (training, models) = (trainer.training(), self.device.smallest_wave());
        let settings = training.settings();
        let clients = settings.expected_clients().max(1.0);
        let stored = if settings.sees_updates { u64::from(settings.rounds) } else { 0 };
        let bytes = 4 * (stored + 8) * training.parameters() as u64;
        let most = (MOST_BYTES / bytes).clamp(1, MOST_TRAININGS);
        ((models as f64 / clients) as u64).clamp(1, most)
    }
}

/// Trains the models of some units.
async fn train_wave(
    waves: &mut Waves,
    trainer: &FederatedTrainer,
    range: UnitRange,
    control: &dyn Control,
) -> Result<Vec<FederatedUnit>, GpuError> {
    let mut servers = trainer.servers(range);
    let count = trainer.training().parameters();
    for round in 0..trainer.training().settings().rounds as usize {
        let trained = train_clients(waves, trainer, &servers, round, control).await?;
        let mut rest = &trained[..];
        let of_server = |server: &FederatedRunner<'_>| {
            let (first, others) = rest.split_at(server.participants(round).count() * count);
            rest = others;
            first
        };
        let trained: Vec<&[f32]> = servers.iter().map(of_server).collect();
        let finish = |(server, trained): (&mut FederatedRunner<'_>, &[f32])| {
            let mut trained = trained.chunks_exact(count);
            server.round(round, &mut |_, before, change| {
                let Some(after) = trained.next() else { return false };
                let ends = after.iter().zip(before);
                change.iter_mut().zip(ends).for_each(|(change, (after, before))| {
                    *change = after - before;
                });
                true
            })
        };
        let rounds = || servers.par_iter_mut().zip(trained).map(finish).collect::<Option<()>>();
        trainer.threads().install(rounds).ok_or(GpuError::Stopped)?;
    }
    Ok(trainer.threads().install(|| servers.par_iter_mut().map(FederatedRunner::finish).collect()))
}

/// The parameters of all clients of a round after their local training.
async fn train_clients(
    waves: &mut Waves,
    trainer: &FederatedTrainer,
    servers: &[FederatedRunner<'_>],
    round: usize,
    control: &dyn Control,
) -> Result<Vec<f32>, GpuError> {
    let of_server = |server: &FederatedRunner<'_>| server.participants(round).collect::<Vec<_>>();
    let of_servers: Vec<Vec<Participant>> = servers.iter().map(of_server).collect();
    let clients: Vec<(&FederatedRunner<'_>, Participant)> = (servers.iter().zip(&of_servers))
        .flat_map(|(server, clients)| clients.iter().map(move |&client| (server, client)))
        .collect();
    let mut trained = Vec::with_capacity(clients.len() * trainer.training().parameters());
    let mut rest = &clients[..];
    while !rest.is_empty() {
        let (now, later) = rest.split_at(rest.len().min(waves.units() as usize));
        match train_models(waves, trainer, now, control).await {
            Err(GpuError::Unfit(reason)) => waves.halve(now.len() as u64, reason, control)?,
            found => {
                trained.extend(found?);
                rest = later;
            }
        }
    }
    Ok(trained)
}

/// The parameters of some clients, each a model of one wave.
async fn train_models(
    waves: &mut Waves,
    trainer: &FederatedTrainer,
    clients: &[(&FederatedRunner<'_>, Participant)],
    control: &dyn Control,
) -> Result<Vec<f32>, GpuError> {
    let models = clients.len() as u64;
    let mut wave = waves.begin(UnitRange { first: 0, end: models }, control).await?;
    let before: Vec<f32> =
        clients.iter().flat_map(|(server, _)| server.parameters()).copied().collect();
    wave.write_parameters(&before).await?;
    let participants: Vec<Participant> = clients.iter().map(|&(_, client)| client).collect();
    let plan = &wave.pipelines.plan;
    let mut rows = LocalRows::new(trainer.training(), plan, &participants);
    while rows.next() {
        wave.step(&rows, 0, 0).await?;
    }
    wave.parameters(0, models).await
}

impl Subject for FederatedTrainer {
    fn unsupported(&self) -> Option<&'static str> {
        let clients = self.training().settings().expected_clients();
        let bytes = 4.0 * clients * self.training().parameters() as f64;
        // The host holds the models of a round's clients; on the CPU, one for each thread.
        let what = "a server round whose clients have models of more than 1 GiB together";
        (bytes > MOST_BYTES as f64).then_some(what)
    }

    fn max_rows(&self) -> usize {
        most_rows(self.training())
    }

    fn read_models(&self) -> u64 {
        SELF_TEST_MODELS
    }

    fn plan(&self, max_rows: usize) -> Result<GpuPlan, TrainError> {
        GpuPlan::of_clients(self.training(), max_rows)
    }

    fn threads(&self) -> &Threads {
        self.threads()
    }
}

impl Tested for FederatedTrainer {
    async fn self_test(&self, waves: &mut Waves, control: &dyn Control) -> Result<(), GpuError> {
        self_test::check(waves, self, control).await
    }
}

/// The waves of a plan.
pub struct FederatedQueue<'a> {
    gpu: &'a GpuFederated,
    trainer: &'a FederatedTrainer,
    control: &'a dyn Control,
}

impl fmt::Debug for FederatedQueue<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FederatedQueue").finish_non_exhaustive()
    }
}

impl<'a> FederatedQueue<'a> {
    pub(crate) fn new(
        gpu: &'a GpuFederated,
        trainer: &'a FederatedTrainer,
        control: &'a dyn Control,
    ) -> Self {
        FederatedQueue { gpu, trainer, control }
    }
}

impl Queue for FederatedQueue<'_> {
    type Evidence = FederatedEvidence;
    type Ticket = Wave<FederatedEvidence>;

    fn depth(&self) -> usize {
        1
    }

    fn smallest_wave(&self) -> u64 {
        self.gpu.trainings(self.trainer)
    }

    fn opening(&self) -> u64 {
        self.gpu.device.opening()
    }

    async fn submit(&mut self, range: UnitRange) -> Result<Wave<FederatedEvidence>, QueueError> {
        let started = self.control.now_ms();
        let (trainer, control) = (self.trainer, self.control);
        let end = range.end.min(range.first + self.gpu.trainings(trainer));
        let train =
            async |waves: &mut Waves, range| train_wave(waves, trainer, range, control).await;
        let range = UnitRange { end, ..range };
        let (range, models) = self.gpu.device.train(trainer, range, control, train).await?;
        let description = trainer.training().description().to_owned();
        let evidence = FederatedEvidence { description, models };
        Ok(Wave { range, evidence, spent_ms: self.control.now_ms() - started })
    }

    async fn collect(
        &mut self,
        wave: Wave<FederatedEvidence>,
    ) -> Result<Wave<FederatedEvidence>, QueueError> {
        Ok(wave)
    }

    async fn reopen(&mut self, opening: u64) -> Result<bool, String> {
        self.gpu.device.reopen(opening).await
    }
}
