//! Scratch memory and the two layouts of values.

/// Number of examples processed in parallel.
pub(super) const LANES: usize = 16;

/// One number per example.
pub(super) type Lane = [f32; LANES];

/// Numbers aligned to cache lines, so that no vector load crosses one. At least a lane follows them.
#[derive(Debug, Default)]
pub(crate) struct Buffer<N = f32> {
    memory: Vec<N>,
    start: usize,
    count: usize,
}

const LINE: usize = 64;
/// Numbers before the first cache line, and a lane behind the last number.
pub(crate) const SLACK: usize = LINE / size_of::<f32>() - 1 + LANES;

impl Buffer {
    pub(super) fn new(floats: usize) -> Self {
        if floats == 0 { Self::default() } else { Self::filled(0.0, floats) }
    }

    #[cfg(test)]
    pub(super) fn allocated_bytes(&self) -> usize {
        self.memory.capacity() * size_of::<f32>()
    }

    pub(super) fn lanes(&self) -> &[Lane] {
        lanes(self.floats())
    }

    pub(super) fn lanes_mut(&mut self) -> &mut [Lane] {
        lanes_mut(self.floats_mut())
    }
}

impl<N: Copy> Buffer<N> {
    pub(crate) fn filled(value: N, count: usize) -> Self {
        let memory = vec![value; count + SLACK];
        let start = gap(&memory);
        Self { memory, start, count }
    }

    pub(crate) fn floats(&self) -> &[N] {
        &self.memory[self.start..][..self.count]
    }

    pub(crate) fn floats_mut(&mut self) -> &mut [N] {
        &mut self.memory[self.start..][..self.count]
    }

    /// The numbers and at least a lane that follows them.
    pub(super) fn padded(&self) -> &[N] {
        &self.memory[self.start..]
    }

    /// Mutable [`Self::padded`].
    pub(super) fn padded_mut(&mut self) -> &mut [N] {
        &mut self.memory[self.start..]
    }
}

/// How many of the numbers are before a cache line.
pub(crate) fn gap<N>(numbers: &[N]) -> usize {
    numbers.as_ptr().align_offset(LINE).min(SLACK)
}

/// Floats as lanes; an incomplete last lane is omitted.
pub(super) fn lanes(floats: &[f32]) -> &[Lane] {
    floats.as_chunks().0
}

/// Mutable [`lanes`].
pub(super) fn lanes_mut(floats: &mut [f32]) -> &mut [Lane] {
    floats.as_chunks_mut().0
}

/// Converts rows (one per example) to lanes (one per value). Missing examples repeat the last row.
pub(super) fn rows_to_lanes(rows: &[f32], values: usize, out: &mut [Lane]) {
    let last = (rows.len() / values).saturating_sub(1);
    for (value, lane) in out[..values].iter_mut().enumerate() {
        for (row, number) in lane.iter_mut().enumerate() {
            *number = rows[row.min(last) * values + value];
        }
    }
}

/// Converts lanes to as many rows as `out` has.
pub(super) fn lanes_to_rows(lanes: &[Lane], values: usize, out: &mut [f32]) {
    for (row, numbers) in out.chunks_exact_mut(values).enumerate() {
        for (number, lane) in numbers.iter_mut().zip(lanes) {
            *number = lane[row];
        }
    }
}
