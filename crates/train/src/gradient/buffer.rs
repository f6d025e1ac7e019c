//! Scratch memory and the two layouts of values.

/// Number of examples processed in parallel.
pub(super) const LANES: usize = 16;

/// One number per example.
pub(super) type Lane = [f32; LANES];

/// Floats aligned to cache lines, so that no vector load crosses one.
#[derive(Debug, Default)]
pub(super) struct Buffer {
    memory: Vec<f32>,
    start: usize,
}

const LINE: usize = 64;
const SLACK: usize = LINE / size_of::<f32>() - 1;

impl Buffer {
    pub(super) fn new(floats: usize) -> Self {
        if floats == 0 {
            return Self::default();
        }
        let memory = vec![0.0; floats + SLACK];
        let start = memory.as_ptr().align_offset(LINE).min(SLACK);
        Self { memory, start }
    }

    /// Bytes allocated by `new(floats)`.
    pub(super) const fn bytes(floats: usize) -> usize {
        if floats == 0 { 0 } else { floats.saturating_add(SLACK).saturating_mul(size_of::<f32>()) }
    }

    #[cfg(test)]
    pub(super) fn allocated_bytes(&self) -> usize {
        self.memory.capacity() * size_of::<f32>()
    }

    pub(super) fn floats(&self) -> &[f32] {
        &self.memory[self.start..]
    }

    pub(super) fn floats_mut(&mut self) -> &mut [f32] {
        &mut self.memory[self.start..]
    }

    pub(super) fn lanes(&self) -> &[Lane] {
        lanes(self.floats())
    }

    pub(super) fn lanes_mut(&mut self) -> &mut [Lane] {
        lanes_mut(self.floats_mut())
    }
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
