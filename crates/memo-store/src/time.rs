//! Points in time, in UTC.

use crate::error::Error;
use serde::{Serialize, Serializer};
use std::fmt::{Display, Formatter};

/// A point in time: milliseconds since 1970. It is shown as `2026-11-17 01:40:00 UTC` and serialized as
/// `2026-11-17T01:40:00.000Z`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Timestamp(pub u64);

impl Timestamp {
    /// The present.
    pub(crate) fn now() -> Self {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        Timestamp(since.map_or(0, |since| since.as_millis() as u64))
    }

    /// The time so long ago: a number of `s`, `min`, `h`, `d`, `w` or `y`, as in `90d`.
    pub fn ago(age: &str) -> Result<Self, Error> {
        const SECONDS: [(&str, u64); 6] = [
            ("s", 1),
            ("min", 60),
            ("h", 3600),
            ("d", 86_400),
            ("w", 7 * 86_400),
            ("y", 365 * 86_400),
        ];
        let age = age.trim();
        let digits = age.find(|c: char| !c.is_ascii_digit()).unwrap_or(age.len());
        let (number, unit) = age.split_at(digits);
        let unit = SECONDS.iter().find(|(name, _)| *name == unit.trim());
        let seconds = unit.zip(number.parse::<u64>().ok());
        let age =
            seconds.and_then(|((_, each), number)| each.checked_mul(number.checked_mul(1000)?));
        let age = age.ok_or_else(|| Error::Option {
            name: "older_than",
            expected: "a number with s, min, h, d, w or y, as in 90d".to_owned(),
        })?;
        Ok(Timestamp(Self::now().0.saturating_sub(age)))
    }

    /// Date and time of day, with a character between them.
    fn civil(self, between: char) -> String {
        let (days, seconds) = (self.0 / 86_400_000, self.0 / 1000 % 86_400);
        // Days since 1 March of year 0, in cycles of 400 years (146,097 days).
        let z = days + 719_468;
        let (era, day_of_era) = (z / 146_097, z % 146_097);
        let year_of_era =
            (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let shifted = (5 * day_of_year + 2) / 153;
        let day = day_of_year - (153 * shifted + 2) / 5 + 1;
        let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
        let year = year_of_era + era * 400 + u64::from(month <= 2);
        let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
        format!("{year:04}-{month:02}-{day:02}{between}{hour:02}:{minute:02}:{second:02}")
    }
}

impl Display for Timestamp {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} UTC", self.civil(' '))
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(&format_args!("{}.{:03}Z", self.civil('T'), self.0 % 1000))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_have_units() {
        let day = 86_400_000;
        for (age, milliseconds) in [
            ("0s", 0),
            ("3min", 180_000),
            ("90d", 90 * day),
            (" 2 w ", 14 * day),
            ("1y", 365 * day),
        ] {
            let before = Timestamp::now().0;
            let then = Timestamp::ago(age).unwrap().0 + milliseconds;
            assert!((before..=Timestamp::now().0).contains(&then), "{age}");
        }
        // Whether `m` is minutes or months must not be guessed.
        for wrong in ["", "90", "d", "-1d", "1.5d", "3m", "3 months", "99999999999999999999y"] {
            assert!(Timestamp::ago(wrong).is_err(), "{wrong}");
        }
        assert!(Timestamp::ago("18446744073709551615s").is_err());
    }

    #[test]
    fn dates_are_right() {
        for (milliseconds, shown) in [
            (0, "1970-01-01 00:00:00 UTC"),
            (951_782_400_000, "2000-02-29 00:00:00 UTC"),
            (1_709_251_199_000, "2024-02-29 23:59:59 UTC"),
            (4_102_444_800_000, "2100-01-01 00:00:00 UTC"),
        ] {
            assert_eq!(Timestamp(milliseconds).to_string(), shown);
        }
        let json = serde_json::to_string(&Timestamp(1_709_251_199_042)).unwrap();
        assert_eq!(json, "\"2024-02-29T23:59:59.042Z\"");
    }
}
