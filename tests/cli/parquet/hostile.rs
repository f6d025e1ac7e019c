//! A Parquet file of one column `x` with two numbers, whose sizes can be wrong.

/// The header of its page.
#[derive(Debug, Clone, Copy)]
pub(super) struct Page {
    pub(super) unpacked_bytes: i64,
    pub(super) packed_bytes: i64,
    pub(super) values: i64,
}

/// What the file states.
#[derive(Debug, Clone, Copy)]
pub(super) struct File {
    pub(super) page: Page,
    /// Rows of the file and of its row group.
    pub(super) rows: i64,
    /// Rows of the row group beyond those of the file.
    pub(super) group_rows: i64,
}

impl Default for File {
    /// A correct file.
    fn default() -> Self {
        let page = Page { unpacked_bytes: 16, packed_bytes: 18, values: 2 };
        File { page, rows: 2, group_rows: 0 }
    }
}

/// A field of Thrift's compact protocol: its number and value.
enum Value {
    I32(i64),
    I64(i64),
    Text(&'static str),
    Struct(Vec<u8>),
    /// A list of structs, texts or numbers, which are encoded.
    List(u8, Vec<Vec<u8>>),
}

const I32: u8 = 5;
const I64: u8 = 6;
const BINARY: u8 = 8;
const LIST: u8 = 9;
const STRUCT: u8 = 12;

impl File {
    pub(super) fn bytes(&self) -> Vec<u8> {
        use Value::{I32, I64, List, Struct, Text};
        // snappy: the length, a literal of 16 bytes
        let mut data = vec![16, 15 << 2];
        [1.5_f64, 2.5].iter().for_each(|x| data.extend(x.to_le_bytes()));
        let values = structure([(1, I32(self.page.values)), (2, I32(0)), (3, I32(3)), (4, I32(3))]);
        let header = structure([
            (1, I32(0)),
            (2, I32(self.page.unpacked_bytes)),
            (3, I32(self.page.packed_bytes)),
            (5, Struct(values)),
        ]);
        let chunk_bytes = (header.len() + data.len()) as i64;
        let path = || text("x");
        let column = structure([
            (1, I32(5)),
            (2, List(self::I32, vec![varint(zigzag(0))])),
            (3, List(BINARY, vec![path()])),
            (4, I32(1)),
            (5, I64(self.rows)),
            (6, I64(chunk_bytes)),
            (7, I64(chunk_bytes)),
            (9, I64(4)),
        ]);
        let chunk = structure([(2, I64(4)), (3, Struct(column))]);
        let group = structure([
            (1, List(STRUCT, vec![chunk])),
            (2, I64(chunk_bytes)),
            (3, I64(self.rows.saturating_add(self.group_rows))),
        ]);
        let root = structure([(4, Text("schema")), (5, I32(1))]);
        let leaf = structure([(1, I32(5)), (3, I32(0)), (4, Text("x"))]);
        let footer = structure([
            (1, I32(1)),
            (2, List(STRUCT, vec![root, leaf])),
            (3, I64(self.rows)),
            (4, List(STRUCT, vec![group])),
        ]);
        let length = (footer.len() as u32).to_le_bytes();
        [b"PAR1", &header[..], &data, &footer, &length, b"PAR1"].concat()
    }
}

fn structure<const N: usize>(fields: [(u8, Value); N]) -> Vec<u8> {
    let (mut bytes, mut last) = (Vec::new(), 0);
    for (number, value) in fields {
        let (kind, encoded) = match value {
            Value::I32(x) => (I32, varint(zigzag(x))),
            Value::I64(x) => (I64, varint(zigzag(x))),
            Value::Text(x) => (BINARY, text(x)),
            Value::Struct(x) => (STRUCT, x),
            Value::List(kind, items) => {
                let size = (items.len() as u8) << 4;
                (LIST, [vec![size | kind], items.concat()].concat())
            }
        };
        bytes.push(((number - last) << 4) | kind);
        bytes.extend(encoded);
        last = number;
    }
    bytes.push(0);
    bytes
}

fn text(text: &str) -> Vec<u8> {
    [varint(text.len() as u64), text.as_bytes().to_vec()].concat()
}

fn zigzag(x: i64) -> u64 {
    ((x << 1) ^ (x >> 63)) as u64
}

fn varint(mut x: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while x >= 0x80 {
        bytes.push((x as u8) | 0x80);
        x >>= 7;
    }
    bytes.push(x as u8);
    bytes
}
