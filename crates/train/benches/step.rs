//! Sums of clipped gradients over a batch of 100, and the rate of large products of matrices beside
//! them: `cargo bench -p dpscope-train`. Rates count every product and sum of a dense network.

mod work;

use std::hint::black_box;
use std::time::Duration;

use criterion::{Criterion, Throughput};
use dpscope_train::ModelSpec;

use work::{ROWS, Step, shortest};

const SIDE: usize = 1024;

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
