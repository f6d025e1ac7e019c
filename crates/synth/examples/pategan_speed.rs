//! Runs of PATE-GAN per second of one thread: prints one line of JSON.
//!
//! `cargo run --release -p dpscope-synth --example pategan_speed -- worst`, the published worst case, or
//! `average`: 29 columns, 686 rows, 5 teachers, batches of 64, 32 iterations. `--features portable` leaves
//! AVX out.

use std::error::Error;
use std::hint::black_box;

#[path = "../../core/examples/cpu_clock/mod.rs"]
mod cpu_clock;

use cpu_clock::CpuClock;
use dpscope_synth::table::{Column, ColumnKind, Schema, Table, Value};
use dpscope_synth::{FaultSet, Mechanism, Settings, Stop};

const REPEATS: usize = 3;

fn numbers(columns: usize, rows: u64) -> Result<Table, Box<dyn Error>> {
    let kind = ColumnKind::Number { low: 0.0, high: 1.0 };
    let column = |at| Column { name: format!("x{at}"), kind: kind.clone() };
    let schema = Schema::new((0..columns).map(column).collect())?;
    let cell = |row: u64, column: usize| (row * 7919 + column as u64 * 104_729) % 997;
    let row = |row| (0..columns).map(|c| Value::Number(cell(row, c) as f64 / 997.0)).collect();
    Ok(Table::new(schema, &(0..rows).map(|at| (at, row(at))).collect::<Vec<_>>())?)
}

fn main() -> Result<(), Box<dyn Error>> {
    let what = std::env::args().nth(1).unwrap_or_default();
    let (table, settings, runs) = match what.as_str() {
        "worst" => {
            let stop = Stop::Iterations(100);
            let settings =
                Settings { teachers: 2, batch_size: 4, stop, rows: 4, ..Settings::default() };
            (numbers(3, 5)?, settings, 2_000)
        }
        "average" => {
            let stop = Stop::Iterations(32);
            (numbers(29, 686)?, Settings { stop, rows: 686, ..Settings::default() }, 32)
        }
        other => return Err(format!("`{other}` is not worst or average").into()),
    };
    let mechanism = Mechanism::new(&table, 0, &settings, FaultSet::NONE, 1)?;
    let units: Vec<u64> = (0..runs).collect();
    let mut shortest = f64::INFINITY;
    for _ in 0..REPEATS {
        let clock = CpuClock::start();
        black_box(mechanism.run(black_box(&units)));
        shortest = shortest.min(clock.seconds());
    }
    let each = shortest / runs as f64;
    println!(
        "{{\"milliseconds_per_run\": {:.4}, \"runs_per_cpu_second\": {:.2}}}",
        1e3 * each,
        1.0 / each
    );
    Ok(())
}
