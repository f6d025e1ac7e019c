//! Columns, and what is public about them.

/// What a column contains. Bounds and categories are public: they must not be taken from the data.
#[derive(Debug, Clone, PartialEq)]
pub enum ColumnKind {
    /// Real numbers, clipped to the bounds.
    Number {
        /// Lower bound, finite.
        low: f64,
        /// Upper bound, finite, not below `low`.
        high: f64,
    },
    /// Integers, clipped to the bounds.
    Integer {
        /// Lower bound.
        low: i32,
        /// Upper bound, not below `low`.
        high: i32,
    },
    /// One of these names.
    Category {
        /// At least one, all different.
        names: Vec<String>,
    },
}

impl ColumnKind {
    /// The bounds of numbers.
    #[must_use]
    pub fn bounds(&self) -> Option<[f64; 2]> {
        match self {
            ColumnKind::Number { low, high } => Some([*low, *high]),
            ColumnKind::Integer { low, high } => Some([f64::from(*low), f64::from(*high)]),
            ColumnKind::Category { .. } => None,
        }
    }

    /// Number of encoded columns.
    #[must_use]
    pub fn width(&self) -> usize {
        match self {
            ColumnKind::Category { names } => names.len(),
            ColumnKind::Number { .. } | ColumnKind::Integer { .. } => 1,
        }
    }
}

/// A column.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// Its content.
    pub kind: ColumnKind,
}

/// The public description of a table.
#[derive(Debug, Clone, PartialEq)]
pub struct Schema {
    columns: Vec<Column>,
    label: Option<usize>,
}

/// Why a schema is refused.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SchemaError {
    /// There is no column.
    #[error("a table needs a column")]
    NoColumns,
    /// Two columns have one name.
    #[error("two columns are named `{name}`")]
    RepeatedColumn {
        /// The name.
        name: String,
    },
    /// Bounds are not finite, or the lower one exceeds the upper one.
    #[error("bounds of column `{column}` are {low} and {high}; they must be finite and in order")]
    Bounds {
        /// The column.
        column: String,
        /// Its lower bound.
        low: f64,
        /// Its upper bound.
        high: f64,
    },
    /// A column has no categories.
    #[error("column `{column}` has no categories; list at least one")]
    NoCategories {
        /// The column.
        column: String,
    },
    /// A category is listed twice.
    #[error("column `{column}` lists the category `{category}` twice")]
    RepeatedCategory {
        /// The column.
        column: String,
        /// The category.
        category: String,
    },
    /// The label is no column, or not a categorical one.
    #[error("the label `{label}` must be the name of a categorical column")]
    Label {
        /// Its name.
        label: String,
    },
}

impl Schema {
    /// A schema without a label.
    ///
    /// # Errors
    /// No columns, repeated names, invalid bounds, or no categories.
    pub fn new(columns: Vec<Column>) -> Result<Self, SchemaError> {
        if columns.is_empty() {
            return Err(SchemaError::NoColumns);
        }
        for (at, Column { name, kind }) in columns.iter().enumerate() {
            if columns[..at].iter().any(|other| other.name == *name) {
                return Err(SchemaError::RepeatedColumn { name: name.clone() });
            }
            let column = name.clone();
            if let Some([low, high]) = kind.bounds()
                && !(low.is_finite() && high.is_finite() && low <= high)
            {
                return Err(SchemaError::Bounds { column, low, high });
            }
            if let ColumnKind::Category { names } = kind {
                check_names(names, column)?;
            }
        }
        Ok(Schema { columns, label: None })
    }

    /// This schema with a categorical column as label.
    ///
    /// # Errors
    /// [`SchemaError::Label`].
    pub fn with_label(mut self, label: &str) -> Result<Self, SchemaError> {
        let is_label = |column: &Column| {
            column.name == label && matches!(column.kind, ColumnKind::Category { .. })
        };
        let refusal = || SchemaError::Label { label: label.to_string() };
        self.label = Some(self.columns.iter().position(is_label).ok_or_else(refusal)?);
        Ok(self)
    }

    /// The columns.
    #[must_use]
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// Position of the label.
    #[must_use]
    pub fn label(&self) -> Option<usize> {
        self.label
    }

    /// Number of encoded columns: one per number, one per category.
    #[must_use]
    pub fn width(&self) -> usize {
        self.columns.iter().map(|column| column.kind.width()).sum()
    }
}

fn check_names(names: &[String], column: String) -> Result<(), SchemaError> {
    if names.is_empty() {
        return Err(SchemaError::NoCategories { column });
    }
    match names.iter().enumerate().find(|(at, name)| names[..*at].contains(name)) {
        Some((_, name)) => Err(SchemaError::RepeatedCategory { column, category: name.clone() }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(name: &str, low: f64, high: f64) -> Column {
        Column { name: name.to_string(), kind: ColumnKind::Number { low, high } }
    }

    fn category(name: &str, names: &[&str]) -> Column {
        let names = names.iter().map(ToString::to_string).collect();
        Column { name: name.to_string(), kind: ColumnKind::Category { names } }
    }

    #[test]
    fn a_schema_states_its_width_and_label() {
        let columns = vec![number("x", 0.0, 1.0), category("y", &["a", "b", "c"])];
        let schema = Schema::new(columns).unwrap();
        assert_eq!((schema.width(), schema.label()), (4, None));
        assert_eq!(schema.clone().with_label("y").unwrap().label(), Some(1));
        for label in ["x", "z"] {
            let refused = schema.clone().with_label(label);
            assert_eq!(refused, Err(SchemaError::Label { label: label.to_string() }));
        }
    }

    #[test]
    fn invalid_schemas_are_refused_with_the_column() {
        let error = |columns| Schema::new(columns).unwrap_err().to_string();
        assert_eq!(error(vec![]), "a table needs a column");
        let twice = vec![number("x", 0.0, 1.0), number("x", 0.0, 2.0)];
        assert_eq!(error(twice), "two columns are named `x`");
        for (low, high) in [(1.0, 0.0), (f64::NAN, 1.0), (0.0, f64::INFINITY)] {
            assert!(error(vec![number("x", low, high)]).starts_with("bounds of column `x` are"));
        }
        assert!(Schema::new(vec![number("x", 1.0, 1.0)]).is_ok());
        assert!(error(vec![category("y", &[])]).contains("`y` has no categories"));
        assert!(error(vec![category("y", &["a", "a"])]).contains("category `a` twice"));
    }
}
