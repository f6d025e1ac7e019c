//! Federated trainings on a GPU: in every round, the clients of several trainings are the models of
//! waves. Clipping, sums, noise and scores stay on the host, in the code of the CPU.

mod rows;
mod self_test;

use dpscope_engine::{Control, GpuError, UnitRange};
use rayon::prelude::*;

use super::pipelines::SELF_TEST_MODELS;
use super::plan::{GpuPlan, most_rows};
use super::queue::OnDevice;
use super::subject::Subject;
use super::wave::Waves;
use crate::federated::{FederatedRunner, FederatedTraining, FederatedUnit, Participant};
use crate::models::Trainer;
use rows::LocalRows;

/// Most bytes of stored updates of the trainings of a wave, or of the models of a round's clients.
const MOST_BYTES: u64 = 1 << 30;

/// Most trainings of a wave.
const MOST_TRAININGS: u64 = 256;

impl OnDevice for FederatedTraining {
    fn subject(&self) -> Subject<'_> {
        let bytes = 4.0 * self.settings().expected_clients() * self.parameters() as f64;
        // The host holds the models of a round's clients; on the CPU, one for each thread.
        let what = "a server round whose clients have models of more than 1 GiB together";
        Subject {
            unsupported: (bytes > MOST_BYTES as f64).then_some(what),
            max_rows: most_rows(self),
            read_models: SELF_TEST_MODELS,
            plan: Box::new(|max_rows| GpuPlan::of_clients(self, max_rows)),
        }
    }

    async fn self_test(
        trainer: &Trainer<Self>,
        waves: &mut Waves,
        control: &dyn Control,
    ) -> Result<(), GpuError> {
        self_test::check(waves, trainer.training(), control).await
    }

    /// Trainings whose clients of a round are so many on average, and whose updates fit in memory.
    fn units_per_wave(&self, models: u64) -> u64 {
        let settings = self.settings();
        let clients = settings.expected_clients().max(1.0);
        let stored = if settings.sees_updates { u64::from(settings.rounds) } else { 0 };
        let bytes = 4 * (stored + 8) * self.parameters() as u64;
        let most = (MOST_BYTES / bytes).clamp(1, MOST_TRAININGS);
        ((models as f64 / clients) as u64).clamp(1, most)
    }

    async fn train_wave(
        trainer: &Trainer<Self>,
        waves: &mut Waves,
        range: UnitRange,
        control: &dyn Control,
    ) -> Result<Vec<FederatedUnit>, GpuError> {
        let training = trainer.training();
        let started = |unit| {
            let mut server = FederatedRunner::new(training);
            server.start(trainer.context.task(unit));
            server
        };
        let mut servers: Vec<FederatedRunner<'_>> = (range.first..range.end).map(started).collect();
        let count = training.parameters();
        for round in 0..training.settings().rounds as usize {
            let trained = train_clients(waves, training, &servers, round, control).await?;
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
        let finished = || servers.par_iter_mut().map(FederatedRunner::finish).collect();
        Ok(trainer.threads().install(finished))
    }
}

/// The parameters of all clients of a round after their local training.
async fn train_clients(
    waves: &mut Waves,
    training: &FederatedTraining,
    servers: &[FederatedRunner<'_>],
    round: usize,
    control: &dyn Control,
) -> Result<Vec<f32>, GpuError> {
    let of_server = |server: &FederatedRunner<'_>| server.participants(round).collect::<Vec<_>>();
    let of_servers: Vec<Vec<Participant>> = servers.iter().map(of_server).collect();
    let clients: Vec<(&FederatedRunner<'_>, Participant)> = (servers.iter().zip(&of_servers))
        .flat_map(|(server, clients)| clients.iter().map(move |&client| (server, client)))
        .collect();
    let mut trained = Vec::with_capacity(clients.len() * training.parameters());
    let mut rest = &clients[..];
    while !rest.is_empty() {
        let (now, later) = rest.split_at(rest.len().min(waves.units() as usize));
        match train_models(waves, training, now, control).await {
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
    training: &FederatedTraining,
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
    let mut rows = LocalRows::new(training, plan, &participants);
    while rows.next() {
        wave.step(&rows, 0, 0).await?;
    }
    wave.parameters(0, models).await
}
