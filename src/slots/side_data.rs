//! Shrinks data beside the text of a result to a size in bytes. It stays valid JSON.

use super::payload_name::{medium_of, omitted};
use crate::encoding::is_high;
use crate::json::{Literal, Value, on_one_line, string};

/// Maximum bytes of a string that is kept like a number, such as a path or an id.
const SMALL: usize = 256;
/// Deeper values are kept whole or dropped.
const DEPTH: usize = 4;
/// The minimum room for showing part of a value.
const LEAST: usize = 40;

/// The name of the member that counts omitted members.
pub const MORE: &str = "[...]";

/// Context that a value inherits from its ancestors.
#[derive(Clone, Debug, Default)]
struct Above {
    depth: usize,
    /// The original size, stated inside.
    bytes: Option<usize>,
    /// The media type of payloads inside.
    medium: Option<String>,
}

/// Shrinks a value to `max` bytes of JSON if it takes more than `most`, and states the original size inside. Returns
/// `None` if the value is small, and `Some(None)` if not even an empty value fits.
pub fn cap(value: Value, max: usize, most: usize) -> Option<Option<String>> {
    if value.source().len() <= most {
        return None;
    }
    // Data that is kept stays as it is, and a lone surrogate takes an escape.
    let bytes = value.compact().len();
    if bytes <= most {
        return None;
    }
    let json = written(value);
    let above = Above { bytes: Some(bytes), ..Above::default() };
    Some(if json.len() <= max { Some(json) } else { shrink_below(value, max, &above) })
}

/// Like [`cap`], without the original size. Returns `None` if even an empty value does not fit.
pub fn shrink(value: Value, max: usize) -> Option<String> {
    let json = written(value);
    if json.len() <= max { Some(json) } else { shrink_below(value, max, &Above::default()) }
}

/// Returns the JSON of members or elements that together take `room` bytes at most. `None` are left out, and the last
/// value counts those.
pub fn fit_parts(parts: &[Value], room: usize) -> (Vec<Option<String>>, Option<String>) {
    fit_below(parts, room, &Above::default())
}

/// Returns JSON as it is written to a row: on one line, without lone surrogates.
pub fn written(value: Value) -> String {
    let mended = |text: Literal| text.has_lone().then(|| string(&text.string()));
    on_one_line(value.compact_with(|leaf| leaf.text().and_then(mended)))
}

/// Shrinks a value that does not fit.
fn shrink_below(value: Value, room: usize, above: &Above) -> Option<String> {
    if let Some(text) = value.text() {
        return shorten(&text, room, above);
    }
    if !value.is_container() || above.depth >= DEPTH || room < 2 {
        return None;
    }
    let mark = above.bytes.map(|bytes| format!("{{\"originalBytes\":{bytes}}}"));
    let mark = mark.map(|mark| match value.is_list() {
        true => format!("{{\"spillway\":{mark}}}"),
        false => format!("\"spillway\":{mark}"),
    });
    let mark = mark.filter(|mark| mark.len() + 3 <= room);
    let parts: Vec<Value> = value.elements().chain(value.members()).collect();
    let left = room - 2 - mark.as_ref().map_or(0, |mark| mark.len() + 1);
    let (kept, more) = fit_below(&parts, left, above);
    let name = |part: &Value| part.name().map_or(String::new(), |name| written(name) + ":");
    let kept = parts.iter().zip(kept).filter_map(|(part, json)| Some(name(part) + &json?));
    let more = more.map(|more| if value.is_list() { more } else { format!("{}:{more}", string(MORE)) });
    let all = kept.chain(more).chain(mark).collect::<Vec<_>>().join(",");
    Some(if value.is_list() { format!("[{all}]") } else { format!("{{{all}}}") })
}

fn fit_below(parts: &[Value], room: usize, above: &Above) -> (Vec<Option<String>>, Option<String>) {
    let is_list = parts.first().is_some_and(|part| part.name().is_none());
    let more = |count: usize| match is_list {
        true => string(&format!("[... {count} more items]")),
        false => string(&format!("{count} more members")),
    };
    // Separators are a comma and, behind names, a colon.
    let reserved = more(parts.len()).len() + 1 + if is_list { 0 } else { string(MORE).len() + 1 };
    let left = room.checked_sub(reserved);
    let (says_more, mut room) = (left.is_some(), left.unwrap_or(0));
    let mut whole: Vec<Option<String>> = parts.iter().map(|part| Some(written(*part))).collect();
    let mut order: Vec<(usize, usize)> = whole.iter().flatten().map(String::len).enumerate().collect();
    let is_small = |at: usize, size: usize| !parts[at].is_container() && size <= SMALL;
    if !is_list {
        // Small scalars in their order, then the smallest first: room that they leave goes to larger ones.
        order.sort_by_key(|(at, size)| if is_small(*at, *size) { (0, *at) } else { (*size + 1, *at) });
    }
    let mut large = order.iter().filter(|(at, size)| !is_small(*at, *size)).count();
    let medium = if is_list { None } else { medium_of(parts) }.or_else(|| above.medium.clone());
    let below = Above { depth: above.depth + 1, bytes: None, medium };
    let mut kept = vec![None; parts.len()];
    for (at, size) in order {
        let part = parts[at];
        let around = 1 + part.name().map_or(0, |name| written(name).len() + 1);
        let is_small = is_small(at, size);
        let share = if is_list || is_small { room } else { room / large };
        large -= usize::from(!is_small);
        let Some(share) = share.checked_sub(around) else { continue };
        let is_whole = size <= share;
        let json = match whole[at].take() {
            json if is_whole => json,
            _ if share > LEAST && (is_list || !is_small) => shrink_below(part, share, &below),
            _ => None,
        };
        room -= json.as_ref().map_or(0, |json| around + json.len());
        kept[at] = json;
        if is_list && !is_whole {
            break;
        }
    }
    let missing = kept.iter().filter(|part| part.is_none()).count();
    (kept, (missing > 0 && says_more).then(|| more(missing)))
}

/// Truncates a text to fit as JSON. A payload is replaced by its size.
fn shorten(text: &Literal, room: usize, above: &Above) -> Option<String> {
    if let Some(said) = omitted(&text.string(), above.medium.as_deref()) {
        return said.iter().map(|said| string(said)).find(|json| json.len() <= room);
    }
    let (total, start) = (text.size().chars, text.head(room));
    let of = above.bytes.map(|bytes| format!(" of {bytes} bytes")).unwrap_or_default();
    let mut length = start.len();
    loop {
        length -= usize::from(length > 0 && is_high(start[length - 1]));
        let kept = String::from_utf16_lossy(&start[..length]);
        let more = total - length;
        let json = on_one_line(string(&format!("{kept}[... {more} more characters truncated{of}]")));
        if json.len() <= room {
            return Some(json);
        }
        if length == 0 {
            return (room >= 2).then(|| string(""));
        }
        // An escape takes up to six bytes, so this never removes too much.
        length = length.saturating_sub((json.len() - room).div_ceil(6));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Document;

    fn capped(json: &str, max: usize) -> Option<String> {
        let document = Document::parse(json.as_bytes()).unwrap();
        let Some(capped) = cap(document.root(), max, max) else {
            let compact = document.root().compact();
            assert!(compact.len() <= max, "{} bytes: {compact}", compact.len());
            return Some(json.to_owned());
        };
        let capped = capped?;
        assert!(capped.len() <= max, "{} bytes: {capped}", capped.len());
        assert!(Document::parse(capped.as_bytes()).is_some(), "{capped}");
        Some(capped)
    }

    #[test]
    fn small_scalars_are_kept_first_and_omissions_are_stated() {
        let json = format!(r#"{{"huge":"{}","exitCode":1,"cwd":"/tmp","null":null}}"#, "h".repeat(900));
        let left = capped(&json, 200).unwrap();
        assert!(left.starts_with(r#"{"huge":"hhhhhhhhhh"#), "{left}");
        assert!(
            left.contains(r#"more characters truncated]","exitCode":1,"cwd":"/tmp","null":null,"#),
            "{left}"
        );
        assert!(left.ends_with(r#""spillway":{"originalBytes":949}}"#), "{left}");
        assert_eq!(capped(&json, 2).unwrap(), "{}");
        assert_eq!(capped(&json, 1), None);
    }

    #[test]
    fn strings_and_arrays_are_capped_at_the_top() {
        let text = format!("\"{}\"", "\\u0001".repeat(50));
        let left = format!("\"{}[... 42 more characters truncated of 302 bytes]\"", "\\u0001".repeat(8));
        assert_eq!(capped(&text, 100).unwrap(), left);
        assert_eq!(capped("\"😀😀😀\"", 12).unwrap(), "\"\"");
        let list = format!("[1,2,{}]", "[3,4],".repeat(30).trim_end_matches(','));
        let left =
            r#"[1,2,[3,4],[3,4],[3,4],[3,4],"[... 26 more items]",{"spillway":{"originalBytes":185}}]"#;
        assert_eq!(capped(&list, 90).unwrap(), left);
    }

    #[test]
    fn lone_surrogates_count_as_the_escapes_that_stay() {
        let text = r#""\ud83d\ud83d""#;
        assert_eq!(capped(text, 14).unwrap(), text);
        assert_eq!(capped(text, 13).unwrap(), "\"\u{fffd}\u{fffd}\"");
    }

    #[test]
    fn any_size_holds_whatever_the_data() {
        let deep = "[".repeat(9_000) + &"]".repeat(9_000);
        let mixed =
            r#"{"a":[1,{"b":"\ud800\u2028\u2028 long text"},[[[[["x"]]]]]],"[...]":"own","spillway":2}"#;
        for json in [&deep, mixed, "[\"\u{2028}\u{2028}\u{2028}\",2]"] {
            for max in 0..json.len().min(300) {
                capped(json, max);
            }
        }
    }
}
