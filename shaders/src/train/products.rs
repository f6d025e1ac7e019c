//! Tiled matrix products, the skeleton of all layers with weights.
//!
//! out(i, j) = Σ_k left(i, k)·right(k, j), where a layer defines left, right and out. A workgroup
//! of 64 threads computes a tile, each thread a part of it in registers; slabs of the factors are
//! loaded to workgroup memory.
//!
//! Counts, for a tile of a × b with r × s in a thread's registers and d terms of a slab: each word
//! that is loaded from memory takes part in b products (of the left) or a (of the right), and each
//! that a thread loads from its workgroup's memory in r·s/(r + s): 4 for 8 × 8, 2.7 for 8 × 4.
//! Workgroup memory is 4·d·(a + b + 2) bytes, at most 8.8 KB, and 1 KB for slices; registers are
//! about r·s + r + s and 20 for places, 100 for 8 × 8: 10 workgroups a multiprocessor of 65,536.
//!
//! If a product has few rows and columns but many terms, the terms are split among several threads
//! per output, and their sums are added at the end, in a fixed order.

use std::fmt::Write;

use super::kernel::{Kernel, KernelBuilder, WORKGROUP};
use super::numbers::Numbers;

/// Rows, columns and terms of a product, and the number of products per model.
#[derive(Debug, Clone, Copy)]
pub(super) struct Product {
    pub(super) rows: u64,
    pub(super) columns: u64,
    pub(super) terms: u64,
    pub(super) count: u64,
}

/// The index of a factor that is contiguous in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Along {
    Terms,
    Tile,
}

/// The WGSL functions that a layer defines: NAME_left(i, k), NAME_right(k, j), NAME_store(i, j,
/// sum) and optionally NAME_end for the end of a tile. If the right factor is contiguous along the
/// tile, it is NAME_right(spot, k) with NAME_spot(j), which is computed once per column.
#[derive(Debug, Clone, Copy)]
pub(super) struct ProductFunctions {
    pub(super) name: &'static str,
    pub(super) left: Along,
    pub(super) right: Along,
    pub(super) has_end: bool,
}

/// Tiling of a product.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Tile {
    /// Threads along rows and columns, and threads per output, among which the terms are split.
    threads: [u32; 3],
    /// Rows and columns per thread.
    own: [u32; 2],
    /// Terms per slab.
    depth: u32,
}

/// Maximum workgroup memory of both slabs, in words.
const MAX_WORDS: u32 = 2_200;

/// Approximate instructions per loaded word, including its address, and between two slabs.
const FETCH: u64 = 10;
const BETWEEN: u64 = 1_280;

impl Tile {
    /// The tiling with the lowest estimated cost.
    pub(super) fn of(product: &Product, numbers: Numbers) -> Self {
        let fallback = Tile { threads: [8, 8, 1], own: [4, 4], depth: 8 };
        // A dual number takes two words, in slabs and in registers.
        let words = numbers.words() as u32;
        let fits = |tile: &Tile| {
            words * tile.depth * (tile.rows() + tile.columns() + 2) <= MAX_WORDS
                && words * tile.own[0] * tile.own[1] <= 64
        };
        Tile::all().filter(fits).min_by_key(|tile| tile.cost(product)).unwrap_or(fallback)
    }

    fn all() -> impl Iterator<Item = Tile> {
        let threads = (0..=4_u32).flat_map(|slices| {
            let sides = (0..=6 - slices).map(move |rows| [rows, 6 - slices - rows, slices]);
            sides.map(|logs| logs.map(|log| 1 << log))
        });
        let owns = move |threads: [u32; 3]| {
            (1..=8).flat_map(move |rows| [4, 8].map(move |columns| (threads, [rows, columns])))
        };
        let depths = |(threads, own): ([u32; 3], [u32; 2])| {
            let tile = move |depth| Tile { threads, own, depth };
            [4, 8, 16, 32].map(tile).into_iter().filter(|tile| tile.depth >= tile.slices())
        };
        threads.flat_map(owns).flat_map(depths)
    }

    const fn rows(&self) -> u32 {
        self.threads[0] * self.own[0]
    }

    const fn columns(&self) -> u32 {
        self.threads[1] * self.own[1]
    }

    const fn slices(&self) -> u32 {
        self.threads[2]
    }

    /// Number of tiles of a product.
    pub(super) fn count(&self, product: &Product) -> u64 {
        product.rows.div_ceil(self.rows().into()) * product.columns.div_ceil(self.columns().into())
    }

    /// Estimated instructions of a product: multiplications, loads from workgroup memory (at a
    /// quarter of the rate), slabs, and the addition of slices.
    fn cost(&self, product: &Product) -> u64 {
        let [rows, columns, slices, depth] =
            [self.rows(), self.columns(), self.slices(), self.depth].map(u64::from);
        let [own_rows, own_columns] = self.own.map(u64::from);
        let threads = u64::from(WORKGROUP);
        let loads = 4 * threads / slices * (own_rows + own_columns);
        let slab = depth * (rows * columns + loads + FETCH * (rows + columns)) + BETWEEN;
        let joins = if slices > 1 { own_rows * own_columns * threads * 6 } else { 0 };
        self.count(product) * (product.terms.div_ceil(depth) * slab + joins)
    }

    /// The kernel of a product whose functions are in `builder`.
    pub(super) fn kernel(
        self,
        builder: KernelBuilder,
        product: &Product,
        parts: &ProductFunctions,
    ) -> Kernel {
        let operations = 2 * product.rows * product.columns * product.terms * product.count;
        builder
            .constants(&[
                ("TILE_ROWS", self.rows()),
                ("TILE_COLUMNS", self.columns()),
                ("DEPTH", self.depth),
                ("THREAD_ROWS", self.threads[0]),
                ("THREAD_COLUMNS", self.threads[1]),
                ("SLICES", self.slices()),
                ("ALL_ROWS", product.rows as u32),
                ("ALL_COLUMNS", product.columns as u32),
                ("ALL_TERMS", product.terms as u32),
                ("TILES", self.count(product) as u32),
            ])
            .part(&self.source(product, parts))
            .finish(operations)
    }

    fn source(&self, product: &Product, parts: &ProductFunctions) -> String {
        let [own_rows, own_columns] = self.own;
        let cells: Vec<(u32, u32)> =
            (0..own_rows).flat_map(|r| (0..own_columns / 4).map(move |q| (r, q))).collect();
        let mut text = format!("{SLABS}{ENTRY}");
        let spots = if parts.right == Along::Tile { self.columns().div_ceil(WORKGROUP) } else { 0 };
        for spot in 0..spots {
            // Writing to a String cannot fail.
            let _ = writeln!(
                text,
                "let column_{spot} = first_column + local % TILE_COLUMNS + {spot}u * WORKGROUP;\n\
                 let spot_{spot} = {}_spot(min(column_{spot}, ALL_COLUMNS - 1u));",
                parts.name
            );
        }
        for (r, q) in &cells {
            let _ = writeln!(text, "var sum_{r}_{q} = Reals();");
        }
        text.push_str("for (var term = 0u; term < ALL_TERMS; term += DEPTH) {\n");
        text.push_str(&self.fetch(product, parts, Side::Left));
        match spots {
            0 => text.push_str(&self.fetch(product, parts, Side::Right)),
            _ => self.fetch_spots(product, parts, spots, &mut text),
        }
        text.push_str("workgroupBarrier();\n");
        let turns = self.turns();
        let _ = writeln!(text, "for (var turn = 0u; turn < DEPTH / SLICES; turn += {turns}u) {{");
        (0..turns).for_each(|turn| self.terms(turn, &mut text));
        text.push_str("}\nworkgroupBarrier();\n}\n");
        let _ = writeln!(text, "var cells: array<Reals, {}>;", cells.len());
        for (cell, (r, q)) in cells.iter().enumerate() {
            let _ = writeln!(text, "cells[{cell}] = sum_{r}_{q};");
        }
        let _ = writeln!(text, "for (var cell = 0u; cell < {}u; cell += 1u) {{", cells.len());
        text.push_str(if self.slices() > 1 { JOINED_SUM } else { "let sum = cells[cell];\n" });
        let _ = writeln!(text, "let quarters = {}u;", own_columns / 4);
        text.push_str(PUT);
        let name = parts.name;
        if parts.has_end {
            let _ = writeln!(text, "{name}_end(local, tile);");
        }
        let _ = writeln!(
            text,
            "}}\nfn put(i: u32, j: u32, sum: Real) {{\n\
             if (i < ALL_ROWS && j < ALL_COLUMNS) {{ {name}_store(i, j, sum); }}\n}}"
        );
        text
    }

    /// Unrolled terms per iteration, for about 64 multiplications.
    fn turns(&self) -> u32 {
        let [rows, columns] = self.own;
        let most = (64 / (rows * columns).next_power_of_two()).clamp(1, 4);
        most.min(self.depth / self.slices())
    }

    /// Source of one unrolled term.
    fn terms(&self, turn: u32, text: &mut String) {
        let [own_rows, own_columns] = self.own;
        let _ = writeln!(
            text,
            "{{\nlet k = slice + (turn + {turn}u) * SLICES;\n\
             let left = k * (TILE_ROWS + 1u) + thread_row;\n\
             let right = k * (TILE_COLUMNS + 1u) + thread_column;"
        );
        for q in 0..own_columns / 4 {
            let part = |c| format!("right_slab[right + {c}u * THREAD_COLUMNS]");
            let parts: Vec<String> = (4 * q..4 * q + 4).map(part).collect();
            let _ = writeln!(text, "let r{q} = reals({});", parts.join(", "));
        }
        for r in 0..own_rows {
            let _ = writeln!(text, "let l{r} = left_slab[left + {r}u * THREAD_ROWS];");
            for q in 0..own_columns / 4 {
                let _ = writeln!(text, "sum_{r}_{q} = plus_product(sum_{r}_{q}, l{r}, r{q});");
            }
        }
        text.push_str("}\n");
    }

    /// Source that loads a slab of one factor; indices are checked only if a tile may exceed the
    /// matrix.
    fn fetch(&self, product: &Product, parts: &ProductFunctions, side: Side) -> String {
        let (name, size, all, along, own, whole) = match side {
            Side::Left => ("left", "TILE_ROWS", "ALL_ROWS", parts.left, self.rows(), product.rows),
            Side::Right => {
                let (own, whole) = (self.columns(), product.columns);
                ("right", "TILE_COLUMNS", "ALL_COLUMNS", parts.right, own, whole)
            }
        };
        let (at, k) = match along {
            Along::Terms => ("e / DEPTH".to_owned(), "e % DEPTH".to_owned()),
            Along::Tile => (format!("e % {size}"), format!("e / {size}")),
        };
        let first = if side == Side::Left { "first_row" } else { "first_column" };
        let mut checks = self.term_check(product);
        if !whole.is_multiple_of(own.into()) {
            checks.push(format!("{first} + at < {all}"));
        }
        let arguments = match side {
            Side::Left => format!("{first} + at, term + k"),
            Side::Right => format!("term + k, {first} + at"),
        };
        let load = checked_load(&checks, &format!("{}_{name}({arguments})", parts.name));
        format!(
            "for (var e = local; e < {size} * DEPTH; e += WORKGROUP) {{\n\
             let at = {at};\nlet k = {k};\n{load}\n{name}_slab[k * ({size} + 1u) + at] = x;\n}}\n"
        )
    }

    /// Source that loads a slab of the right factor if it is contiguous along the tile: each thread
    /// loads its own columns.
    fn fetch_spots(
        &self,
        product: &Product,
        parts: &ProductFunctions,
        spots: u32,
        text: &mut String,
    ) {
        let (first, stride) = match self.columns() {
            columns if columns >= WORKGROUP => ("0u", 1),
            columns => ("local / TILE_COLUMNS", WORKGROUP / columns),
        };
        let _ = writeln!(text, "for (var k = {first}; k < DEPTH; k += {stride}u) {{");
        for spot in 0..spots {
            let mut checks = self.term_check(product);
            if !product.columns.is_multiple_of(self.columns().into()) {
                checks.push(format!("column_{spot} < ALL_COLUMNS"));
            }
            let load =
                checked_load(&checks, &format!("{}_right(spot_{spot}, term + k)", parts.name));
            let _ = writeln!(
                text,
                "{{\n{load}\nright_slab[k * (TILE_COLUMNS + 1u) + local % TILE_COLUMNS + \
                 {spot}u * WORKGROUP] = x;\n}}"
            );
        }
        text.push_str("}\n");
    }

    fn term_check(&self, product: &Product) -> Vec<String> {
        let is_whole = product.terms.is_multiple_of(self.depth.into());
        if is_whole { Vec::new() } else { vec!["term + k < ALL_TERMS".to_owned()] }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Left,
    Right,
}

/// Source of `x`, loaded if the checks hold, otherwise 0.
fn checked_load(checks: &[String], load: &str) -> String {
    if checks.is_empty() {
        return format!("let x = {load};");
    }
    format!("var x = Real();\nif ({}) {{ x = {load}; }}", checks.join(" && "))
}

/// Adds the sums of all slices into the first.
const JOINED_SUM: &str = "\
joined[local] = cells[cell];
workgroupBarrier();
var sum = joined[thread];
if (slice == 0u) {
for (var s = 1u; s < SLICES; s += 1u) {
sum = plus_reals(sum, joined[thread + s * THREAD_ROWS * THREAD_COLUMNS]);
}
}
workgroupBarrier();
";

/// Stores four sums.
const PUT: &str = "\
if (slice == 0u) {
let i = row + cell / quarters * THREAD_ROWS;
let j = column + cell % quarters * 4u * THREAD_COLUMNS;
put(i, j, component(sum, 0u));
put(i, j + THREAD_COLUMNS, component(sum, 1u));
put(i, j + 2u * THREAD_COLUMNS, component(sum, 2u));
put(i, j + 3u * THREAD_COLUMNS, component(sum, 3u));
}
}
";

/// Padded by one column, so that consecutive terms are in different memory banks.
const SLABS: &str = "\
var<workgroup> left_slab: array<Real, DEPTH * (TILE_ROWS + 1u)>;
var<workgroup> right_slab: array<Real, DEPTH * (TILE_COLUMNS + 1u)>;
var<workgroup> joined: array<Reals, WORKGROUP>;
";

/// Computes the positions of a workgroup's tile and of a thread's part of it.
const ENTRY: &str = "\
var<private> product: u32;
@compute @workgroup_size(WORKGROUP)
fn run(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
let place = workgroup_index(group);
if (place >= GROUPS) { return; }
product = place / TILES;
let tile = place % TILES;
const ACROSS = (ALL_COLUMNS + TILE_COLUMNS - 1u) / TILE_COLUMNS;
let first_row = tile / ACROSS * TILE_ROWS;
let first_column = tile % ACROSS * TILE_COLUMNS;
let slice = local / (THREAD_ROWS * THREAD_COLUMNS);
let thread = local % (THREAD_ROWS * THREAD_COLUMNS);
let thread_row = thread / THREAD_COLUMNS;
let thread_column = thread % THREAD_COLUMNS;
let row = first_row + thread_row;
let column = first_column + thread_column;
";

#[cfg(test)]
mod tests {
    use super::*;

    fn tile(rows: u64, columns: u64) -> Tile {
        Tile::of(&Product { rows, columns, terms: 100, count: 1 }, Numbers::Value)
    }

    #[test]
    fn tiles_fit_in_workgroup_memory_with_little_padding() {
        for (rows, columns) in [(1, 1), (100, 32), (6, 78_400), (6, 26), (128, 1153), (1 << 20, 3)]
        {
            let tile = tile(rows, columns);
            let words = tile.depth * (tile.rows() + tile.columns() + 2);
            assert!(words <= MAX_WORDS && 4 * words + 1024 <= 16_384, "{tile:?}");
            assert_eq!(tile.threads.iter().product::<u32>(), WORKGROUP);
            assert!(tile.depth.is_multiple_of(tile.slices() * tile.turns()));
        }
        let padded = |rows: u64, columns: u64| {
            let (tile, product) =
                (tile(rows, columns), Product { rows, columns, terms: 1, count: 1 });
            let all = tile.count(&product) * u64::from(tile.rows()) * u64::from(tile.columns());
            all as f64 / (rows * columns) as f64
        };
        assert!(padded(100, 32) < 1.2 && padded(6, 78_400) < 1.1 && padded(32, 601) < 1.2);
    }
}
