//! The key of a column of a row: `table/row/column` as one text.
//!
//! A `/` or `\` inside a part stands behind a `\`, so different parts never make the same text. Without a
//! table it is `row/column`; a row as a whole, which only a delete names, has an empty column.

/// The text of a key.
pub(super) fn spell(table: Option<&str>, row: &str, column: Option<&str>, out: &mut String) {
    if let Some(table) = table {
        escape(table, out);
        out.push('/');
    }
    escape(row, out);
    out.push('/');
    escape(column.unwrap_or_default(), out);
}

/// The row that `key` names together with this table and column; `None` if it does not name them.
pub(super) fn row_of(key: &str, table: Option<&str>, column: Option<&str>) -> Option<String> {
    let mut before = String::new();
    if let Some(table) = table {
        escape(table, &mut before);
        before.push('/');
    }
    let mut behind = String::from("/");
    escape(column.unwrap_or_default(), &mut behind);
    unescape(key.strip_prefix(&before)?.strip_suffix(&behind)?)
}

fn escape(part: &str, out: &mut String) {
    for character in part.chars() {
        if matches!(character, '/' | '\\') {
            out.push('\\');
        }
        out.push(character);
    }
}

/// The part that is spelt `text`; `None` if nothing is spelt so.
fn unescape(text: &str) -> Option<String> {
    let mut part = String::with_capacity(text.len());
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        part.push(match character {
            '/' => return None,
            '\\' => characters.next().filter(|next| matches!(next, '/' | '\\'))?,
            plain => plain,
        });
    }
    Some(part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_found_again_and_never_mixed_up() {
        let parts = ["", "a", "/", "\\", "a/b", "\\/", "/\\"];
        let mut seen = std::collections::HashSet::new();
        for table in parts {
            for row in parts {
                for column in parts {
                    let mut key = String::new();
                    spell(Some(table), row, Some(column), &mut key);
                    assert_eq!(row_of(&key, Some(table), Some(column)).as_deref(), Some(row));
                    assert!(seen.insert(key));
                }
            }
        }
    }

    #[test]
    fn a_key_of_other_parts_names_no_row() {
        for (key, table, column) in
            [("t/1/v", "u", "v"), ("t/1/v", "t", "w"), ("t/1/2/v", "t", "v"), ("t/1\\/v", "t", "v")]
        {
            assert_eq!(row_of(key, Some(table), Some(column)), None, "{key}");
        }
        assert_eq!(row_of("1/v", None, Some("v")).as_deref(), Some("1"));
        assert_eq!(row_of("t/1/", Some("t"), None).as_deref(), Some("1"));
    }
}
