//! A group of runs in one world, one per lane.

use dpscope_core::accounting::pate::moments_epsilon;
use dpscope_core::audit::generator::OwnRowLosses;

use crate::fault::{Fault, FaultSet};
use crate::lanes::{LANES, Lanes};
use crate::mechanism::draws::{Draws, fill_latent, symmetric};
use crate::mechanism::losses::own_row_losses;
use crate::mechanism::output::Run;
use crate::mechanism::partition::teacher_rows;
use crate::mechanism::real_rows::Readers;
use crate::mechanism::release::Released;
use crate::mechanism::votes::Channel;
use crate::mechanism::world::WorldData;
use crate::network::{Dense, TwoLayers, cross_entropy};
use crate::settings::Stop;
use crate::trace::{LabelNoise, Reader, Trace, VoteCounts};

/// What is known of one run.
#[derive(Debug, Clone)]
struct Lane {
    unit: u64,
    draws: Draws,
    /// Rows of each teacher in this iteration.
    rows: Vec<Vec<u32>>,
    /// Whether a teacher had access to a row.
    seen: Vec<Vec<bool>>,
    votes: VoteCounts,
    noise: LabelNoise,
    readers: Readers,
    /// Mean of squares: their sum and number.
    latent: [f64; 2],
    iterations: Option<u32>,
    /// Steps of its teachers since they were initialised, at the end.
    teacher_age: u64,
    own_losses: OwnRowLosses,
}

/// Runs that are trained at once.
pub(super) struct Group<'a> {
    data: &'a WorldData,
    faults: FaultSet,
    seed: u64,
    channel: Channel,
    lanes: Vec<Lane>,
    teachers: Vec<Dense>,
    /// They, when they were initialised.
    first_teachers: Vec<Dense>,
    student: TwoLayers,
    generator: TwoLayers,
    /// Generators of runs that have ended.
    ended: TwoLayers,
    age: u64,
    batch: usize,
    z: Vec<Lanes>,
    /// Generated rows, then real ones.
    x: Vec<Lanes>,
    labels: Vec<Lanes>,
    logits: Vec<Lanes>,
    changes: Vec<Lanes>,
    x_changes: Vec<Lanes>,
}

impl<'a> Group<'a> {
    /// `units` has at most [`LANES`] of them.
    pub(super) fn new(data: &'a WorldData, faults: FaultSet, seed: u64, units: &[u64]) -> Self {
        let d = data.width();
        let batch = data.settings.batch_size as usize;
        let kinds = data.settings.teachers as usize + 1;
        let zeros = vec![0; kinds];
        let votes = VoteCounts { votes: zeros.clone(), ones: zeros.clone(), accounted: zeros };
        let mut lanes: Vec<Lane> = units
            .iter()
            .map(|&unit| Lane {
                unit,
                draws: Draws::new(seed, unit),
                rows: Vec::new(),
                seen: Vec::new(),
                votes: votes.clone(),
                noise: LabelNoise::default(),
                readers: Readers::default(),
                latent: [0.0; 2],
                iterations: None,
                teacher_age: 0,
                own_losses: OwnRowLosses::default(),
            })
            .collect();
        let teachers = if faults.has(Fault::O1) { 0 } else { data.settings.teachers };
        let teachers: Vec<Dense> =
            (0..teachers).map(|_| Dense::new(d, 1, || initial(&mut lanes))).collect();
        let student = TwoLayers::new([d, d, 1], || initial(&mut lanes));
        let generator = TwoLayers::new([d, (d / 2).max(1), d], || initial(&mut lanes));
        let rows = vec![Lanes::ZERO; 2 * batch];
        let wide = vec![Lanes::ZERO; 2 * batch * d];
        Group {
            channel: Channel::new(&data.settings, faults),
            data,
            faults,
            seed,
            lanes,
            first_teachers: teachers.clone(),
            teachers,
            student,
            ended: generator.clone(),
            generator,
            age: 0,
            batch,
            z: wide[..batch * d].to_vec(),
            x: wide.clone(),
            labels: rows.clone(),
            logits: rows.clone(),
            changes: rows,
            x_changes: wide[..batch * d].to_vec(),
        }
    }

    /// Trains, and releases rows; none once `keep_going` returns false, which is asked before each
    /// iteration.
    pub(super) fn run(mut self, keep_going: &dyn Fn() -> bool) -> Option<Vec<Run>> {
        for iteration in 0..self.data.iterations {
            if !keep_going() {
                return None;
            }
            self.stop(iteration);
            if self.lanes.iter().all(|lane| lane.iterations.is_some()) {
                break;
            }
            self.divide(iteration);
            if self.faults.has(Fault::O1) {
                for _ in 0..self.data.settings.student_steps {
                    self.discriminate();
                }
            } else {
                for _ in 0..self.data.settings.teacher_steps {
                    self.teach();
                }
                for _ in 0..self.data.settings.student_steps {
                    self.study();
                }
            }
            self.step_generator();
        }
        for lane in 0..self.lanes.len() {
            self.end(lane, self.data.iterations);
        }
        Some(self.release())
    }

    /// Ends the runs whose data-dependent ε would exceed what is allowed (E8).
    fn stop(&mut self, iteration: u32) {
        let Stop::Epsilon { epsilon, .. } = self.data.settings.stop else { return };
        if !self.faults.has(Fault::E8) {
            return;
        }
        let votes = u64::from(self.data.settings.student_steps) * self.batch as u64;
        let data = self.data;
        let exceeds = |lane: &Lane| {
            let spent = data.moments.sums(&lane.votes.accounted);
            let next = data.moments.bounds(votes).zip(spent).map(|(next, spent)| next + spent);
            let next = next.map(|moment| if moment >= 0.0 { moment } else { f64::INFINITY });
            moments_epsilon(next, data.settings.delta).is_ok_and(|next| next.epsilon > epsilon)
        };
        let ending = (0..self.lanes.len()).filter(|lane| exceeds(&self.lanes[*lane]));
        for lane in ending.collect::<Vec<_>>() {
            self.end(lane, iteration);
        }
    }

    fn end(&mut self, lane: usize, iteration: u32) {
        if self.lanes[lane].iterations.is_none() {
            self.lanes[lane].iterations = Some(iteration);
            self.lanes[lane].teacher_age = self.age;
            let teachers = [&self.first_teachers[..], &self.teachers];
            let Lane { seen, readers, own_losses, .. } = &mut self.lanes[lane];
            *own_losses = own_row_losses(&self.data.rows, seen, lane, teachers, readers);
            self.ended.first.copy_lane(lane, &self.generator.first);
            self.ended.second.copy_lane(lane, &self.generator.second);
        }
    }

    /// Gives the teachers their rows, once or anew, and new parameters where a fault asks for it.
    fn divide(&mut self, iteration: u32) {
        if iteration == 0 || self.faults.has(Fault::S1) {
            for lane in self.lanes.iter_mut().filter(|lane| lane.iterations.is_none()) {
                lane.rows = teacher_rows(self.data, self.faults, self.seed, lane.unit, iteration);
                lane.seen.resize(lane.rows.len(), vec![false; self.data.rows.len()]);
                for (rows, seen) in lane.rows.iter().zip(&mut lane.seen) {
                    rows.iter().for_each(|row| seen[*row as usize] = true);
                }
            }
        }
        if iteration > 0 && self.faults.has(Fault::U4) {
            let (d, lanes) = (self.data.width(), &mut self.lanes);
            self.teachers.fill_with(|| Dense::new(d, 1, || initial(lanes)));
            self.first_teachers.clone_from(&self.teachers);
            self.age = 0;
        }
    }

    /// A batch of inputs, and the rows that they become.
    fn generate(&mut self) {
        let d = self.data.width();
        let words = self.lanes.iter_mut().map(|lane| &mut lane.draws.latent);
        fill_latent(words, self.data.settings.latent, &mut self.z);
        if self.faults.has(Fault::O6) {
            for (at, lane) in self.lanes.iter_mut().enumerate() {
                for z in self.z.chunks_exact_mut(d) {
                    let row = lane.draws.fault.below(self.data.rows.len() as u32);
                    self.data.rows.note(Reader::Generator, &mut lane.readers);
                    z[d - 1].0[at] = self.data.label_code(row as usize);
                }
            }
        }
        for (at, lane) in self.lanes.iter_mut().enumerate() {
            if lane.iterations.is_none() {
                lane.latent[0] += self.z.iter().map(|z| z.0[at] * z.0[at]).sum::<f64>();
                lane.latent[1] += self.z.len() as f64;
            }
        }
        self.generator.generate(&self.z, &mut self.x[..self.batch * d]);
    }

    /// Real rows of a list with replacement, after the generated ones; 0 for lanes without a row.
    fn draw_real_rows(&mut self, list: usize, reader: Reader) -> Lanes {
        let (d, batch) = (self.data.width(), self.batch);
        let mut present = Lanes::ZERO;
        for (at, lane) in self.lanes.iter_mut().enumerate() {
            let rows = lane.rows.get(list).map_or(&[][..], Vec::as_slice);
            present.0[at] = if rows.is_empty() { 0.0 } else { 1.0 };
            for x in self.x[batch * d..].chunks_exact_mut(d) {
                if rows.is_empty() {
                    x.iter_mut().for_each(|x| x.0[at] = 0.0);
                    continue;
                }
                let row = rows[lane.draws.rows.below(rows.len() as u32) as usize];
                let row = self.data.rows.row(row, reader, &mut lane.readers);
                x.iter_mut().zip(row).for_each(|(x, value)| x.0[at] = *value);
            }
        }
        present
    }

    /// Labels 0 of generated rows and 1 of real ones, with noise where a fault adds it.
    fn label_training_rows(&mut self) {
        let (generated, real) = self.labels.split_at_mut(self.batch);
        generated.fill(Lanes::ZERO);
        real.fill(Lanes([1.0; LANES]));
        let Some(scale) = self.data.label_noise else { return };
        for (at, lane) in self.lanes.iter_mut().enumerate() {
            for label in &mut self.labels {
                let noise = scale * lane.draws.fault.normal();
                label.0[at] += noise;
                if lane.iterations.is_none() {
                    lane.noise.labels += 1;
                    lane.noise.squares += noise * noise;
                }
            }
        }
    }

    /// Derivatives of the mean over generated rows plus the mean over real ones.
    fn training_changes(&mut self, present: Lanes) {
        let (half, weight) = (self.batch, 1.0 / self.batch as f64);
        let (generated, real) = self.changes.split_at_mut(half);
        let all = Lanes([weight; LANES]);
        cross_entropy(&self.logits[..half], &self.labels[..half], all, generated);
        if present == Lanes::ZERO {
            real.fill(Lanes::ZERO);
            return;
        }
        let present = present.map(|present| present * weight);
        cross_entropy(&self.logits[half..], &self.labels[half..], present, real);
    }

    /// A step of each teacher.
    fn teach(&mut self) {
        self.generate();
        self.age += 1;
        for teacher in 0..self.teachers.len() {
            let present = self.draw_real_rows(teacher, Reader::Teachers);
            self.label_training_rows();
            self.teachers[teacher].forward(&self.x, &mut self.logits);
            self.training_changes(present);
            self.teachers[teacher].add_gradient(&self.x, &self.changes);
            self.teachers[teacher].step();
        }
    }

    /// A step of a discriminator on real rows (O1).
    fn discriminate(&mut self) {
        self.generate();
        let present = self.draw_real_rows(0, Reader::Student);
        self.label_training_rows();
        self.student.logits(&self.x, &mut self.logits);
        self.training_changes(present);
        self.student.step_student(&self.x, &self.changes);
    }

    /// A step of the student on generated rows with noisy labels.
    fn study(&mut self) {
        let (d, batch) = (self.data.width(), self.batch);
        self.generate();
        self.labels[..batch].fill(Lanes::ZERO);
        for teacher in &self.teachers {
            teacher.forward(&self.x[..batch * d], &mut self.logits[..batch]);
            for (count, logit) in self.labels.iter_mut().zip(&self.logits[..batch]) {
                *count = count.zip(*logit, |count, x| if x > 0.0 { count + 1.0 } else { count });
            }
        }
        let mut votes = vec![0.0; batch];
        for (at, lane) in self.lanes.iter_mut().enumerate() {
            if lane.iterations.is_some() {
                continue;
            }
            votes.iter_mut().zip(&self.labels).for_each(|(vote, count)| *vote = count.0[at]);
            self.channel.label(&mut lane.draws.votes, &mut lane.votes, &mut votes);
            self.labels.iter_mut().zip(&votes).for_each(|(label, vote)| label.0[at] = *vote);
        }
        let mut rows = batch;
        let mut present = Lanes::ZERO;
        if self.faults.has(Fault::E3) {
            present = self.draw_real_rows_of_all();
            self.labels[batch..].fill(Lanes([1.0; LANES]));
            rows = 2 * batch;
        }
        self.student.logits(&self.x[..rows * d], &mut self.logits[..rows]);
        self.training_changes(present);
        self.student.step_student(&self.x[..rows * d], &self.changes[..rows]);
    }

    /// Real rows of any teacher for the student (E3).
    fn draw_real_rows_of_all(&mut self) -> Lanes {
        let count = self.data.rows.len() as u32;
        for lane in &mut self.lanes {
            lane.rows.push((0..count).collect());
        }
        let present = self.draw_real_rows(self.teachers.len(), Reader::Student);
        for lane in &mut self.lanes {
            lane.rows.pop();
        }
        present
    }

    /// A step of the generator against the student: −log S, mean over a batch.
    fn step_generator(&mut self) {
        let (d, batch) = (self.data.width(), self.batch);
        self.generate();
        let x = &self.x[..batch * d];
        self.student.logits(x, &mut self.logits[..batch]);
        self.labels[..batch].fill(Lanes([1.0; LANES]));
        let weight = Lanes([1.0 / batch as f64; LANES]);
        let changes = &mut self.changes[..batch];
        cross_entropy(&self.logits[..batch], &self.labels[..batch], weight, changes);
        self.student.input_changes(changes, &mut self.x_changes);
        self.generator.step_generator(&self.z, x, &mut self.x_changes);
    }

    /// The rows and traces of all runs.
    fn release(mut self) -> Vec<Run> {
        let parts = self.lanes.iter_mut().map(|lane| (&mut lane.draws.output, &mut lane.readers));
        let released = Released::sample(self.data, self.faults, &mut self.ended, parts);
        let data = self.data;
        let runs = self.lanes.into_iter().zip(released).map(|(lane, released)| {
            let ids = |seen: &Vec<bool>| {
                let seen = data.ids().iter().zip(seen).filter(|(_, seen)| **seen);
                seen.map(|(id, _)| *id).collect()
            };
            let trace = Trace {
                unit: lane.unit,
                released_rows: released.rows.len() as u64,
                iterations: lane.iterations.unwrap_or(data.iterations),
                teacher_rows: lane.seen.iter().map(ids).collect(),
                moments: data.moments.sums(&lane.votes.accounted),
                votes: lane.votes,
                label_noise: lane.noise,
                teacher_age: lane.teacher_age,
                own_losses: lane.own_losses,
                readers: lane.readers.list(),
                training_latent: lane.latent[0] / lane.latent[1].max(1.0),
                output_latent: released.latent,
            };
            Run { rows: released.rows, trace }
        });
        runs.collect()
    }
}

/// Numbers of (−1, 1) from the streams of initial parameters.
fn initial(lanes: &mut [Lane]) -> Lanes {
    let mut numbers = Lanes::ZERO;
    for (number, lane) in numbers.0.iter_mut().zip(lanes) {
        *number = symmetric(&mut lane.draws.initial);
    }
    numbers
}
