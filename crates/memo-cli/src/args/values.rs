//! Values that are checked as they are typed: what is wrong is said before anything is opened.

use memo_store::FILE_LABEL;
use std::fmt::Display;
use std::ops::RangeInclusive;
use std::str::FromStr;

pub(crate) fn label(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((label_name(key)?, value.into())),
        _ => Err("must be KEY=VALUE".to_owned()),
    }
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

pub(crate) fn temperature(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if (0.0..=100.0).contains(&value) => Ok(value),
        _ => Err("must be between 0 and 100".to_owned()),
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

pub(crate) fn bits(text: &str) -> Result<u32, String> {
    match text {
        "8" => Ok(8),
        "2" => Ok(2),
        "1" => Ok(1),
        _ => Err("must be 8, 2 or 1".to_owned()),
    }
}

/// A block of the context: 8:8 is the eight tokens before the last eight.
pub(crate) fn slot(text: &str) -> Result<(u32, u32), String> {
    let parsed = text.split_once(':').and_then(|(skip, len)| {
        Some((skip.trim().parse::<u32>().ok()?, len.trim().parse::<u32>().ok()?))
    });
    match parsed {
        Some((_, len)) if !(1..=1024).contains(&len) => {
            Err("LEN must be from 1 to 1024 tokens".to_owned())
        }
        // Blocks tile a window: the heads of a layer lie side by side.
        Some((skip, len)) if skip % len != 0 || skip > 65_536 => {
            Err("SKIP must be 0 or a multiple of LEN, up to 65536".to_owned())
        }
        Some(slot) => Ok(slot),
        None => Err("must be SKIP:LEN, for example 0:4 or 8:8".to_owned()),
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

    #[test]
    fn slots_are_heads_of_layers() {
        assert_eq!((slot("0:16"), slot(" 8:8 ")), (Ok((0, 16)), Ok((8, 8))));
        for wrong in ["8", "8:", ":8", "0:0", "4:8", "0:-1", "0:99999", "1:2:3", "x:y", "131072:1"]
        {
            assert!(slot(wrong).is_err(), "{wrong}");
        }
    }
}
