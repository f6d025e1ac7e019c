//! Sums of clipped gradients over a batch of 100, and the rate of large products of matrices beside
//! them: `cargo bench -p dpscope-train`. Rates count every product and sum of a dense network.

use std::hint::black_box;
use std::time::{Duration, Instant};

use criterion::{Criterion, Throughput};
use dpscope_train::{ModelSpec, Network, Rows, Workspace};

const ROWS: usize = 100;
const SIDE: usize = 1024;

/// A network with a batch.
struct Step {
    network: Network,
    theta: Vec<f32>,
    examples: Vec<f32>,
    labels: Vec<u32>,
    work: Workspace,
    out: Vec<f32>,
    norms: Vec<f32>,
}

impl Step {
    /// `density` of the values are 1 and the rest 0, or all are spread over 0 to 1.
    fn new(spec: &ModelSpec, density: Option<f64>) -> Option<Self> {
        let network = Network::new(spec).ok()?;
        let mut state = 1_u64;
        let mut uniform = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1_u64 << 53) as f64
        };
        let theta = network.initial(&mut uniform);
        let value = |_| match density {
            Some(density) => f32::from(u8::from(uniform() < density)),
            None => uniform() as f32,
        };
        let examples = (0..ROWS * network.inputs()).map(value).collect();
        let labels = (0..ROWS).map(|row| (row % network.classes()) as u32).collect();
        let out = vec![0.0; theta.len()];
        let work = Workspace::new(&network, ROWS);
        Some(Self { network, theta, examples, labels, work, out, norms: Vec::new() })
    }

    fn run(&mut self) {
        let rows = Rows { examples: &self.examples, labels: &self.labels };
        let (work, out) = (&mut self.work, &mut self.out);
        self.network.clipped_sum(&self.theta, rows, 0.5, work, out, &mut self.norms);
        black_box(&mut self.out);
    }

    fn operations(&self) -> u64 {
        self.network.operations() * ROWS as u64
    }
}

/// A product of square matrices.
struct Square([Vec<f32>; 3]);

impl Square {
    fn new() -> Self {
        Self([1.0, 0.5, 0.0].map(|value| vec![value; SIDE * SIDE]))
    }

    fn run(&mut self) {
        let ([left, right, out], step) = (&mut self.0, SIDE as isize);
        // SAFETY: three matrices of SIDE rows and columns, of which no one else has the last.
        unsafe {
            matrixmultiply::sgemm(
                SIDE,
                SIDE,
                SIDE,
                1.0,
                left.as_ptr(),
                step,
                1,
                right.as_ptr(),
                step,
                1,
                0.0,
                out.as_mut_ptr(),
                step,
                1,
            );
        }
        black_box(out);
    }

    const OPERATIONS: u64 = 2 * (SIDE * SIDE * SIDE) as u64;
}

/// The shortest of many times: what others on the machine cost is left out.
fn shortest(mut run: impl FnMut()) -> Duration {
    let start = Instant::now();
    let mut shortest = Duration::MAX;
    while start.elapsed() < Duration::from_secs(3) {
        let start = Instant::now();
        run();
        shortest = shortest.min(start.elapsed());
    }
    shortest
}

fn main() {
    let models = [
        ("mlp, 15 % ones", ModelSpec::mlp(), Some(0.15)),
        ("mlp, dense", ModelSpec::mlp(), None),
        ("lenet", ModelSpec::lenet(), None),
        ("cnn", ModelSpec::cnn(), None),
    ];
    let mut criterion = Criterion::default().configure_from_args();
    let mut square = Square::new();
    let mut group = criterion.benchmark_group("gemm");
    group.throughput(Throughput::Elements(Square::OPERATIONS)).sample_size(20);
    group.bench_function("1024", |bencher| bencher.iter(|| square.run()));
    group.finish();
    let mut group = criterion.benchmark_group("clipped_sum");
    for (name, spec, density) in &models {
        let Some(mut step) = Step::new(spec, *density) else { continue };
        group.throughput(Throughput::Elements(step.operations())).sample_size(20);
        group.bench_function(*name, |bencher| bencher.iter(|| step.run()));
    }
    group.finish();
    criterion.final_summary();

    let rate = |operations: u64, time: Duration| operations as f64 / time.as_secs_f64() / 1e9;
    let gemm = rate(Square::OPERATIONS, shortest(|| square.run()));
    println!("shortest times, one thread; matrixmultiply at {SIDE}^3: {gemm:.0} GFLOP/s");
    for (name, spec, density) in &models {
        let Some(mut step) = Step::new(spec, *density) else { continue };
        let time = shortest(|| step.run());
        let own = rate(step.operations(), time);
        let micros = time.as_secs_f64() * 1e6;
        println!(
            "{name}: {micros:.0} us a step of {ROWS}, {own:.0} GFLOP/s, {:.2} of it",
            own / gemm
        );
    }
}
