//! Self-test of derivatives: a batch of random numbers beside the CPU.

use dpscope_core::random::{Purpose, Words};
use dpscope_engine::GpuError;

use super::program::Program;
use crate::metagradient::{BatchRows, Derivatives, LaneDerivatives, rounding};
use crate::model::Network;

/// Rows of the first pass; the second has [`LAST_ROWS`], so that sums over passes are tested.
const FIRST_ROWS: usize = 24;

/// Rows of the second pass, canaries in part.
const LAST_ROWS: usize = 3;

/// Compares all results with those of the CPU, of which each may be off by the rounding of f32.
pub(super) fn check(
    network: &Network,
    on_values: &mut Program,
    on_duals: &mut Program,
) -> Result<(), GpuError> {
    let first = FIRST_ROWS.min(on_values.rows()).min(on_duals.rows());
    let rows = first + LAST_ROWS.min(first);
    let (count, inputs) = (network.parameters(), network.inputs());
    let mut words = Words::new(0, Purpose::MetaInitial, 0);
    let theta = network.initial(|| words.uniform());
    let mut draw = |count: usize| -> Vec<f32> {
        (0..count).map(|_| (2.0 * words.uniform() - 1.0) as f32).collect()
    };
    let (w, examples) = (draw(count), draw(rows * inputs));
    let labels: Vec<u32> = (0..rows).map(|row| (row % network.classes()) as u32).collect();
    let batch =
        BatchRows { examples: &examples, sparse: &[], labels: &labels, canaries: first + 1 };
    let zeros = || [count, count, batch.canaries * inputs].map(|count| vec![0.0_f32; count]);
    let (mut found, mut expected) = (zeros(), zeros());
    let [gradient, product, cross] = &mut found;
    // sums of an earlier batch must not remain
    on_values.run((&w, None), batch, first, gradient, &mut [])?;
    on_duals.run((&w, Some(&theta)), batch, first, product, cross)?;
    on_values.run((&theta, None), batch, first, gradient, &mut [])?;
    on_duals.run((&theta, Some(&w)), batch, first, product, cross)?;
    let mut cpu = LaneDerivatives::new(network);
    let [gradient, product, cross] = &mut expected;
    cpu.gradient(&theta, batch, None, gradient);
    cpu.product(&theta, &w, batch, None, product, cross);
    let names = ["the gradient", "the product with the Hessian", "the derivative of the examples"];
    let tolerance = 2.0 * rounding(network, rows);
    for ((found, expected), name) in found.iter().zip(&expected).zip(names) {
        let difference = norm(found.iter().zip(expected).map(|(a, b)| f64::from(a - b)));
        let size = norm(expected.iter().map(|&value| value.into()));
        if !(difference <= tolerance * size) {
            return Err(GpuError::Unfit(format!(
                "self-test: {name} differs from the CPU's by {:e} of its norm, more than {tolerance:e}",
                difference / size
            )));
        }
    }
    Ok(())
}

fn norm(values: impl Iterator<Item = f64>) -> f64 {
    values.map(|value| value * value).sum::<f64>().sqrt()
}
