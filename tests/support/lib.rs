//! Shared by the whole-system tests: golden data, small statistics, running the program.
