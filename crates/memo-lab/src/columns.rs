//! Reading numbers from a CSV whose columns have names: the authors' own results.

use crate::Error;
use std::path::Path;

/// The named columns of every line, as numbers.
pub(crate) fn read<const N: usize>(path: &Path, names: [&str; N]) -> Result<Vec<[f64; N]>, Error> {
    let text = std::fs::read_to_string(path).map_err(Error::file(path))?;
    parse(&text, names).map_err(|(line, reason)| Error::Line {
        path: path.to_owned(),
        line,
        reason,
    })
}

fn parse<const N: usize>(text: &str, names: [&str; N]) -> Result<Vec<[f64; N]>, (usize, String)> {
    let mut lines = text.lines().enumerate();
    let header: Vec<&str> =
        lines.next().map_or_else(Vec::new, |(_, line)| line.split(',').collect());
    let mut places = [0; N];
    for (place, name) in places.iter_mut().zip(names) {
        let found = header.iter().position(|column| column.trim() == name);
        *place = found.ok_or_else(|| (1, format!("there is no column {name}")))?;
    }
    let mut rows = Vec::new();
    for (at, line) in lines.filter(|(_, line)| !line.trim().is_empty()) {
        let cells: Vec<&str> = line.split(',').collect();
        let mut row = [0.0; N];
        for ((value, place), name) in row.iter_mut().zip(places).zip(names) {
            let cell = cells.get(place).map_or("", |cell| cell.trim());
            *value =
                cell.parse().map_err(|_| (at + 1, format!("{name} is {cell:?}, not a number")))?;
        }
        rows.push(row);
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_found_by_name_and_mistakes_by_line() {
        let rows = parse("a,b,c\n1,2,3\n\n4,5,6e1\n", ["c", "a"]).unwrap();
        assert_eq!(rows, [[3.0, 1.0], [60.0, 4.0]]);
        assert_eq!(parse("a,b\n", ["c"]).unwrap_err().0, 1);
        let (line, reason) = parse("a,b\n1,2\n1,x\n", ["b"]).unwrap_err();
        assert_eq!((line, reason.as_str()), (3, "b is \"x\", not a number"));
    }
}
