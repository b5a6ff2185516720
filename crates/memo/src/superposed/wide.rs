//! Wide rows: those whose values do not fit in bytes. They are few, because mostly a token must have followed a context more
//! than a hundred times.

use crate::kernels::integer::WIDE;
use std::collections::BTreeMap;

/// The values of a row that does not fit in bytes, in the narrower type that holds them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Wide {
    Short(Box<[i16]>),
    Long(Box<[i32]>),
}

impl Wide {
    pub(super) fn of(values: &[i32]) -> Self {
        match values.iter().map(|&v| i16::try_from(v)).collect::<Result<Box<[i16]>, _>>() {
            Ok(short) => Wide::Short(short),
            Err(_) => Wide::Long(values.into()),
        }
    }

    /// Replaces the values, in place if they still need this type.
    pub(super) fn set(&mut self, values: &[i32]) {
        let short = values.iter().all(|&v| i16::try_from(v).is_ok());
        match self {
            Wide::Short(own) if short => {
                own.iter_mut().zip(values).for_each(|(o, &v)| *o = v as i16);
            }
            Wide::Long(own) if !short => own.copy_from_slice(values),
            _ => *self = Wide::of(values),
        }
    }

    pub(super) fn values(&self) -> Vec<i32> {
        match self {
            Wide::Short(values) => values.iter().map(|&v| v.into()).collect(),
            Wide::Long(values) => values.to_vec(),
        }
    }

    fn copy_to(&self, out: &mut [i32]) {
        match self {
            Wide::Short(values) => out.iter_mut().zip(values).for_each(|(o, &v)| *o = v.into()),
            Wide::Long(values) => out.copy_from_slice(values),
        }
    }

    pub(super) fn bytes(&self) -> usize {
        match self {
            Wide::Short(values) => values.len() * 2,
            Wide::Long(values) => values.len() * 4,
        }
    }
}

/// Copies the values of a row from its cells or, if it is marked as wide, from the wide rows of its row range. A missing one is
/// zero.
pub(super) fn row_values(cells: &[i8], wide: &BTreeMap<u32, Wide>, row: u32, out: &mut [i32]) {
    if cells[0] != WIDE {
        out.iter_mut().zip(cells).for_each(|(o, &cell)| *o = cell.into());
    } else if let Some(wide) = wide.get(&row) {
        wide.copy_to(out);
    } else {
        out.fill(0);
    }
}

/// Returns whether values fit in cells.
pub(super) fn fits(values: &[i32]) -> bool {
    values.iter().all(|v| (-127..=127).contains(v))
}
