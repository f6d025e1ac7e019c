//! Scratch memory, and the two layouts of values.

/// Examples that are worked on side by side.
pub(super) const LANES: usize = 16;

/// One number an example.
pub(super) type Lane = [f32; LANES];

/// Floats from the start of a cache line on, so that no vector crosses one.
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

    /// Bytes that `new(floats)` asks for.
    pub(super) const fn bytes(floats: usize) -> usize {
        if floats == 0 { 0 } else { floats.saturating_add(SLACK).saturating_mul(size_of::<f32>()) }
    }

    #[cfg(test)]
    pub(super) fn held(&self) -> usize {
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

/// Floats as lanes; those that fill none are left out.
pub(super) fn lanes(floats: &[f32]) -> &[Lane] {
    floats.as_chunks().0
}

/// As [`lanes`].
pub(super) fn lanes_mut(floats: &mut [f32]) -> &mut [Lane] {
    floats.as_chunks_mut().0
}

/// From rows, one an example, to lanes, one a value. Lanes without a row get the last row.
pub(super) fn rows_to_lanes(rows: &[f32], values: usize, out: &mut [Lane]) {
    let last = (rows.len() / values).saturating_sub(1);
    for (value, lane) in out[..values].iter_mut().enumerate() {
        for (row, number) in lane.iter_mut().enumerate() {
            *number = rows[row.min(last) * values + value];
        }
    }
}

/// From lanes to rows, as many as `out` has.
pub(super) fn lanes_to_rows(lanes: &[Lane], values: usize, out: &mut [f32]) {
    for (row, numbers) in out.chunks_exact_mut(values).enumerate() {
        for (number, lane) in numbers.iter_mut().zip(lanes) {
            *number = lane[row];
        }
    }
}
