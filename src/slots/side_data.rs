//! Shrinks data beside the text of a result to a size in bytes. It stays valid JSON.

use super::payload_name::{medium_of, omitted};
use crate::json::{Document, Literal, Value, on_one_line, string};

/// Maximum bytes of a string that is kept like a number, such as a path or an id.
const SMALL: usize = 256;
/// Deeper values are kept whole or dropped.
const DEPTH: usize = 4;
/// The minimum room for showing part of a value.
const LEAST: usize = 40;
const COMMA: usize = 1;
const COLON: usize = 1;

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

/// Shrinks a value to `max` bytes of JSON if it takes more than `most`, and states the original
/// size inside. Returns `None` if the value is small, and `Some(None)` if not even an empty value
/// fits.
pub fn cap(value: Value, max: usize, most: usize) -> Option<Option<String>> {
    if value.source().len() <= most {
        return None;
    }
    // Data that is kept stays as it is, and a lone surrogate takes an escape.
    let bytes = value.compact().len();
    if bytes <= most {
        return None;
    }
    Some(shrink(value, max, Some(bytes)))
}

/// Shrinks a value to `max` bytes of JSON, and states its original size inside if that is given.
/// Returns `None` if not even an empty value fits.
pub fn shrink(value: Value, max: usize, original: Option<usize>) -> Option<String> {
    let above = Above { bytes: original, ..Above::default() };
    within(value, max).or_else(|| shrink_below(value, max, &above))
}

/// Returns the JSON of a value as it is written, unless it takes more than `room` bytes.
fn within(value: Value, room: usize) -> Option<String> {
    if is_over(value, room) { None } else { Some(written(value)).filter(|json| json.len() <= room) }
}

/// Returns true if a value surely takes more than `room` bytes, after a look at as much of it as
/// that: a large value is not written only to be measured.
fn is_over(value: Value, room: usize) -> bool {
    let mut least = 0;
    value.leaves().any(|leaf| {
        // An escape of six bytes may stand for one.
        least += 1 + leaf.source().len() / 6;
        least > room
    })
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

/// Members or elements that are kept as JSON, each in its place, and the value that counts the
/// others.
type Fitted = (Vec<Option<String>>, Option<String>);

fn fit_below(parts: &[Value], room: usize, above: &Above) -> Fitted {
    let is_list = parts.first().is_some_and(|part| part.name().is_none());
    let more = |count: usize| match is_list {
        true => string(&format!("[... {count} more items]")),
        false => string(&format!("{count} more members")),
    };
    let name = if is_list { 0 } else { string(MORE).len() + COLON };
    let left = room.checked_sub(more(parts.len()).len() + name + COMMA);
    let fit = if is_list { fit_items } else { fit_members };
    let kept = fit(parts, left.unwrap_or(0), above);
    let missing = kept.iter().filter(|part| part.is_none()).count();
    (kept, (missing > 0 && left.is_some()).then(|| more(missing)))
}

/// Keeps the first elements, the last of them in part. The elements behind them are not written.
fn fit_items(items: &[Value], mut room: usize, above: &Above) -> Vec<Option<String>> {
    let below = Above { depth: above.depth + 1, bytes: None, medium: above.medium.clone() };
    let mut kept = vec![None; items.len()];
    for (item, kept) in items.iter().zip(&mut kept) {
        let Some(share) = room.checked_sub(COMMA) else { break };
        let whole = within(*item, share);
        let is_whole = whole.is_some();
        *kept = whole.or_else(|| part_of(*item, share, &below));
        room -= kept.as_ref().map_or(0, |json| json.len() + COMMA);
        if !is_whole {
            break;
        }
    }
    kept
}

/// Keeps small scalars in their order, then the smallest members first: room that they leave serves
/// larger ones.
fn fit_members(members: &[Value], mut room: usize, above: &Above) -> Vec<Option<String>> {
    let medium = medium_of(members).or_else(|| above.medium.clone());
    let below = Above { depth: above.depth + 1, bytes: None, medium };
    let mut whole: Vec<Option<String>> = members.iter().map(|member| within(*member, room)).collect();
    let size =
        |(at, json): (usize, &Option<String>)| json.as_ref().map_or(members[at].source().len(), String::len);
    let mut order: Vec<(usize, usize)> = whole.iter().enumerate().map(size).enumerate().collect();
    let is_small = |at: usize, size: usize| !members[at].is_container() && size <= SMALL;
    order.sort_by_key(|(at, size)| if is_small(*at, *size) { (0, *at) } else { (*size + 1, *at) });
    let mut large = order.iter().filter(|(at, size)| !is_small(*at, *size)).count();
    let mut kept = vec![None; members.len()];
    for (at, size) in order {
        let around = members[at].name().map_or(0, |name| written(name).len() + COLON) + COMMA;
        let is_small = is_small(at, size);
        let share = if is_small { room } else { room / large };
        large -= usize::from(!is_small);
        let Some(share) = share.checked_sub(around) else { continue };
        kept[at] = match whole[at].take().filter(|json| json.len() <= share) {
            None if !is_small => part_of(members[at], share, &below),
            json => json,
        };
        room -= kept[at].as_ref().map_or(0, |json| around + json.len());
    }
    kept
}

/// Shrinks a part of a value, unless its room is too small to show anything.
fn part_of(part: Value, room: usize, above: &Above) -> Option<String> {
    if room > LEAST { shrink_below(part, room, above) } else { None }
}

/// Truncates a text to fit as JSON. A text that is JSON itself stays JSON, since programs parse it.
fn shorten(text: &Literal, room: usize, above: &Above) -> Option<String> {
    let is_first =
        |unit: &u16| char::from_u32((*unit).into()).is_some_and(|unit| "{[\"-0123456789".contains(unit));
    let may_be_json = text.head(SMALL).iter().find(|unit| !is_space(**unit)).is_some_and(is_first);
    if !may_be_json || above.depth >= DEPTH {
        return shorten_text(text, room, above);
    }
    let json = text.string();
    match Document::parse(json.as_bytes()) {
        Some(document) => shorten_json(document.root(), &json, room, above),
        None => shorten_text(text, room, above),
    }
}

/// Shrinks the value of a text that is JSON.
fn shorten_json(value: Value, json: &str, room: usize, above: &Above) -> Option<String> {
    let below = Above { depth: above.depth + 1, ..above.clone() };
    let inside = room.checked_sub(2)?;
    // What stays mostly takes as many escapes as the whole. At most, each byte takes one.
    let likely = inside as u128 * json.len() as u128 / string(json).len() as u128;
    [likely as usize, inside / 2].into_iter().find_map(|inside| {
        let left = match value.text() {
            Some(text) => shorten(&text, inside, &below),
            None if value.is_container() => shrink_below(value, inside, &below),
            // A number is as long as its digits.
            None => shorten_text(&Literal::from(json.to_owned()), inside, &below),
        };
        left.map(|left| string(&left)).filter(|left| left.len() <= room)
    })
}

/// Truncates a text to fit as JSON. A payload is replaced by its size.
fn shorten_text(text: &Literal, room: usize, above: &Above) -> Option<String> {
    if let Some(said) = omitted(text, above.medium.as_deref()) {
        return said.iter().map(|said| string(said)).find(|json| json.len() <= room);
    }
    let total = text.size().chars;
    let of = above.bytes.map(|bytes| format!(" of {bytes} bytes")).unwrap_or_default();
    let note = |more: usize| format!("[... {more} more characters truncated{of}]");
    let around = string(&note(0)).len() - 1;
    let (mut start, mut length, mut bytes) = (String::new(), 0, around);
    let mut longest = None;
    for point in char::decode_utf16(text.head(room)) {
        // A digit of the count may free the byte that a short char needs.
        if bytes + digits(total - length) <= room {
            longest = Some((start.len(), total - length));
        } else if bytes > room {
            break;
        }
        let point = point.unwrap_or(char::REPLACEMENT_CHARACTER);
        start.push(point);
        length += point.len_utf16();
        bytes += json_bytes(point);
    }
    let Some((end, more)) = longest else { return (room >= 2).then(|| string("")) };
    start.truncate(end);
    Some(on_one_line(string(&(start + &note(more)))))
}

/// Returns true for white space of JSON.
fn is_space(unit: u16) -> bool {
    matches!(u8::try_from(unit), Ok(b' ' | b'\t' | b'\n' | b'\r'))
}

fn digits(number: usize) -> usize {
    number.checked_ilog10().map_or(1, |log| log as usize + 1)
}

/// Returns the bytes that a char takes in JSON on one line.
fn json_bytes(point: char) -> usize {
    match point {
        '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
        '\u{2028}' | '\u{2029}' | ..' ' => 6,
        _ => point.len_utf8(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn texts_that_are_json_stay_json() {
        let text = "one more line\n".repeat(900);
        let object = format!(r#"{{"status":"ok","task":{{"output":{}}}}}"#, string(&text));
        let list = format!("[1,{}]", string(&object));
        for inner in [&object, &list, &string(&text), &string(&string(&object)), &"7".repeat(9_000)] {
            for outer in [string(inner), format!(r#"{{"a":1,"b":{}}}"#, string(inner))] {
                for max in [8_192, 1_000, 200, 90, 60] {
                    let left = capped(&outer, max);
                    let Some(left) = left else { continue };
                    let document = Document::parse(left.as_bytes()).unwrap();
                    let root = document.root();
                    let left =
                        if root.is_object() { root.get("b").and_then(Value::string) } else { root.string() };
                    assert!(
                        left.is_none_or(|left| Document::parse(left.as_bytes()).is_some()),
                        "{max} {outer:.80}"
                    );
                }
            }
        }
        let left = capped(&string(&object), 8_192).unwrap();
        assert!(
            left.len() > 7_000 && left.contains(r#"\"status\":\"ok\""#) && left.contains("originalBytes"),
            "{left}"
        );
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
