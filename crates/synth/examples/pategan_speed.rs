//! Time per run and thread: `cargo run --release -p dpscope-synth --example pategan_speed`.

use std::time::Instant;

use dpscope_synth::table::{Column, ColumnKind, Schema, Table, Value};
use dpscope_synth::{FaultSet, Latent, Mechanism, Settings, Stop};

fn numbers(columns: usize, rows: u64) -> Result<Table, Box<dyn std::error::Error>> {
    let kind = ColumnKind::Number { low: 0.0, high: 1.0 };
    let column = |at| Column { name: format!("x{at}"), kind: kind.clone() };
    let schema = Schema::new((0..columns).map(column).collect())?;
    let cell = |row: u64, column: usize| (row * 7919 + column as u64 * 104_729) % 997;
    let row = |row| (0..columns).map(|c| Value::Number(cell(row, c) as f64 / 997.0)).collect();
    Ok(Table::new(schema, &(0..rows).map(|at| (at, row(at))).collect::<Vec<_>>())?)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let worst = Settings {
        teachers: 2,
        batch_size: 4,
        stop: Stop::Iterations(100),
        rows: 4,
        ..Settings::default()
    };
    let average = Settings { stop: Stop::Iterations(32), rows: 686, ..Settings::default() };
    for latent in [Latent::Uniform, Latent::Normal] {
        for (name, table, settings, runs) in [
            ("worst case, d = 3, 100 iterations", numbers(3, 5)?, &worst, 2000_u64),
            ("d = 29, n = 686, k = 5, B = 64, 32 iterations", numbers(29, 686)?, &average, 32),
        ] {
            let settings = Settings { latent, ..settings.clone() };
            let mechanism = Mechanism::new(&table, 0, &settings, FaultSet::NONE, 1)?;
            let start = Instant::now();
            let done = mechanism.run(&(0..runs).collect::<Vec<_>>()).len();
            let each = start.elapsed().as_secs_f64() * 1e3 / done as f64;
            println!("{name}, {latent:?} input: {each:.3} ms per run");
        }
    }
    Ok(())
}
