//! Results of the library together with their printed form: `--json` serializes the result, text comes from a function.

use serde::{Serialize, Serializer};
use std::fmt::{Display, Formatter};

/// A value and the function that prints it.
pub(crate) struct Printed<T> {
    value: T,
    print: fn(&T, &mut Formatter<'_>) -> std::fmt::Result,
}

impl<T> Printed<T> {
    pub(crate) fn new(value: T, print: fn(&T, &mut Formatter<'_>) -> std::fmt::Result) -> Self {
        Printed { value, print }
    }
}

impl<T> Display for Printed<T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        (self.print)(&self.value, f)
    }
}

impl<T: Serialize> Serialize for Printed<T> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.value.serialize(to)
    }
}

/// A result of the library with the path of the model, or of the copy that was made from it.
#[derive(Serialize)]
pub(crate) struct WithPath<T> {
    pub(crate) path: String,
    #[serde(flatten)]
    pub(crate) result: T,
}
