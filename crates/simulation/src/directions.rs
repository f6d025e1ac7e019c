//! Random unit directions of canary clients, drawn again wherever they are needed and never stored.

use std::ops::Range;

use dpscope_core::random::Purpose;
use dpscope_engine::{Control, EngineError};
use dpscope_shaders::InstructionSet;
pub(crate) use dpscope_shaders::directions::BLOCK;
use dpscope_shaders::directions::{SUMS, add_running_sums, running_sums};
use dpscope_shaders::random::VectorNormals;

use crate::Backend;

/// Coordinates of a direction that are drawn once where they are needed twice: 512 KiB.
const KEPT: usize = 32 * BLOCK;

/// Blocks that are drawn before a run is asked whether it goes on: about a millisecond.
pub(crate) const BLOCKS_PER_POLL: usize = 64;

/// Blocks of canaries that are multiplied with a change at a time.
const GROUP: usize = 8;

/// Entries of these blocks and of a change that are multiplied at a time: they fit in the first-level
/// cache.
const PART: usize = 512;

/// From one of several blocks to the next: blocks of 2¹⁴ bytes would share the same lines of the cache.
const STRIDE: usize = BLOCK + PART;

/// Uniform random unit vectors c = y/‖y‖ in R^d, y standard normal.
///
/// Coordinate j of canary i is entry j mod 4096 of vector ⌊j/4096⌋ of the stream i of the seed, with
/// purpose [`Purpose::CanaryDirection`] ([`VectorNormals`]): it depends on nothing else.
///
/// # Numerics
/// Norms and dot products add f32 in 32 running sums inside a block and f64 between blocks: the error
/// of √d times a cosine is below 1e-4 (`unit::cosines_equal_those_in_f64`). The same bits on every
/// instruction set.
///
/// # Guarantee
/// Cosines with a fixed vector have the distribution of
/// [`CosineNull`](dpscope_core::audit::one_shot::CosineNull) (`unit::unseen_directions_are_uniform`).
///
/// # Example
/// ```
/// use dpscope_simulation::CanaryDirections;
/// let mut directions = CanaryDirections::new(7, 10_000);
/// let direction = directions.direction(3);
/// let square: f64 = direction.iter().map(|c| c * c).sum();
/// assert!((square - 1.0).abs() < 1e-6);
/// ```
#[derive(Debug)]
pub struct CanaryDirections {
    dimension: usize,
    normals: VectorNormals,
    block: Vec<f32>,
    kept: Vec<f32>,
}

impl CanaryDirections {
    /// Directions of a seed in R^d.
    #[must_use]
    pub fn new(seed: u64, dimension: usize) -> Self {
        let normals = VectorNormals::new(seed, Purpose::CanaryDirection, 0);
        Self { dimension, normals, block: vec![0.0; BLOCK], kept: Vec::new() }
    }

    /// These directions on another instruction set; they have the same bits.
    #[must_use]
    pub fn with_instruction_set(mut self, isa: InstructionSet) -> Self {
        self.normals = self.normals.with_instruction_set(isa);
        self
    }

    /// The direction of a canary.
    #[must_use]
    pub fn direction(&mut self, canary: u64) -> Vec<f64> {
        let mut out = Vec::with_capacity(self.dimension);
        let square = self.each_block(canary, |_, normals| {
            out.extend(normals.iter().map(|&normal| f64::from(normal)));
        });
        let norm = square.sqrt();
        out.iter_mut().for_each(|coordinate| *coordinate /= norm);
        out
    }

    /// The cosine between the direction of a canary and the change of a model of this dimension.
    #[must_use]
    pub fn cosine(&mut self, canary: u64, change: &ModelChange) -> f64 {
        let mut cosines = Vec::with_capacity(1);
        self.cosines(canary, std::slice::from_ref(change), &mut cosines);
        cosines[0]
    }

    /// Replaces `cosines` by those between the direction of a canary and several changes, each equal to
    /// [`cosine`](Self::cosine); the direction is drawn once.
    pub fn cosines(&mut self, canary: u64, changes: &[ModelChange], cosines: &mut Vec<f64>) {
        self.cosines_of(&[canary], changes, cosines);
    }

    /// [`Self::cosines`] of several canaries, in their order. A block of all changes is read once.
    pub fn cosines_of(
        &mut self,
        canaries: &[u64],
        changes: &[ModelChange],
        cosines: &mut Vec<f64>,
    ) {
        cosines.clear();
        cosines.resize(canaries.len() * changes.len(), 0.0);
        let mut squares = vec![0.0; canaries.len()];
        let group = canaries.len().min(GROUP);
        let mut drawn = vec![0.0; group * STRIDE];
        let mut sums = vec![[0.0; SUMS]; group * changes.len()];
        for first in (0..self.dimension).step_by(BLOCK) {
            let products = cosines.chunks_mut(GROUP * changes.len().max(1));
            let groups = canaries.chunks(GROUP).zip(squares.chunks_mut(GROUP)).zip(products);
            for ((canaries, squares), products) in groups {
                let length = BLOCK.min(self.dimension - first);
                let blocks = drawn.chunks_exact_mut(STRIDE).zip(canaries).zip(squares);
                for ((block, &canary), square) in blocks {
                    let block = &mut block[..BLOCK];
                    block.fill(0.0);
                    self.add_block(canary, (first / BLOCK) as u64, 1.0, block);
                    *square += dot(&block[..length], &block[..length]);
                }
                let drawn = &drawn[..canaries.len() * STRIDE];
                add_products(drawn, first..first + length, changes, &mut sums, products);
            }
        }
        for (cosines, square) in cosines.chunks_exact_mut(changes.len().max(1)).zip(squares) {
            let norm = f64::sqrt(square);
            for (cosine, change) in cosines.iter_mut().zip(changes) {
                *cosine /= norm * change.norm;
            }
        }
    }

    /// Adds `length` times the direction of a canary to `sum`.
    pub fn add(&mut self, canary: u64, length: f64, sum: &mut [f32]) {
        let mut kept = std::mem::take(&mut self.kept);
        kept.clear();
        let square = self.each_block(canary, |first, normals| {
            if first < KEPT {
                kept.extend_from_slice(normals);
            }
        });
        let factor = (length / square.sqrt()) as f32;
        let add = |sum: &mut [f32], normals: &[f32]| {
            sum.iter_mut().zip(normals).for_each(|(sum, normal)| *sum += factor * normal);
        };
        add(sum, &kept);
        self.each_block_from(kept.len(), canary, |first, normals| add(&mut sum[first..], normals));
        self.kept = kept;
    }

    /// The first coordinates of one block of y.
    pub(crate) fn block(&mut self, canary: u64, vector: usize, length: usize) -> &[f32] {
        self.normals.set_stream(canary);
        self.block.fill(0.0);
        // a whole block, so that a coordinate does not depend on the dimension
        self.normals.add(vector as u64, 1.0, &mut self.block);
        &self.block[..length]
    }

    /// Adds `factor` times one block of y to a whole block.
    pub(crate) fn add_block(&mut self, canary: u64, vector: u64, factor: f32, out: &mut [f32]) {
        self.normals.set_stream(canary);
        self.normals.add(vector, factor, out);
    }

    /// Passes each block and its first coordinate, and returns ‖y‖².
    fn each_block(&mut self, canary: u64, mut visit: impl FnMut(usize, &[f32])) -> f64 {
        let mut square = 0.0;
        self.each_block_from(0, canary, |first, normals| {
            square += dot(normals, normals);
            visit(first, normals);
        });
        square
    }

    /// Passes each block from the coordinate `start` on, a multiple of the block's size, and its first
    /// coordinate.
    fn each_block_from(&mut self, start: usize, canary: u64, mut visit: impl FnMut(usize, &[f32])) {
        self.each_block_while(start, canary, |first, normals| {
            visit(first, normals);
            true
        });
    }

    /// Passes blocks from `start` on while `visit` returns true; returns whether it did for all.
    fn each_block_while(
        &mut self,
        start: usize,
        canary: u64,
        mut visit: impl FnMut(usize, &[f32]) -> bool,
    ) -> bool {
        (start..self.dimension).step_by(BLOCK).all(|first| {
            let length = BLOCK.min(self.dimension - first);
            visit(first, self.block(canary, first / BLOCK, length))
        })
    }
}

/// The change of a model's parameters by a training.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelChange {
    /// The change, scaled to mean square 1.
    scaled: Vec<f32>,
    norm: f64,
}

impl ModelChange {
    /// A change in f32; none if an entry is not finite or all are 0.
    #[must_use]
    pub fn of(change: &[f32]) -> Option<Self> {
        // squares of f32 neither overflow nor underflow in f64
        let unit = (square(change) / change.len().max(1) as f64).sqrt();
        if !(unit > 0.0 && unit.is_finite()) {
            return None;
        }
        let scaled: Vec<f32> =
            change.iter().map(|&entry| (f64::from(entry) / unit) as f32).collect();
        let norm = square(&scaled).sqrt();
        Some(Self { scaled, norm })
    }

    /// Adds the change, scaled to norm 1, to `sum`.
    pub fn add_unit(&self, sum: &mut [f32]) {
        let factor = (1.0 / self.norm) as f32;
        sum.iter_mut().zip(&self.scaled).for_each(|(sum, x)| *sum += factor * x);
    }

    /// The difference of two models; none if a parameter is not finite or nothing changed.
    #[must_use]
    pub fn between(initial: &[f64], last: &[f64]) -> Option<Self> {
        Self::of_entries(|| last.iter().zip(initial).map(|(last, initial)| last - initial))
    }

    fn of_entries<I: ExactSizeIterator<Item = f64>>(entries: impl Fn() -> I) -> Option<Self> {
        let most = entries().map(f64::abs).fold(0.0, f64::max);
        let square: f64 = entries().map(|entry| (entry / most) * (entry / most)).sum();
        let unit = most * (square / entries().len().max(1) as f64).sqrt();
        if !(square.is_finite() && unit > 0.0 && unit.is_finite()) {
            return None;
        }
        Some(Self::of_sum(entries().map(|entry| (entry / unit) as f32).collect()))
    }

    /// A change that is scaled to a mean square near 1; none if an entry is not finite or all are 0.
    #[must_use]
    pub fn of_scaled(scaled: Vec<f32>) -> Option<Self> {
        let change = Self::of_sum(scaled);
        (change.norm > 0.0 && change.norm.is_finite()).then_some(change)
    }

    /// The change itself, of moderate size.
    pub(crate) fn of_sum(scaled: Vec<f32>) -> Self {
        let norm = scaled.iter().map(|&x| f64::from(x) * f64::from(x)).sum::<f64>().sqrt();
        Self { scaled, norm }
    }
}

/// Adds the products of some blocks with those entries of all changes, block by block.
fn add_products(
    drawn: &[f32],
    entries: Range<usize>,
    changes: &[ModelChange],
    sums: &mut [[f32; SUMS]],
    products: &mut [f64],
) {
    let (first, length) = (entries.start, entries.len());
    let count = drawn.len() / STRIDE;
    sums.fill([0.0; SUMS]);
    let (whole, rest) = (length - length % SUMS, length - length % SUMS..length);
    for start in (0..whole).step_by(PART) {
        let part = start..whole.min(start + PART);
        for (change, sums) in changes.iter().zip(sums.chunks_exact_mut(count)) {
            let change = &change.scaled[first..][part.clone()];
            let (pairs, last) = sums.as_chunks_mut::<2>();
            for (pair, sums) in drawn.chunks_exact(2 * STRIDE).zip(pairs) {
                let (one, other) = pair.split_at(STRIDE);
                add_running_sums([&one[part.clone()], &other[part.clone()]], change, sums);
            }
            let rest = drawn.chunks_exact(2 * STRIDE).remainder();
            for sums in last {
                add_running_sums([&rest[part.clone()]], change, std::array::from_mut(sums));
            }
        }
    }
    for (at, (change, sums)) in changes.iter().zip(sums.chunks_exact(count)).enumerate() {
        let change = &change.scaled[first..][rest.clone()];
        let products = products.iter_mut().skip(at).step_by(changes.len());
        for ((product, block), sums) in products.zip(drawn.chunks_exact(STRIDE)).zip(sums) {
            *product += total(sums, &block[rest.clone()], change);
        }
    }
}

pub(crate) fn dot(one: &[f32], other: &[f32]) -> f64 {
    let rest = (one.as_chunks::<SUMS>().1, other.as_chunks::<SUMS>().1);
    total(&running_sums(one, other), rest.0, rest.1)
}

/// ‖x‖², in running sums in f64.
fn square(x: &[f32]) -> f64 {
    let (whole, rest) = x.as_chunks::<SUMS>();
    let mut sums = [0.0; SUMS];
    for entries in whole {
        for (sum, &entry) in sums.iter_mut().zip(entries) {
            *sum += f64::from(entry) * f64::from(entry);
        }
    }
    sums.iter().sum::<f64>() + rest.iter().map(|&x| f64::from(x) * f64::from(x)).sum::<f64>()
}

/// The running sums, and the products of what is left after them.
fn total(sums: &[f32; SUMS], one: &[f32], other: &[f32]) -> f64 {
    let rest: f64 = one.iter().zip(other).map(|(&a, &b)| f64::from(a) * f64::from(b)).sum();
    sums.iter().copied().map(f64::from).sum::<f64>() + rest
}

/// Products of y with a change, and with itself.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Products {
    pub(crate) change: f64,
    pub(crate) square: f64,
}

impl Products {
    /// Adds a block of y and of the change.
    fn add(&mut self, normals: &[f32], change: &[f32]) {
        self.change += dot(normals, change);
        self.square += dot(normals, normals);
    }

    /// Adds the running sums of a whole block, each with the change before the square.
    #[cfg(all(feature = "gpu", not(target_arch = "wasm32")))]
    pub(crate) fn add_sums(&mut self, sums: &[f32]) {
        let sum = |offset| sums.iter().skip(offset).step_by(2).copied().map(f64::from).sum::<f64>();
        self.change += sum(0);
        self.square += sum(1);
    }
}

/// The cosines between the directions of canaries of a seed and the change of a model.
///
/// # Guarantee
/// Cosines have the bits of [`CanaryDirections::cosine`] on every backend; a GPU that fails is
/// replaced by the CPU, with a warning (`tests/gpu/directions.rs::cosines_equal_those_of_the_cpu`).
///
/// # Errors
/// [`EngineError::Stopped`].
pub fn cosines(
    backend: &Backend,
    seed: u64,
    canaries: Range<u64>,
    change: &ModelChange,
    control: &dyn Control,
) -> Result<Vec<f64>, EngineError> {
    let products = products(backend, seed, canaries, &change.scaled, control)?;
    Ok(products.iter().map(|found| found.change / (found.square.sqrt() * change.norm)).collect())
}

/// The products of canaries with an unscaled change.
pub(crate) fn products(
    backend: &Backend,
    seed: u64,
    canaries: Range<u64>,
    change: &[f32],
    control: &dyn Control,
) -> Result<Vec<Products>, EngineError> {
    let (start, found) = on_device(backend, seed, canaries.clone(), change, control)?;
    let items: Vec<(u64, Products)> = canaries.zip(found).collect();
    let finished = backend.cpu().map(&items, |&(canary, mut products)| {
        let mut directions = CanaryDirections::new(seed, change.len());
        let is_whole = directions.each_block_while(start, canary, |first, normals| {
            let is_stopped = first % (BLOCKS_PER_POLL * BLOCK) == 0 && !control.keep_going();
            products.add(normals, &change[first..first + normals.len()]);
            !is_stopped
        });
        (is_whole && control.keep_going()).then_some(products)
    });
    finished.into_iter().collect::<Option<_>>().ok_or(EngineError::Stopped)
}

/// The products that a GPU computed, and the first coordinate that it left to the CPU.
fn on_device(
    backend: &Backend,
    seed: u64,
    canaries: Range<u64>,
    change: &[f32],
    control: &dyn Control,
) -> Result<(usize, Vec<Products>), EngineError> {
    let none = || canaries.clone().map(|_| Products::default()).collect::<Vec<_>>();
    #[cfg(feature = "gpu")]
    if let Backend::Gpu(gpu) = backend {
        let (whole, mut found) = (change.len() / BLOCK * BLOCK, none());
        let (mut device, range) = (gpu.directions(seed), canaries.clone());
        match device.add(range, &change[..whole], &mut found, control) {
            Ok(()) => return Ok((whole, found)),
            Err(_) if !control.keep_going() => return Err(EngineError::Stopped),
            Err(reason) => control.warn(&format!("{reason}; continuing on the CPU")),
        }
    }
    let _ = (backend, seed, change, control);
    Ok((0, none()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use dpscope_core::audit::one_shot::{CosineNull, unseen_finding};
    use dpscope_core::math;

    fn change(dimension: usize) -> ModelChange {
        let last: Vec<f64> = (0..dimension).map(|i| math::sin((i * i) as f64) * 1e-30).collect();
        ModelChange::between(&vec![0.0; dimension], &last).unwrap()
    }

    #[test]
    fn cosines_equal_those_in_f64() {
        for dimension in [2, 31, 4_095, 4_096, 4_097, 50_000] {
            let change = change(dimension);
            let mut directions = CanaryDirections::new(5, dimension);
            for canary in [0, 1, u64::MAX] {
                let wide: f64 = (directions.direction(canary).iter().zip(&change.scaled))
                    .map(|(c, &x)| c * f64::from(x))
                    .sum();
                let cosine = directions.cosine(canary, &change);
                let error = (cosine - wide / change.norm).abs() * (dimension as f64).sqrt();
                assert!(error < 1e-5, "{dimension} {canary}: {error}");
            }
        }
    }

    /// Stops when it is asked for the nth time.
    struct StopsAt(std::sync::atomic::AtomicI64);

    impl Control for StopsAt {
        fn keep_going(&self) -> bool {
            self.0.fetch_sub(1, std::sync::atomic::Ordering::SeqCst) > 1
        }

        fn now_ms(&self) -> f64 {
            0.0
        }
    }

    /// A direction of 10⁹ coordinates takes seconds.
    #[test]
    fn products_stop_within_a_canary() {
        let backend = Backend::Cpu(crate::backend::CpuBackend::new(1).unwrap());
        let change = vec![1.0; 4 * BLOCKS_PER_POLL * BLOCK];
        let stopped_at = |calls: i64| {
            let control = StopsAt(calls.into());
            let found = products(&backend, 5, 0..1, &change, &control);
            (found.is_ok(), calls - control.0.into_inner())
        };
        assert_eq!(stopped_at(1_000), (true, 5));
        assert_eq!(stopped_at(2), (false, 2));
    }

    #[test]
    fn coordinates_do_not_depend_on_the_dimension() {
        let ratio = |dimension: usize| {
            let direction = CanaryDirections::new(5, dimension).direction(9);
            (direction[0] / direction[1], direction[4_000] / direction[1])
        };
        let (few, many) = (ratio(4_001), ratio(9_000));
        assert!((few.0 / many.0 - 1.0).abs() < 1e-12 && (few.1 / many.1 - 1.0).abs() < 1e-12);
    }

    #[test]
    fn unseen_directions_are_uniform() {
        let (dimension, change) = (500, change(500));
        let mut directions = CanaryDirections::new(8, dimension);
        let cosines: Vec<f64> = (0..3_000).map(|i| directions.cosine(i, &change)).collect();
        let tails = |dimension| CosineNull::new(dimension).unwrap().tails(&cosines).unwrap();
        assert_eq!(unseen_finding(&tails(500)), None);
        // broken: the null distribution of another dimension
        assert!(unseen_finding(&tails(900)).is_some());
        // broken: one direction for two canaries
        let copied: Vec<f64> = (0..3_000).map(|i| directions.cosine(i % 20, &change)).collect();
        let copied = CosineNull::new(500).unwrap().tails(&copied).unwrap();
        assert!(unseen_finding(&copied).is_some());
    }

    #[test]
    fn values_are_stable() {
        let direction = CanaryDirections::new(20_261_121, 3).direction(1);
        let bits: Vec<u32> = direction.iter().map(|&c| (c as f32).to_bits()).collect();
        assert_eq!(bits, [1_061_956_304, 3_202_616_270, 1_053_840_590]);
    }

    #[test]
    fn a_model_that_did_not_change_has_no_direction() {
        assert_eq!(ModelChange::between(&[1.0, 2.0], &[1.0, 2.0]), None);
        for bad in [f64::NAN, f64::INFINITY] {
            assert_eq!(ModelChange::between(&[1.0, 2.0], &[1.0, bad]), None);
        }
    }
}
