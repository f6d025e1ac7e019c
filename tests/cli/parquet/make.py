"""Writes the files of this folder: one table by three writers, with its csv, and tables that are refused.

python3 -m pip install pyarrow==26.0.1 pandas==3.1.1 polars==2.1.0 && python3 make.py
"""

import csv
import datetime
import decimal

import pandas
import polars
import pyarrow
import pyarrow.parquet

TOWNS = ["Köln", 'a "b", c', "", "line\nbreak"]
ROWS = 12
TABLE = {
    "age": [0, 120, 7, 41, 41, 3, 99, 18, 64, 23, 1, 2],
    "size": [0.1, 5e-324, 1.7976931348623157e308, -0.0, 1 / 3, 2**53 + 2.0, 1e22, 1e-5, 100.0, -2.5, 7e15, 1e16],
    "dose": [0.1, 1e-45, 3.4028235e38, 0.0, 1 / 3, 16777216.0, 1e10, 1e-5, 100.0, 2.5, 7e15, 0.5],
    "ill": [True, False] * 6,
    "town": [TOWNS[i % 4] for i in range(ROWS)],
    "visits": [255, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
    "id": [2**53, -(2**53), *range(10)],
    "price": [decimal.Decimal(c) / 100 for c in [0, 1, -1, 150, 99999, -99999, 10, 100, 7, 12345, 20, 30]],
    "born": [datetime.date(1, 1, 1), datetime.date(1969, 12, 31), *[datetime.date(2020, 2, 29)] * 10],
}
SCHEMA = pyarrow.schema(
    [
        ("age", pyarrow.int64()),
        ("size", pyarrow.float64()),
        ("dose", pyarrow.float32()),
        ("ill", pyarrow.bool_()),
        ("town", pyarrow.string()),
        ("visits", pyarrow.uint8()),
        ("id", pyarrow.int64()),
        ("price", pyarrow.decimal128(7, 2)),
        ("born", pyarrow.date32()),
    ]
)


def write_csv(table: pyarrow.Table) -> None:
    """As pandas writes it: `True`, and the shortest decimals of each precision."""
    frame = table.to_pandas()
    frame["price"] = [f"{price:.2f}" for price in frame["price"]]
    frame.to_csv("table.csv", index=False, lineterminator="\n", quoting=csv.QUOTE_MINIMAL)


def main() -> None:
    table = pyarrow.table(TABLE, schema=SCHEMA)
    write_csv(table)
    frame = table.to_pandas()
    frame["town"] = frame["town"].astype("category")
    frame.to_parquet("pandas.parquet", index=False)
    categorical = polars.from_arrow(table).with_columns(polars.col("town").cast(polars.Categorical))
    categorical.write_parquet("polars.parquet")
    write = pyarrow.parquet.write_table
    write(table, "gzip.parquet", compression="gzip", row_group_size=5, use_dictionary=False)
    encodings = {"age": "DELTA_BINARY_PACKED", "size": "BYTE_STREAM_SPLIT", "town": "DELTA_BYTE_ARRAY"}
    write(
        table, "lz4.parquet", compression="lz4", data_page_version="2.0", use_dictionary=["visits"],
        column_encoding=encodings, store_decimal_as_integer=True,
    )

    def refused(name: str, column: pyarrow.Array) -> None:
        values = pyarrow.table({"x": [1.0, 2.0], "y": column})
        write(values, f"refused_{name}.parquet", store_schema=False)

    refused("nested", pyarrow.array([[1], [2, 3]]))
    refused("struct", pyarrow.array([{"a": 1}, {"a": 2}]))
    refused("binary", pyarrow.array([b"a", b"\xff"]))
    refused("half", pyarrow.array([1.0, 2.0], pyarrow.float16()))
    refused("time", pyarrow.array([0, 1], pyarrow.timestamp("ns")))
    refused("integer", pyarrow.array([0, 2**53 + 1]))
    nulls = pyarrow.table({"x": [1.0, None], "c": ["a", None]})
    write(nulls, "nulls.parquet", store_schema=False)
    small = pyarrow.table({"x": [1.5, 2.5, 2.5], "c": ["a", "b", "a"]})
    write(small, "small.parquet", store_schema=False, write_statistics=False)


main()
