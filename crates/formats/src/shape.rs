use crate::limits::within;
use crate::{ArrayName, FormatError, Limits};

/// Elements of `shape`, if it is one that an array can have: no axis of length 0, a product that
/// does not overflow, and no limit passed.
pub(crate) fn element_count(
    array: &ArrayName,
    shape: &[u64],
    limits: &Limits,
) -> Result<usize, FormatError> {
    within(array, "axes", shape.len() as u64, "max_dimensions", limits.max_dimensions)?;
    if shape.contains(&0) {
        return Err(FormatError::EmptyArray { array: array.clone(), shape: shape_text(shape) });
    }
    let overflow = || FormatError::BadShape {
        array: array.clone(),
        shape: shape_text(shape),
        reason: "it has more elements than a computer can address",
    };
    let elements = shape.iter().try_fold(1_u64, |product, &axis| product.checked_mul(axis));
    let elements = elements.ok_or_else(overflow)?;
    limits.elements(array, elements)?;
    // The bytes as f64 must be addressable too.
    match usize::try_from(elements) {
        Ok(count) if count.checked_mul(8).is_some() => Ok(count),
        _ => Err(overflow()),
    }
}

/// A shape as Python writes it.
pub(crate) fn shape_text(shape: &[u64]) -> String {
    let lengths: Vec<String> = shape.iter().take(64).map(u64::to_string).collect();
    match lengths.as_slice() {
        [only] => format!("({only},)"),
        _ => format!("({})", lengths.join(", ")),
    }
}

/// Room for `count` elements, or an error where the memory is not there.
pub(crate) fn reserve(array: &ArrayName, count: usize) -> Result<Vec<f64>, FormatError> {
    let mut data = Vec::new();
    match data.try_reserve_exact(count) {
        Ok(()) => Ok(data),
        Err(_) => Err(FormatError::OutOfMemory { array: array.clone(), elements: count as u64 }),
    }
}

/// Reorders elements whose first index runs fastest (Fortran) so that the last does (C).
pub(crate) fn to_c_order(
    array: &ArrayName,
    shape: &[u64],
    data: Vec<f64>,
) -> Result<Vec<f64>, FormatError> {
    // An axis of length 1 moves no element.
    let axes: Vec<usize> = shape.iter().map(|&n| n as usize).filter(|&n| n > 1).collect();
    let [outer @ .., last] = axes.as_slice() else { return Ok(data) };
    if outer.is_empty() {
        return Ok(data);
    }
    let mut ordered = reserve(array, data.len())?;
    let last_stride = data.len() / last;
    let mut index = vec![0; outer.len()];
    for _ in 0..last_stride {
        let start = index.iter().zip(outer).rev().fold(0, |sum, (&i, &length)| sum * length + i);
        ordered.extend(data[start..].iter().step_by(last_stride));
        for (i, &length) in index.iter_mut().zip(outer).rev() {
            *i += 1;
            if *i < length {
                break;
            }
            *i = 0;
        }
    }
    Ok(ordered)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(shape: &[u64]) -> Result<usize, FormatError> {
        element_count(&ArrayName::only(), shape, &Limits::default())
    }

    #[test]
    fn shapes_are_counted_or_refused() {
        assert_eq!(count(&[]), Ok(1));
        assert_eq!(count(&[3, 4, 5]), Ok(60));
        assert!(matches!(count(&[u64::MAX, 0]), Err(FormatError::EmptyArray { .. })));
        assert!(matches!(count(&[1 << 40, 1 << 40]), Err(FormatError::BadShape { .. })));
        assert!(matches!(count(&[1 << 32]), Err(FormatError::LimitExceeded { .. })));
        let text = count(&[1 << 40, 1 << 40]).unwrap_err().to_string();
        assert!(
            text.starts_with("the array: shape (1099511627776, 1099511627776) is imp"),
            "{text}"
        );
    }

    #[test]
    fn shapes_read_like_python() {
        assert_eq!(shape_text(&[]), "()");
        assert_eq!(shape_text(&[3]), "(3,)");
        assert_eq!(shape_text(&[3, 0]), "(3, 0)");
    }

    #[test]
    fn fortran_order_agrees_with_index_arithmetic() {
        for shape in [vec![], vec![7], vec![2, 3], vec![3, 1, 2], vec![2, 3, 4, 5], vec![1, 5, 1]] {
            let total: u64 = shape.iter().product();
            let fortran: Vec<f64> = (0..total).map(|i| i as f64).collect();
            let ordered = to_c_order(&ArrayName::only(), &shape, fortran).unwrap();
            for (position, &value) in ordered.iter().enumerate() {
                let (mut rest, mut offset, mut stride) = (position as u64, 0, total);
                for &length in shape.iter().rev() {
                    stride /= length;
                    offset += rest % length * stride;
                    rest /= length;
                }
                assert_eq!(value, offset as f64, "shape {shape:?}, position {position}");
            }
        }
    }
}
