//! The mechanism as plain loops in f64 over one run, with the same random words, and with mistakes.

use dpscope_core::adjacency::World;
use dpscope_core::math;
use dpscope_core::random::{Purpose, Words, stream_of, stream_words};
use dpscope_synth::table::{Encoding, Table};
use dpscope_synth::{FaultSet, Latent, Mechanism, Settings, Stop};

use crate::tables;

const SEED: u64 = 11;

#[derive(Debug, Clone, Copy, PartialEq)]
enum Mistake {
    None,
    GeneratorAscends,
    NoNoise,
    RealLabelZero,
    BiasesFixed,
    NoBiasCorrection,
    LinearStudent,
    OneTeacherStepLess,
}

struct Layer {
    /// [output][input]
    weights: Vec<Vec<f64>>,
    biases: Vec<f64>,
    /// m and v of each parameter.
    state: Vec<[f64; 2]>,
    steps: i32,
}

impl Layer {
    fn new(inputs: usize, outputs: usize, words: &mut Words) -> Self {
        let limit = (6.0 / (inputs as f64 + outputs as f64)).sqrt();
        let mut row = || (0..inputs).map(|_| (words.uniform() * 2.0 - 1.0) * limit).collect();
        Layer {
            weights: (0..outputs).map(|_| row()).collect(),
            biases: vec![0.0; outputs],
            state: vec![[0.0; 2]; (inputs + 1) * outputs],
            steps: 0,
        }
    }

    fn apply(&self, x: &[f64]) -> Vec<f64> {
        let dot = |w: &Vec<f64>| w.iter().zip(x).map(|(w, x)| w * x).sum::<f64>();
        self.weights.iter().zip(&self.biases).map(|(w, b)| dot(w) + b).collect()
    }

    fn transposed(&self, y: &[f64]) -> Vec<f64> {
        let dot = |i: usize| self.weights.iter().zip(y).map(|(w, y)| w[i] * y).sum();
        (0..self.weights[0].len()).map(dot).collect()
    }

    /// Adam on the sum over rows of (change by y) xᵀ.
    fn learn(&mut self, rows: &[(Vec<f64>, Vec<f64>)], mistake: Mistake) {
        self.steps += 1;
        let corrections = match mistake {
            Mistake::NoBiasCorrection => [1.0, 1.0],
            _ => [0.9, 0.999].map(|b| 1.0 - math::powi(b, self.steps)),
        };
        let mut states = self.state.iter_mut();
        let mut update = |parameter: &mut f64, gradient: f64| {
            let [m, v] = states.next().unwrap();
            *m = 0.9 * *m + 0.1 * gradient;
            *v = 0.999 * *v + 0.001 * gradient * gradient;
            *parameter -= 1e-4 * (*m / corrections[0]) / ((*v / corrections[1]).sqrt() + 1e-8);
        };
        for (o, weights) in self.weights.iter_mut().enumerate() {
            for (i, weight) in weights.iter_mut().enumerate() {
                update(weight, rows.iter().map(|(x, change)| x[i] * change[o]).sum());
            }
        }
        for (o, bias) in self.biases.iter_mut().enumerate() {
            if mistake != Mistake::BiasesFixed {
                update(bias, rows.iter().map(|(_, change)| change[o]).sum());
            }
        }
    }
}

fn logistic(x: f64) -> f64 {
    1.0 / (1.0 + math::exp(-x))
}

struct Loops<'a> {
    settings: &'a Settings,
    mistake: Mistake,
    teachers: Vec<Layer>,
    student: [Layer; 2],
    generator: [Layer; 2],
    latent: Words,
    votes: Words,
    rows: Words,
}

impl Loops<'_> {
    fn inputs(words: &mut Words, latent: Latent, rows: usize, d: usize) -> Vec<Vec<f64>> {
        let mut coordinate = || match latent {
            Latent::Uniform => 2.0 * words.uniform() - 1.0,
            Latent::Normal => words.normal(),
        };
        (0..rows).map(|_| (0..d).map(|_| coordinate()).collect()).collect()
    }

    fn generate(&self, z: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let tanh = |x: Vec<f64>| x.into_iter().map(math::tanh).collect::<Vec<f64>>();
        let hidden = tanh(self.generator[0].apply(z));
        let x = tanh(self.generator[1].apply(&hidden));
        (hidden, x)
    }

    /// Hidden outputs and logit of the student.
    fn study(&self, x: &[f64]) -> (Vec<f64>, f64) {
        let linear = self.mistake == Mistake::LinearStudent;
        let relu = |x: f64| if linear { x } else { x.max(0.0) };
        let hidden: Vec<f64> = self.student[0].apply(x).into_iter().map(relu).collect();
        let logit = self.student[1].apply(&hidden)[0];
        (hidden, logit)
    }

    fn hidden_change(&self, hidden: &[f64], change: f64) -> Vec<f64> {
        let linear = self.mistake == Mistake::LinearStudent;
        let back = self.student[1].transposed(&[change]);
        let pass = |(back, h): (f64, &f64)| if *h > 0.0 || linear { back } else { 0.0 };
        back.into_iter().zip(hidden).map(pass).collect()
    }

    fn laplace(&mut self) -> f64 {
        let u = self.votes.uniform();
        let tail = 2.0 * u.min(1.0 - u);
        let size = -math::ln(tail) / self.settings.inverse_scale;
        if self.mistake == Mistake::NoNoise {
            return 0.0;
        }
        if u > 0.5 { size } else { -size }
    }

    fn iterate(&mut self, parts: &[Vec<Vec<f64>>], d: usize) {
        let batch = self.settings.batch_size as usize;
        let (b, latent, mistake) = (batch as f64, self.settings.latent, self.mistake);
        let less = u32::from(mistake == Mistake::OneTeacherStepLess);
        for _ in 0..self.settings.teacher_steps - less {
            let z = Self::inputs(&mut self.latent, latent, batch, d);
            let generated: Vec<Vec<f64>> = z.iter().map(|z| self.generate(z).1).collect();
            for (teacher, part) in self.teachers.iter_mut().zip(parts) {
                let mut rows = Vec::new();
                for x in &generated {
                    rows.push((x.clone(), vec![logistic(teacher.apply(x)[0]) / b]));
                }
                for _ in 0..if part.is_empty() { 0 } else { batch } {
                    let x = &part[self.rows.below(part.len() as u32) as usize];
                    let label = if mistake == Mistake::RealLabelZero { 0.0 } else { 1.0 };
                    rows.push((x.clone(), vec![(logistic(teacher.apply(x)[0]) - label) / b]));
                }
                teacher.learn(&rows, mistake);
            }
        }
        for _ in 0..self.settings.student_steps {
            let z = Self::inputs(&mut self.latent, latent, batch, d);
            let (mut first, mut second) = (Vec::new(), Vec::new());
            for z in &z {
                let x = self.generate(z).1;
                let ones = self.teachers.iter().filter(|t| t.apply(&x)[0] > 0.0).count() as f64;
                let zeros = self.teachers.len() as f64 - ones;
                let noisy = ones + self.laplace();
                let label = if noisy > zeros + self.laplace() { 1.0 } else { 0.0 };
                let (hidden, logit) = self.study(&x);
                let change = (logistic(logit) - label) / b;
                first.push((x, self.hidden_change(&hidden, change)));
                second.push((hidden, vec![change]));
            }
            self.student[0].learn(&first, mistake);
            self.student[1].learn(&second, mistake);
        }
        let z = Self::inputs(&mut self.latent, latent, batch, d);
        let (mut first, mut second) = (Vec::new(), Vec::new());
        for z in z {
            let (inner, x) = self.generate(&z);
            let (hidden, logit) = self.study(&x);
            let sign = if mistake == Mistake::GeneratorAscends { -1.0 } else { 1.0 };
            let change = sign * (logistic(logit) - 1.0) / b;
            let back = self.student[0].transposed(&self.hidden_change(&hidden, change));
            let slope = |(back, y): (f64, &f64)| back * (1.0 - y * y);
            let outer: Vec<f64> = back.into_iter().zip(&x).map(slope).collect();
            let back = self.generator[1].transposed(&outer);
            first.push((z, back.into_iter().zip(&inner).map(slope).collect()));
            second.push((inner, outer));
        }
        self.generator[0].learn(&first, mistake);
        self.generator[1].learn(&second, mistake);
    }
}

/// Released rows, before they are decoded.
fn plain(table: &Table, settings: &Settings, unit: u64, mistake: Mistake) -> Vec<f64> {
    let d = table.schema().width();
    let encoded = Encoding::public(table.schema()).encode(table.rows());
    let mut parts = vec![Vec::new(); settings.teachers as usize];
    for (id, row) in table.ids().iter().zip(encoded.chunks(d)) {
        let mut word = [0];
        stream_words(SEED, Purpose::GeneratorPartition, *id, unit << 24, &mut word);
        let teacher = u64::from(word[0]) * u64::from(settings.teachers) / (1 << 32);
        parts[teacher as usize].push(row.to_vec());
    }
    let mut words = Words::new(SEED, Purpose::GeneratorInitial, unit);
    let mut layer = |inputs, outputs| Layer::new(inputs, outputs, &mut words);
    let mut loops = Loops {
        settings,
        mistake,
        teachers: (0..settings.teachers).map(|_| layer(d, 1)).collect(),
        student: [layer(d, d), layer(d, 1)],
        generator: [layer(d, d / 2), layer(d / 2, d)],
        latent: Words::new(SEED, Purpose::GeneratorLatent, unit),
        votes: Words::new(SEED, Purpose::GeneratorVotes, unit),
        rows: Words::new(SEED, Purpose::GeneratorRows, unit),
    };
    for _ in 0..settings.plan().unwrap().iterations {
        loops.iterate(&parts, d);
    }
    let mut words = Words::new(SEED, Purpose::GeneratorOutput, unit);
    let z = Loops::inputs(&mut words, settings.latent, settings.rows as usize, d);
    z.iter().flat_map(|z| loops.generate(z).1).collect()
}

#[test]
fn runs_equal_plain_loops() {
    let table = tables::mixed(14);
    for (latent, teachers) in [(Latent::Uniform, 3), (Latent::Normal, 5)] {
        let settings = Settings {
            teachers,
            inverse_scale: 1.0,
            batch_size: 5,
            stop: Stop::Iterations(150),
            rows: 4,
            latent,
            ..Settings::default()
        };
        // scaled, to compare what was generated
        let faults: FaultSet = "U5".parse().unwrap();
        let mechanism = Mechanism::new(&table, 0, &settings, faults, SEED).unwrap();
        for world in [World::Target, World::ZeroOut] {
            let unit = stream_of(world, 3);
            let found = &mechanism.run(&[unit])[0].rows;
            let data =
                if world == World::Target { table.clone() } else { table.without(0).unwrap() };
            let distance = |mistake| {
                let expected = plain(&data, &settings, unit, mistake);
                let rows = expected.chunks(table.schema().width()).zip(found.iter());
                // the first two columns are numbers
                let changes = rows.flat_map(|(y, x)| [(y[0] - x[0]).abs(), (y[1] - x[1]).abs()]);
                changes.fold(0.0, f64::max)
            };
            assert!(distance(Mistake::None) < 1e-11, "{}", distance(Mistake::None));
            for mistake in [
                Mistake::GeneratorAscends,
                Mistake::NoNoise,
                Mistake::BiasesFixed,
                Mistake::NoBiasCorrection,
                Mistake::LinearStudent,
                Mistake::RealLabelZero,
                Mistake::OneTeacherStepLess,
            ] {
                assert!(distance(mistake) > 1e-8, "{mistake:?}: {}", distance(mistake));
            }
        }
    }
}
