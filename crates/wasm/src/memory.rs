//! The calculators' allocator: blocks of powers of two, each reused for its size.
//!
//! Rust's own for wasm also joins freed neighbours, for a twentieth of what the calculators may weigh.
//! Here memory is at most twice the most that every size ever took at once.

#![allow(unsafe_code, reason = "an allocator hands out memory")]

use std::alloc::{GlobalAlloc, Layout};
use std::cell::UnsafeCell;
use std::ptr::null_mut;

/// Blocks begin at a multiple of this, or of their size where that is smaller.
const ALIGN: usize = 64;

/// The smallest block holds a pointer.
const LEAST: usize = 16;

struct Blocks {
    /// For each power of two the first free block, which holds the address of the next.
    free: [*mut u8; usize::BITS as usize],
    next: usize,
    end: usize,
}

/// The size of the block that holds a layout.
fn size_of_block(layout: Layout) -> Option<usize> {
    let size = layout.size().max(LEAST).checked_next_power_of_two()?;
    (layout.align() <= ALIGN).then(|| size.max(layout.align()))
}

impl Blocks {
    const fn new() -> Self {
        Blocks { free: [null_mut(); usize::BITS as usize], next: 0, end: 0 }
    }

    /// A block that nobody holds; null where `grow` gives no more. `grow` is asked for a number of
    /// bytes and tells where they begin and how many there are.
    fn take(
        &mut self,
        layout: Layout,
        grow: &mut dyn FnMut(usize) -> Option<(usize, usize)>,
    ) -> *mut u8 {
        let Some(size) = size_of_block(layout) else { return null_mut() };
        let first = &mut self.free[size.trailing_zeros() as usize];
        if !first.is_null() {
            let block = *first;
            // SAFETY: a free block is at least a pointer long, aligned, and holds the next one.
            *first = unsafe { block.cast::<*mut u8>().read() };
            return block;
        }
        let mut start = self.next.next_multiple_of(size.min(ALIGN));
        if self.end < start || self.end - start < size {
            let Some((grown, bytes)) = grow(size + ALIGN) else { return null_mut() };
            if grown != self.end {
                start = grown.next_multiple_of(ALIGN);
            }
            self.end = grown + bytes;
        }
        self.next = start + size;
        start as *mut u8
    }

    /// Takes a block back.
    ///
    /// # Safety
    /// It came from [`take`](Self::take) with this layout, and nobody uses it any more.
    unsafe fn give_back(&mut self, block: *mut u8, layout: Layout) {
        let Some(size) = size_of_block(layout) else { return };
        let first = &mut self.free[size.trailing_zeros() as usize];
        // SAFETY: the block is at least a pointer long, aligned, and nobody's.
        unsafe { block.cast::<*mut u8>().write(*first) };
        *first = block;
    }
}

/// The heap of a module without threads.
#[cfg_attr(not(target_arch = "wasm32"), allow(dead_code, reason = "the heap of a page"))]
struct Heap(UnsafeCell<Blocks>);

// SAFETY: a module without threads.
unsafe impl Sync for Heap {}

#[cfg(target_arch = "wasm32")]
#[global_allocator]
static HEAP: Heap = Heap(UnsafeCell::new(Blocks::new()));

/// Whole pages of 64 KiB from the browser.
#[cfg(target_arch = "wasm32")]
fn grow(bytes: usize) -> Option<(usize, usize)> {
    let pages = bytes.div_ceil(1 << 16);
    let before = core::arch::wasm32::memory_grow(0, pages);
    (before != usize::MAX).then_some((before << 16, pages << 16))
}

#[cfg(not(target_arch = "wasm32"))]
fn grow(_: usize) -> Option<(usize, usize)> {
    None
}

// SAFETY: a block has the size and alignment of its layout and is held once. No call of one of these
// functions runs within another: nothing in them allocates.
unsafe impl GlobalAlloc for Heap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: nobody else holds the blocks.
        unsafe { (*self.0.get()).take(layout, &mut grow) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: nobody else holds the blocks; the caller promises the rest.
        unsafe { (*self.0.get()).give_back(block, layout) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes and gives back blocks as a fixed sequence of numbers says, and looks whether any two
    /// that are held overlap or one is not where its layout wants it. `forget` is a broken twin: a
    /// block is given back and held on to.
    fn problems(forget: bool) -> usize {
        let mut arenas: Vec<Vec<u8>> = Vec::new();
        let mut grow = |bytes: usize| {
            arenas.push(vec![0; bytes]);
            arenas.last().map(|arena| (arena.as_ptr() as usize, bytes))
        };
        let (mut blocks, mut held, mut found) = (Blocks::new(), Vec::new(), 0);
        let mut state = 1_u64;
        for _ in 0..3_000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let (size, align) = ((state >> 40) as usize % 5_000, 1 << ((state >> 33) % 7));
            let layout = Layout::from_size_align(size, align).unwrap();
            let block = blocks.take(layout, &mut grow);
            let start = block as usize;
            let overlaps = |&(other, old): &(*mut u8, Layout)| {
                let other = other as usize;
                start < other + old.size().max(1) && other < start + size.max(1)
            };
            found += held.iter().filter(|&other| overlaps(other)).count();
            found += usize::from(block.is_null() || !start.is_multiple_of(align));
            held.push((block, layout));
            if held.len() > 60 {
                let index = (state >> 20) as usize % held.len();
                let (block, layout) = if forget { held[index] } else { held.swap_remove(index) };
                // SAFETY: it was taken with this layout; the twin never writes into it.
                unsafe { blocks.give_back(block, layout) };
                if forget {
                    held.truncate(60);
                }
            }
        }
        found
    }

    #[test]
    fn blocks_that_are_held_do_not_overlap() {
        assert_eq!(problems(false), 0);
        assert!(problems(true) > 100);
    }

    #[test]
    fn a_block_is_used_again() {
        let mut memory = vec![0_u8; 4096];
        let mut given = 0;
        let mut grow = |bytes: usize| {
            given += 1;
            (given == 1 && bytes <= 4096).then(|| (memory.as_mut_ptr() as usize, 4096))
        };
        let mut blocks = Blocks::new();
        let layout = Layout::new::<[f64; 100]>();
        for _ in 0..1_000 {
            let block = blocks.take(layout, &mut grow);
            assert!(!block.is_null());
            // SAFETY: it was just taken.
            unsafe { blocks.give_back(block, layout) };
        }
        assert!(blocks.take(Layout::new::<[f64; 1000]>(), &mut grow).is_null());
        assert!(blocks.take(Layout::from_size_align(8, 128).unwrap(), &mut grow).is_null());
    }
}
