//! Loops over whole models.

use super::instruction_set::{InstructionSet, Kernel, kernel};

impl InstructionSet {
    /// Calls `action` for each item, in a loop compiled for these instructions.
    pub(crate) fn for_each<I: Iterator>(self, items: I, action: impl FnMut(I::Item)) {
        self.run(ForEach { items, action });
    }

    /// ‖x‖², in 16 running sums in f64.
    pub(crate) fn square(self, x: &[f32]) -> f64 {
        let mut square = 0.0;
        self.run(Square { x, square: &mut square });
        square
    }

    /// Adds `factor` times `x` to `sum`.
    pub(crate) fn add_scaled(self, factor: f32, x: &[f32], sum: &mut [f32]) {
        self.run(AddScaled { factor, x, sum });
    }
}

struct ForEach<I, F> {
    items: I,
    action: F,
}

impl<I: Iterator, F: FnMut(I::Item)> Kernel for ForEach<I, F> {
    #[inline(always)]
    fn run<const WIDTH: usize, const COLUMNS: usize, const FUSED: bool>(self) {
        self.items.for_each(self.action);
    }
}

kernel! {
    Square { x: &'a [f32], square: &'a mut f64 } => {
        let (whole, rest) = x.as_chunks::<16>();
        let mut sums = [0.0; 16];
        for x in whole {
            let wide = x.map(f64::from);
            for lane in 0..16 {
                sums[lane] += wide[lane] * wide[lane];
            }
        }
        let last: f64 = rest.iter().map(|&x| f64::from(x) * f64::from(x)).sum();
        *square = sums.iter().sum::<f64>() + last;
    }
}

kernel! {
    /// Adds the rows of a matrix to `sum`, in order.
    AddRows { rows: &'a [f32], sum: &'a mut [f32] } => {
        for row in rows.chunks_exact(sum.len()) {
            for (sum, value) in sum.iter_mut().zip(row) {
                *sum += value;
            }
        }
    }
}

kernel! {
    AddScaled { factor: f32, x: &'a [f32], sum: &'a mut [f32] } => {
        for (sum, x) in sum.iter_mut().zip(x) {
            *sum += factor * x;
        }
    }
}
