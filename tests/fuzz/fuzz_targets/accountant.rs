#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| dpscope_fuzz::formats::accountant(bytes));
