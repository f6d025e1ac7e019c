//! Local training of a client.

use dpscope_core::random::{Purpose, Words};

use super::training::FederatedTraining;
use crate::gradient::{InstructionSet, RowSpace, SecondOrderWorkspace};

/// A client that takes part in a server round of a unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Participant {
    pub(crate) unit: u64,
    pub(crate) round: usize,
    pub(crate) client: u32,
}

/// The local batches of a participant, step by step.
#[derive(Debug)]
pub(crate) struct LocalSteps<'a> {
    records: &'a [u32],
    /// Places in `records` in the order of an epoch.
    order: Vec<u32>,
    words: Words,
    batch_size: usize,
    epochs: u32,
    place: usize,
}

impl<'a> LocalSteps<'a> {
    pub(crate) fn new(training: &'a FederatedTraining, participant: Participant) -> Self {
        let Participant { unit, round, client } = participant;
        let records = &training.clients[client as usize][..];
        // a stream of each client in each round
        let stream = (unit << 24 | u64::from(client)).rotate_left(17) ^ round as u64;
        let words = Words::new(training.seed, Purpose::FederatedOrder, stream);
        let settings = &training.settings;
        let (batch_size, epochs) = (settings.local_batch_size as usize, settings.local_epochs);
        let order: Vec<u32> = (0..records.len() as u32).collect();
        LocalSteps { place: order.len(), records, order, words, batch_size, epochs }
    }

    /// Whether every batch has all records.
    fn is_whole(&self) -> bool {
        self.batch_size >= self.order.len()
    }

    /// The next batch, as places in the records of the client.
    fn next(&mut self) -> Option<&[u32]> {
        if self.place >= self.order.len() {
            if self.epochs == 0 || self.order.is_empty() {
                return None;
            }
            self.epochs -= 1;
            self.place = 0;
            if !self.is_whole() {
                self.words.shuffle(&mut self.order);
            }
        }
        let first = self.place;
        self.place = self.order.len().min(first.saturating_add(self.batch_size));
        Some(&self.order[first..self.place])
    }

    /// Replaces `batch` by the records of the next batch; false, and none, after the last.
    pub(crate) fn next_records(&mut self, batch: &mut Vec<u32>) -> bool {
        batch.clear();
        let records = self.records;
        let Some(places) = self.next() else { return false };
        batch.extend(places.iter().map(|&place| records[place as usize]));
        true
    }
}

/// η/b of a local batch of b records.
pub(crate) fn local_rate(training: &FederatedTraining, records: usize) -> f64 {
    training.settings.local_learning_rate / records as f64
}

/// Trains clients on one thread.
#[derive(Debug)]
pub(crate) struct LocalTrainer<'a> {
    training: &'a FederatedTraining,
    gradients: SecondOrderWorkspace,
    row_space: Option<RowSpace>,
    set: InstructionSet,
    scratch: Vec<f32>,
    batch: Vec<u32>,
    rows: Vec<f32>,
    labels: Vec<u32>,
}

impl<'a> LocalTrainer<'a> {
    pub(crate) fn new(training: &'a FederatedTraining) -> Self {
        LocalTrainer {
            training,
            gradients: SecondOrderWorkspace::new(&training.network),
            row_space: RowSpace::new(&training.network),
            set: InstructionSet::detect(),
            batch: Vec::new(),
            scratch: vec![0.0; training.parameters()],
            rows: Vec::new(),
            labels: Vec::new(),
        }
    }

    /// Trains a participant from the parameters of the server, and writes how far it moves.
    pub(super) fn train(
        &mut self,
        participant: Participant,
        parameters: &[f32],
        change: &mut [f32],
    ) {
        let training = self.training;
        let mut steps = LocalSteps::new(training, participant);
        let (records, epochs) = (steps.records, steps.epochs);
        let is_cheaper = |found: &&mut RowSpace| found.is_cheaper(records.len(), epochs);
        if let Some(row_space) = self.row_space.as_mut().filter(is_cheaper) {
            let fill = |rows: &mut _, labels: &mut _| training.examples.fill(records, rows, labels);
            row_space.start(parameters, fill);
            while let Some(places) = steps.next() {
                row_space.descend(places, local_rate(training, places.len()) as f32);
            }
            return row_space.change(parameters, change);
        }
        change.copy_from_slice(parameters);
        let mut batch = std::mem::take(&mut self.batch);
        let (is_whole, mut is_first) = (steps.is_whole(), true);
        while steps.next_records(&mut batch) {
            if is_first || !is_whole {
                training.examples.fill(&batch, &mut self.rows, &mut self.labels);
            }
            is_first = false;
            self.descend(batch.len(), change);
        }
        self.batch = batch;
        self.set.add_scaled(-1.0, parameters, change);
    }

    /// One step on some records; returns √Σ‖g‖² over their gradients g at the parameters before it.
    #[cfg(feature = "gpu")]
    pub(crate) fn step(&mut self, batch: &[u32], parameters: &mut [f32]) -> f64 {
        self.training.examples.fill(batch, &mut self.rows, &mut self.labels);
        let mut products = Vec::new();
        let rows = (&self.rows[..], &self.labels[..]);
        self.gradients.inner_products((parameters, &self.scratch), rows, &mut products);
        self.descend(batch.len(), parameters);
        products.iter().map(|(square, _)| square).sum::<f64>().sqrt()
    }

    /// η/b of a batch of b records.
    #[cfg(feature = "gpu")]
    pub(crate) fn rate(&self, records: usize) -> f64 {
        local_rate(self.training, records)
    }

    fn descend(&mut self, records: usize, parameters: &mut [f32]) {
        let rate = local_rate(self.training, records) as f32;
        let rows = (&self.rows[..], &self.labels[..]);
        self.gradients.descend(parameters, rows, rate, &mut self.scratch);
    }
}
