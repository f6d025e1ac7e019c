//! Sums of clipped gradients a second, the MLP and a batch of 100, one thread: prints one line of
//! JSON.
//!
//! `cargo run --release -p dpscope-train --example step_speed`

#[path = "../benches/work/mod.rs"]
mod work;

use dpscope_train::ModelSpec;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut step = work::Step::new(&ModelSpec::mlp(), Some(0.15)).ok_or("the MLP is a network")?;
    let seconds = work::shortest(|| step.run()).as_secs_f64();
    println!(
        "{{\"steps_per_second\": {:.0}, \"operations_per_second\": {:.3e}}}",
        1.0 / seconds,
        step.operations() as f64 / seconds
    );
    Ok(())
}
