use crate::shape::{element_count, shape_text};
use crate::{ArrayName, FormatError, Limits};

/// Name, dtype and shape of an array.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArrayInfo {
    /// Its name; empty if the file has one array without a name.
    pub name: String,
    /// Its dtype, as named by the format.
    pub dtype: String,
    /// Its shape in the notation of Python.
    pub shape: String,
    /// Whether its dtype is supported.
    pub readable: bool,
}

/// Real numbers with a shape, in C order: the last index runs fastest.
///
/// Always: the shape's product is the number of elements, and it is at least 1. An array
/// without axes (shape `[]`) is one number.
///
/// ```
/// use dpscope_formats::Array;
///
/// let array = Array::new(vec![2, 2], vec![1.0, 2.0, 3.0, f64::INFINITY])?;
/// assert_eq!(array.non_finite().map(|found| (found.count, found.index)), Some((1, vec![1, 1])));
/// assert!(Array::new(vec![2, 2], vec![1.0]).is_err());
/// # Ok::<(), dpscope_formats::FormatError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Array {
    shape: Vec<usize>,
    data: Vec<f64>,
}

/// The NaN and infinite values of an array.
#[derive(Debug, Clone, PartialEq)]
pub struct NonFinite {
    /// How many there are, at least 1.
    pub count: usize,
    /// Index of the first, one number an axis.
    pub index: Vec<usize>,
    /// The first.
    pub value: f64,
}

impl Array {
    /// An array of `data` in C order.
    ///
    /// # Errors
    ///
    /// [`FormatError::EmptyArray`], [`FormatError::ShapeMismatch`], or more than 64 axes.
    pub fn new(shape: Vec<usize>, data: Vec<f64>) -> Result<Self, FormatError> {
        let array = ArrayName::only();
        let wide: Vec<u64> = shape.iter().map(|&length| length as u64).collect();
        let limits = Limits { max_elements: u64::MAX, ..Limits::default() };
        let needed = element_count(&array, &wide, &limits)?;
        if needed == data.len() {
            return Ok(Self { shape, data });
        }
        let (needed, elements) = (needed as u64, data.len() as u64);
        Err(FormatError::ShapeMismatch { array, shape: shape_text(&wide), needed, elements })
    }

    /// For readers, which have tested `shape` already and read that many elements.
    pub(crate) fn from_checked(shape: &[u64], data: Vec<f64>) -> Self {
        // Every axis is at most the element count, which is a usize.
        let shape: Vec<usize> = shape.iter().map(|&length| length as usize).collect();
        debug_assert_eq!(shape.iter().product::<usize>(), data.len());
        Self { shape, data }
    }

    /// Length of each axis.
    #[must_use]
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The elements in C order.
    #[must_use]
    pub fn data(&self) -> &[f64] {
        &self.data
    }

    /// The elements in C order, without a copy.
    #[must_use]
    pub fn into_data(self) -> Vec<f64> {
        self.data
    }

    /// Shape and elements, without a copy.
    #[must_use]
    pub fn into_parts(self) -> (Vec<usize>, Vec<f64>) {
        (self.shape, self.data)
    }

    /// How many NaN and infinite values there are, and where the first is; `None` if all are finite.
    ///
    /// Readers preserve such values; the caller decides what they mean.
    #[must_use]
    pub fn non_finite(&self) -> Option<NonFinite> {
        let first = self.data.iter().position(|value| !value.is_finite())?;
        let count = self.data[first..].iter().filter(|value| !value.is_finite()).count();
        let mut rest = first;
        let mut index = vec![0; self.shape.len()];
        for (place, &length) in index.iter_mut().zip(&self.shape).rev() {
            (*place, rest) = (rest % length, rest / length);
        }
        Some(NonFinite { count, index, value: self.data[first] })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shape_and_data_must_agree() {
        assert!(Array::new(vec![2, 3], vec![0.0; 6]).is_ok());
        assert!(Array::new(vec![], vec![0.0]).is_ok());
        let error = Array::new(vec![2, 3], vec![0.0; 5]).unwrap_err();
        assert_eq!(error.to_string(), "the array: shape (2, 3) needs 6 elements, got 5");
        let error = Array::new(vec![3, 0], vec![]).unwrap_err();
        assert!(matches!(error, FormatError::EmptyArray { .. }), "{error}");
        let error = Array::new(vec![usize::MAX, 2], vec![0.0; 2]).unwrap_err();
        assert!(matches!(error, FormatError::BadShape { .. }), "{error}");
        let error = Array::new(vec![1; 65], vec![0.0]).unwrap_err();
        assert!(matches!(error, FormatError::LimitExceeded { .. }), "{error}");
    }

    #[test]
    fn non_finite_values_are_counted_and_located() {
        let mut data = vec![0.0; 24];
        let array = |data: &[f64]| Array::new(vec![2, 3, 4], data.to_vec()).unwrap();
        assert_eq!(array(&data).non_finite(), None);
        data[23] = f64::NAN;
        assert_eq!(array(&data).non_finite().unwrap().index, [1, 2, 3]);
        data[5] = f64::NEG_INFINITY;
        let found = array(&data).non_finite().unwrap();
        assert_eq!((found.count, found.index, found.value), (2, vec![0, 1, 1], f64::NEG_INFINITY));
        let scalar = Array::new(vec![], vec![f64::INFINITY]).unwrap();
        assert_eq!(scalar.non_finite().unwrap().index, [0_usize; 0]);
    }
}
