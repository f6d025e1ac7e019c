//! What one group of rows is evaluated at.

use std::ops::Range;

use super::batch::{Inputs, SparseRow};
use super::row_directions::{Direction, RowDirections};

/// The pass that one group of rows takes.
#[derive(Clone, Copy)]
pub(super) struct Pass<'a> {
    pub(super) theta: &'a [f32],
    /// Direction w of the tangents, and the directions of the rows if they differ.
    pub(super) direction: Option<(&'a [f32], Option<&'a RowDirections>)>,
    /// The examples, where the first layer reads them in place.
    pub(super) inputs: Option<Inputs<'a>>,
    /// Whether the transposed weights belong to the parameters.
    pub(super) is_transposed: bool,
    /// Whether parameters, directions and sums of gradients have the weights of the first layer input by
    /// input.
    pub(super) by_input: bool,
    pub(super) labels: &'a [u32],
    /// Factors of the losses; 1 if empty.
    pub(super) weights: &'a [f64],
    pub(super) needs_input_gradient: bool,
    /// Outputs of the first layer and gradients with respect to the logits, where they are kept from
    /// an earlier pass.
    pub(super) kept: Option<[&'a [f32]; 2]>,
}

impl<'a> Pass<'a> {
    /// Values without tangents, every loss with factor 1.
    pub(super) fn of_values(
        theta: &'a [f32],
        inputs: Option<Inputs<'a>>,
        labels: &'a [u32],
    ) -> Self {
        Pass {
            theta,
            direction: None,
            inputs,
            is_transposed: false,
            by_input: false,
            labels,
            weights: &[],
            needs_input_gradient: false,
            kept: None,
        }
    }

    /// Direction of the parameters of a layer.
    pub(super) fn direction(
        &self,
        index: usize,
        parameters: Range<usize>,
    ) -> Option<Direction<'a>> {
        self.direction.map(|(w, rows)| match rows {
            Some(rows) => rows.of(index, &w[parameters]),
            None => Direction::Shared(&w[parameters]),
        })
    }

    /// Dense examples that a layer reads in place.
    pub(super) fn dense(&self, index: usize) -> Option<&'a [f32]> {
        match self.inputs {
            Some(Inputs::Dense(examples)) if index == 0 => Some(examples),
            _ => None,
        }
    }

    /// Whether the parameters of a layer have the weights input by input.
    pub(super) fn is_by_input(&self, index: usize) -> bool {
        self.by_input && index == 0
    }

    /// Sparse examples that a layer reads.
    pub(super) fn sparse(&self, index: usize) -> Option<&'a [SparseRow<'a, f32>]> {
        match self.inputs {
            Some(Inputs::Sparse(rows)) if index == 0 => Some(rows),
            _ => None,
        }
    }

    /// Whether values and gradients are known, and only their tangents are missing.
    pub(super) fn has_values(&self) -> bool {
        matches!(self.direction, Some((_, Some(_))))
    }
}
