//! Members of a body that are set without reading the rest of it: every other byte stays.

use msg_json::{JsonError, Reader};

/// The body with this member: in the place of the one that it has, or at its end.
pub(crate) fn set(body: &[u8], name: &str, value: &str) -> Result<Vec<u8>, JsonError> {
    let text = std::str::from_utf8(body).unwrap_or_default();
    let mut reader = Reader::new(body)?;
    let (mut place, mut is_empty) = (None, true);
    reader.begin_object()?;
    while let Some(key) = reader.next_key()? {
        is_empty = false;
        let start = reader.next_offset();
        reader.raw()?;
        if key.text == name {
            place = Some((start, reader.offset()));
        }
    }
    let end = reader.offset() - 1;
    reader.finish()?;
    let mut res = String::with_capacity(text.len() + value.len() + name.len() + 4);
    match place {
        Some((start, end)) => {
            res += &text[..start];
            res += value;
            res += &text[end..];
        }
        None => {
            res += text[..end].trim_end();
            if !is_empty {
                res.push(',');
            }
            res += &format!("\"{name}\":{value}");
            res += &text[end..];
        }
    }
    Ok(res.into_bytes())
}

#[cfg(test)]
mod tests {
    use super::set;

    #[test]
    fn every_other_byte_stays() {
        let rows = [
            (r#"{}"#, r#"{"model":"m"}"#),
            (r#"{ "a" : 1 }"#, r#"{ "a" : 1,"model":"m"}"#),
            (r#"{"model" : "x", "a":{"model":2}}"#, r#"{"model" : "m", "a":{"model":2}}"#),
        ];
        for (body, expected) in rows {
            let res = set(body.as_bytes(), "model", r#""m""#).expect("an object");
            assert_eq!(String::from_utf8(res).expect("UTF-8"), expected);
        }
        assert!(set(b"[1]", "model", "1").is_err());
        assert!(set(b"{\"a\":1", "model", "1").is_err());
    }
}
