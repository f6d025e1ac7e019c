//! Products of matrices, one batch of tiles a model: the skeleton of all layers with weights.
//!
//! out(i, j) = Σ_k left(i, k)·right(k, j), where a layer says what left, right and out are. A workgroup
//! of 64 threads has a tile, each thread a part of it in registers; slabs of the factors pass through
//! workgroup memory.
//!
//! Counts, for a tile of a × b with r × s in a thread's registers: each word of a slab that is loaded
//! from memory takes part in b products (of the left) or a (of the right), and each word that a thread
//! loads from its workgroup's in r·s/(r + s): 4 for 8 × 8, 2.7 for 8 × 4. Workgroup memory is
//! 4·d·(a + b + 2) bytes with d = 16 or 8 (8.3 KB for 64 × 64), registers about r·s + r + s and 20 for
//! places (100 for 8 × 8): 16 to 20 workgroups a multiprocessor of 65,536 registers and 228 KB.

use std::fmt::Write;

use super::kernel::{Draft, Kernel, WORKGROUP};

/// Rows, columns and terms of a product, and how many of them a model has.
#[derive(Debug, Clone, Copy)]
pub(super) struct Product {
    pub(super) rows: u64,
    pub(super) columns: u64,
    pub(super) terms: u64,
    pub(super) count: u64,
}

/// Which index of a factor is that of neighbours in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Along {
    Terms,
    Tile,
}

/// What a layer gives: functions NAME_left, NAME_right and NAME_store, and NAME_end where there is
/// something to do at the end of a tile.
#[derive(Debug, Clone, Copy)]
pub(super) struct Parts {
    pub(super) name: &'static str,
    pub(super) left: Along,
    pub(super) right: Along,
    pub(super) has_end: bool,
}

/// How a product is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Tile {
    /// Threads along the rows.
    threads: u32,
    /// Rows and columns of a thread.
    own: [u32; 2],
}

/// Thread rows, and rows and columns that a thread may have; columns are a multiple of 4.
const OWN_ROWS: std::ops::RangeInclusive<u32> = 1..=8;
const OWN_COLUMNS: [u32; 2] = [4, 8];

/// Words of workgroup memory of both slabs.
const MOST_WORDS: u32 = 2_200;

impl Tile {
    /// The tile of least time by counts.
    pub(super) fn of(product: &Product) -> Self {
        let tiles = (0..=6).flat_map(|log| {
            OWN_ROWS.flat_map(move |rows| {
                OWN_COLUMNS.map(|columns| Tile { threads: 1 << log, own: [rows, columns] })
            })
        });
        let fits = |tile: &Tile| 8 * (tile.rows() + tile.columns() + 2) <= MOST_WORDS;
        let fallback = Tile { threads: 8, own: [8, 8] };
        tiles.filter(fits).min_by_key(|tile| tile.cost(product)).unwrap_or(fallback)
    }

    const fn rows(&self) -> u32 {
        self.threads * self.own[0]
    }

    const fn columns(&self) -> u32 {
        WORKGROUP / self.threads * self.own[1]
    }

    /// Terms of a slab.
    const fn depth(&self) -> u32 {
        if 16 * (self.rows() + self.columns() + 2) <= MOST_WORDS { 16 } else { 8 }
    }

    /// Tiles of one product.
    pub(super) fn count(&self, product: &Product) -> u64 {
        product.rows.div_ceil(self.rows().into()) * product.columns.div_ceil(self.columns().into())
    }

    /// Instructions of a multiprocessor for a term of all tiles: products, loads from workgroup memory
    /// (a quarter of their rate) and loads of slabs (20 with their places).
    fn cost(&self, product: &Product) -> u64 {
        let (rows, columns) = (u64::from(self.rows()), u64::from(self.columns()));
        let loads = 4 * u64::from(WORKGROUP) * u64::from(self.own[0] + self.own[1]);
        self.count(product) * (rows * columns + loads + 20 * (rows + columns))
    }

    /// The kernel of a product whose functions are in `draft`.
    pub(super) fn kernel(self, draft: Draft, product: &Product, parts: &Parts) -> Kernel {
        let [own_rows, own_columns] = self.own;
        let operations = 2 * product.rows * product.columns * product.terms * product.count;
        draft
            .constants(&[
                ("TILE_ROWS", self.rows()),
                ("TILE_COLUMNS", self.columns()),
                ("DEPTH", self.depth()),
                ("THREAD_ROWS", self.threads),
                ("THREAD_COLUMNS", WORKGROUP / self.threads),
                ("OWN_ROWS", own_rows),
                ("OWN_COLUMNS", own_columns),
                ("ALL_ROWS", product.rows as u32),
                ("ALL_COLUMNS", product.columns as u32),
                ("ALL_TERMS", product.terms as u32),
                ("TILES", self.count(product) as u32),
            ])
            .part(&self.source(product, parts))
            .finish(operations)
    }

    fn source(&self, product: &Product, parts: &Parts) -> String {
        let [own_rows, own_columns] = self.own;
        let quarters = own_columns / 4;
        let mut text = SLABS.to_owned();
        text.push_str(&self.fetch(product, parts, true));
        text.push_str(&self.fetch(product, parts, false));
        text.push_str(ENTRY);
        for (r, q) in cells(own_rows, quarters) {
            let _ = writeln!(text, "var sum_{r}_{q} = vec4<f32>();");
        }
        text.push_str("for (var term = 0u; term < ALL_TERMS; term += DEPTH) {\n");
        text.push_str(
            "fetch_left(local, first_row, term);\nfetch_right(local, first_column, term);\n",
        );
        text.push_str("workgroupBarrier();\n");
        text.push_str("for (var k = 0u; k < DEPTH; k += 4u) {\n");
        for k in 0..4 {
            self.terms(k, &mut text);
        }
        text.push_str("}\nworkgroupBarrier();\n}\n");
        for (r, q) in cells(own_rows, quarters) {
            for (c, part) in ["x", "y", "z", "w"].iter().enumerate() {
                let c = 4 * q as usize + c;
                let _ = writeln!(
                    text,
                    "put(row + {r}u * THREAD_ROWS, column + {c}u * THREAD_COLUMNS, sum_{r}_{q}.{part});"
                );
            }
        }
        if parts.has_end {
            let _ = writeln!(text, "{}_end(local, tile);", parts.name);
        }
        let name = parts.name;
        let _ = write!(
            text,
            "}}\nfn put(i: u32, j: u32, sum: f32) {{\nif (i < ALL_ROWS && j < ALL_COLUMNS) {{ {name}_store(i, j, sum); }}\n}}\n"
        );
        text
    }

    /// The k-th of four terms.
    fn terms(&self, k: u32, text: &mut String) {
        let [own_rows, own_columns] = self.own;
        text.push_str("{\n");
        let _ = writeln!(text, "let left = (k + {k}u) * (TILE_ROWS + 1u) + thread_row;");
        let _ = writeln!(text, "let right = (k + {k}u) * (TILE_COLUMNS + 1u) + thread_column;");
        for q in 0..own_columns / 4 {
            let parts: Vec<String> = (4 * q..4 * q + 4)
                .map(|c| format!("right_slab[right + {c}u * THREAD_COLUMNS]"))
                .collect();
            let _ = writeln!(text, "let r{q} = vec4<f32>({});", parts.join(", "));
        }
        for r in 0..own_rows {
            let _ = writeln!(text, "let l{r} = left_slab[left + {r}u * THREAD_ROWS];");
        }
        for (r, q) in cells(own_rows, own_columns / 4) {
            let _ = writeln!(text, "sum_{r}_{q} += l{r} * r{q};");
        }
        text.push_str("}\n");
    }

    /// The function that loads a slab of one factor; indices are checked only where a tile may reach
    /// beyond the matrix.
    fn fetch(&self, product: &Product, parts: &Parts, is_left: bool) -> String {
        let (side, size, all, along) = if is_left {
            ("left", "TILE_ROWS", "ALL_ROWS", parts.left)
        } else {
            ("right", "TILE_COLUMNS", "ALL_COLUMNS", parts.right)
        };
        let (own, whole) =
            if is_left { (self.rows(), product.rows) } else { (self.columns(), product.columns) };
        let place = match along {
            Along::Terms => "let at = e / DEPTH;\nlet k = e % DEPTH;".to_owned(),
            Along::Tile => format!("let at = e % {size};\nlet k = e / {size};"),
        };
        let mut checks = Vec::new();
        if !whole.is_multiple_of(own.into()) {
            checks.push(format!("first + at < {all}"));
        }
        if !product.terms.is_multiple_of(self.depth().into()) {
            checks.push("term + k < ALL_TERMS".to_owned());
        }
        let name = parts.name;
        let arguments = if is_left { "first + at, term + k" } else { "term + k, first + at" };
        let load = if checks.is_empty() {
            format!("let x = {name}_{side}({arguments});")
        } else {
            let checks = checks.join(" && ");
            format!("var x = 0.0;\nif ({checks}) {{ x = {name}_{side}({arguments}); }}")
        };
        format!(
            "fn fetch_{side}(local: u32, first: u32, term: u32) {{\n\
             for (var e = local; e < {size} * DEPTH; e += WORKGROUP) {{\n\
             {place}\n{load}\n{side}_slab[k * ({size} + 1u) + at] = x;\n}}\n}}\n"
        )
    }
}

fn cells(rows: u32, quarters: u32) -> impl Iterator<Item = (u32, u32)> {
    (0..rows).flat_map(move |row| (0..quarters).map(move |quarter| (row, quarter)))
}

/// One column more than a tile has, so that neighbouring terms lie in different banks.
const SLABS: &str = "\
var<workgroup> left_slab: array<f32, DEPTH * (TILE_ROWS + 1u)>;
var<workgroup> right_slab: array<f32, DEPTH * (TILE_COLUMNS + 1u)>;
";

/// From the place of a workgroup to that of its tile, and of a thread's part of it.
const ENTRY: &str = "\
var<private> product: u32;
@compute @workgroup_size(WORKGROUP)
fn run(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
model = group.z;
let place = group.y * COLUMNS + group.x;
if (place >= GROUPS) { return; }
product = place / TILES;
let tile = place % TILES;
const ACROSS = (ALL_COLUMNS + TILE_COLUMNS - 1u) / TILE_COLUMNS;
let first_row = tile / ACROSS * TILE_ROWS;
let first_column = tile % ACROSS * TILE_COLUMNS;
let thread_row = local / THREAD_COLUMNS;
let thread_column = local % THREAD_COLUMNS;
let row = first_row + thread_row;
let column = first_column + thread_column;
";

#[cfg(test)]
mod tests {
    use super::*;

    fn tile(rows: u64, columns: u64) -> Tile {
        Tile::of(&Product { rows, columns, terms: 100, count: 1 })
    }

    #[test]
    fn tiles_fit_their_product_and_workgroup_memory() {
        for (rows, columns) in [(1, 1), (100, 32), (6, 78_400), (6, 26), (128, 1153), (1 << 20, 3)]
        {
            let tile = tile(rows, columns);
            let words = tile.depth() * (tile.rows() + tile.columns() + 2);
            assert!(4 * words <= 16_384 && words <= MOST_WORDS, "{tile:?}");
            assert!(tile.depth().is_multiple_of(4));
        }
        // little is padded
        let padded = |rows: u64, columns: u64| {
            let (tile, product) =
                (tile(rows, columns), Product { rows, columns, terms: 1, count: 1 });
            let all = tile.count(&product) * u64::from(tile.rows()) * u64::from(tile.columns());
            all as f64 / (rows * columns) as f64
        };
        assert!(padded(100, 32) < 1.2 && padded(6, 78_400) < 1.1 && padded(32, 601) < 1.2);
    }
}
