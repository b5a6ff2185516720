//! Parsers of option values, so that a wrong value is reported before any model is opened.

use memo::lexicon::MAX_LEVELS;
use memo_knowledge::TriplePattern;
use memo_store::{FILE_LABEL, Timestamp};
use std::fmt::Display;
use std::ops::RangeInclusive;
use std::str::FromStr;

/// A label to be given.
pub(crate) fn label(text: &str) -> Result<(String, String), String> {
    let (key, value) = pair(text)?;
    Ok((label_name(&key)?, value))
}

/// Any label that a document may have.
pub(crate) fn pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.into(), value.into())),
        _ => Err("must be KEY=VALUE".to_owned()),
    }
}

/// The time so long ago.
pub(crate) fn ago(text: &str) -> Result<Timestamp, String> {
    Timestamp::ago(text).map_err(|_| "must be an age such as 12h, 90d, 6w or 2y".to_owned())
}

pub(crate) fn label_name(name: &str) -> Result<String, String> {
    if name == FILE_LABEL {
        return Err(format!(
            "the label {name} says where a document was read; choose another name"
        ));
    }
    Ok(name.to_owned())
}

pub(crate) fn share(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value > 0.0 && value <= 1.0 => Ok(value),
        _ => Err("must be between 0 and 1".to_owned()),
    }
}

pub(crate) fn weight(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if (0.0..=1.0).contains(&value) => Ok(value),
        _ => Err("must be between 0 and 1".to_owned()),
    }
}

pub(crate) fn temperature(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if (0.0..=100.0).contains(&value) => Ok(value),
        _ => Err("must be between 0 and 100".to_owned()),
    }
}

pub(crate) fn penalty(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if (-2.0..=2.0).contains(&value) => Ok(value),
        _ => Err("must be between -2 and 2".to_owned()),
    }
}

/// A whole number within bounds, which the message names whatever is wrong.
pub(crate) fn between<T>(
    range: RangeInclusive<T>,
) -> impl Fn(&str) -> Result<T, String> + Clone + Send + Sync + 'static
where
    T: Copy + Display + FromStr + PartialOrd + Send + Sync + 'static,
{
    move |text| match text.parse::<T>() {
        Ok(value) if range.contains(&value) => Ok(value),
        _ => Err(format!("must be a whole number from {} to {}", range.start(), range.end())),
    }
}

/// The depths of levels.
#[derive(Clone, Debug, Default)]
pub(crate) struct Depths(pub(crate) Vec<usize>);

/// 6, or 6,3.
pub(crate) fn depths(text: &str) -> Result<Depths, String> {
    let numbers = text.split(',').map(|number| number.trim().parse::<usize>().ok());
    match numbers.collect::<Option<Vec<usize>>>() {
        Some(depths) if depths.len() <= MAX_LEVELS => Ok(Depths(depths)),
        _ => Err(format!("must be whole numbers such as 6 or 6,3, {MAX_LEVELS} at most")),
    }
}

/// 512MiB, 2GB, 1.5GiB, 100000.
pub(crate) fn bytes(text: &str) -> Result<u64, String> {
    const UNITS: [(&str, f64); 7] = [
        ("KiB", 1024.0),
        ("MiB", 1_048_576.0),
        ("GiB", 1_073_741_824.0),
        ("kB", 1e3),
        ("MB", 1e6),
        ("GB", 1e9),
        ("", 1.0),
    ];
    let number = |unit: &str| text.trim().strip_suffix(unit)?.trim().parse::<f64>().ok();
    let parsed = UNITS.iter().find_map(|(unit, factor)| Some(number(unit)? * factor));
    match parsed {
        Some(bytes) if (65_536.0..=5e11).contains(&bytes) => Ok(bytes as u64),
        Some(_) => Err("must be between 64KiB and 500GB".to_owned()),
        None => Err("must be a size such as 512MiB or 2GiB".to_owned()),
    }
}

/// A pattern of facts: subject, predicate and object with bars between, of which ? is anything.
pub(crate) fn fact(text: &str) -> Result<TriplePattern, String> {
    let parts: Vec<&str> = text.split('|').map(str::trim).collect();
    let [subject, predicate, object] = parts[..] else {
        return Err(
            "subject, predicate and object with bars between, as in \"France | capital | ?\""
                .to_owned(),
        );
    };
    Ok(pattern(subject, predicate, object))
}

/// A pattern of three names, of which ? is anything.
pub(crate) fn pattern(subject: &str, predicate: &str, object: &str) -> TriplePattern {
    let given = |name: &str| (name != "?").then(|| name.to_owned());
    TriplePattern { subject: given(subject), predicate: given(predicate), object: given(object) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units() {
        assert_eq!(bytes("512MiB"), Ok(512 << 20));
        assert_eq!(bytes("1.5 GiB"), Ok(3 << 29));
        assert_eq!((bytes("2GB"), bytes("100000")), (Ok(2_000_000_000), Ok(100_000)));
        for wrong in ["1KiB", "99999GiB", "-1GiB", "nanGiB", "infGB", "much", "", "5 apples"] {
            assert!(bytes(wrong).is_err(), "{wrong}");
        }
    }
}
