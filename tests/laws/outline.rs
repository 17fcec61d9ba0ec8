//! Laws of outlines: the lines are those of a plain model, at any pieces, each string is found at
//! its place, and pages and searches are those of all lines.

use crate::cases::cases;
use proptest::prelude::*;
use spillway::outline::{DEPTH, Outline, WIDTH};
use spillway::spill::outlined::{OutlinePage, OutlineSearch, OutlineSurvey, OutputForm};
use spillway::spill::pattern::SearchPattern;
use spillway::spill::read::{OutputWindow, PageRequest, Slice, Start, page_in};
use spillway::spill::search::{SearchRequest, Searcher};

#[derive(Clone, Debug)]
enum Value {
    Scalar(String),
    String(String),
    List(Vec<Value>),
    Object(Vec<(String, Value)>),
}

impl Value {
    /// Writes JSON. `style` selects escapes and white space.
    fn json(&self, style: u8, out: &mut String) {
        let space = ["", " ", "\n  ", ""][usize::from(style % 4)];
        out.push_str(space);
        match self {
            Value::Scalar(text) => out.push_str(text),
            Value::String(text) => out.push_str(&quoted(text, style)),
            Value::List(all) => {
                out.push('[');
                for (at, value) in all.iter().enumerate() {
                    out.push_str(if at > 0 { "," } else { "" });
                    value.json(style, out);
                }
                out.push_str(space);
                out.push(']');
            }
            Value::Object(all) => {
                out.push('{');
                for (at, (name, value)) in all.iter().enumerate() {
                    out.push_str(if at > 0 { "," } else { "" });
                    out.push_str(space);
                    out.push_str(&quoted(name, style));
                    out.push_str(space);
                    out.push(':');
                    value.json(style, out);
                }
                out.push('}');
            }
        }
    }

    /// Returns JSON without white space, or `None` if a string in it needs an escape.
    fn plain(&self) -> Option<String> {
        let joined = |all: Option<Vec<String>>| all.map(|all| all.join(","));
        Some(match self {
            Value::Scalar(text) => text.clone(),
            Value::String(text) => Some(quoted(text, 0)).filter(|json| json.len() == text.len() + 2)?,
            Value::List(all) => format!("[{}]", joined(all.iter().map(Value::plain).collect())?),
            Value::Object(all) => {
                let member =
                    |(name, value): &(String, Value)| Some(format!("{}:{}", quoted(name, 0), value.plain()?));
                format!("{{{}}}", joined(all.iter().map(member).collect())?)
            }
        })
    }

    fn lines(&self, path: &[String], out: &mut String) {
        let shown = shown(path);
        match (self, self.plain()) {
            (Value::List(_) | Value::Object(_), Some(plain)) if plain.len() <= WIDTH => {
                *out += &format!("{shown}{plain}\n");
            }
            (Value::List(all), _) => {
                for (at, value) in all.iter().enumerate() {
                    value.lines(&[path, &[format!("[{at}]")]].concat(), out);
                }
            }
            (Value::Object(all), _) => {
                for (name, value) in all {
                    value.lines(&[path, &[segment(name, path.is_empty())]].concat(), out);
                }
            }
            (Value::Scalar(text), _) => *out += &format!("{shown}{text}\n"),
            (Value::String(text), _) if text.len() > WIDTH || text.contains('\n') => {
                *out += &format!("{shown}|\n");
                for line in text.strip_suffix('\n').unwrap_or(text).split('\n') {
                    *out += &if line.is_empty() { "\n".to_owned() } else { format!("  {line}\n") };
                }
            }
            (Value::String(text), _) => *out += &format!("{shown}\"{text}\"\n"),
        }
    }

    fn strings<'a>(&'a self, out: &mut Vec<&'a str>) {
        match self {
            Value::Scalar(_) => {}
            Value::String(text) => out.push(text),
            Value::List(all) => all.iter().for_each(|value| value.strings(out)),
            Value::Object(all) => all.iter().for_each(|(_, value)| value.strings(out)),
        }
    }
}

/// Writes a string as JSON: with the escapes that it needs, or with one for each UTF-16 unit.
fn quoted(text: &str, style: u8) -> String {
    match style / 4 % 2 {
        0 => serde_json::to_string(text).unwrap(),
        _ => format!("\"{}\"", text.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect::<String>()),
    }
}

fn segment(name: &str, is_first: bool) -> String {
    let json = quoted(name, 0);
    let json = &json[1..json.len() - 1];
    let mut end = json.len();
    if end > 200 {
        let mut chars = json.char_indices().peekable();
        end = 0;
        while let Some((at, char)) = chars.next() {
            let mut size = char.len_utf8();
            if char == '\\' {
                size = if json.as_bytes()[at + 1] == b'u' { 6 } else { 2 };
                for _ in 1..size {
                    chars.next();
                }
            }
            if at + size > 200 {
                break;
            }
            end = at + size;
        }
    }
    let (kept, mark) = (&json[..end], if end < json.len() { "…" } else { "" });
    let is_word = |char: char| char.is_ascii_alphanumeric() || "_-$@/".contains(char) || !char.is_ascii();
    match kept.chars().all(is_word) && !kept.is_empty() {
        true if is_first => format!("{kept}{mark}"),
        true => format!(".{kept}{mark}"),
        false => format!("[\"{kept}{mark}\"]"),
    }
}

/// Returns a path as it is shown: all of it, or the last segments that take at most 200 bytes, at
/// least one, and the name itself.
fn shown(path: &[String]) -> String {
    let Some((name, around)) = path.split_last() else { return String::new() };
    let mut first = 0;
    while around[first..].concat().len() > 200 && first + 1 < around.len() {
        first += 1;
    }
    format!("{}{}{name}: ", if first > 0 { "…" } else { "" }, around[first..].concat())
}

fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        8 => prop::sample::select(vec![
            "a", "error: x", "漢字", "😀", "\n", "\r\n", "\n\n", "\"", "\\", "\t", "\0", "\u{1b}[31m", "}", "],", ": ", "é",
        ]).prop_map(str::to_owned),
        1 => (0..900usize).prop_map(|size| "x漢".repeat(size)),
        1 => (0..300usize).prop_map(|size| "line\n".repeat(size)),
    ];
    prop::collection::vec(piece, 0..6).prop_map(|pieces| pieces.concat())
}

fn value() -> impl Strategy<Value = Value> {
    let name = prop_oneof![
        6 => prop::sample::select(vec!["a", "stdout", "a b", "", "x.y", "日本", "q\"", "n\n"]).prop_map(str::to_owned),
        1 => text(),
    ];
    let leaf = prop_oneof![
        2 => prop::sample::select(vec!["1", "-2.5e3", "true", "null", "0"]).prop_map(|text| Value::Scalar(text.into())),
        1 => (1..900usize).prop_map(|size| Value::Scalar("7".repeat(size))),
        6 => text().prop_map(Value::String),
    ];
    leaf.prop_recursive(7, 60, 9, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..9).prop_map(Value::List),
            prop::collection::vec((name.clone(), inner), 0..9).prop_map(Value::Object),
        ]
    })
    .prop_map(|value| Value::List(vec![value]))
}

fn outlined(json: &[u8], size: usize) -> String {
    let (mut outline, mut out) = (Outline::default(), vec![]);
    json.chunks(size).for_each(|piece| outline.push(piece, &mut out).unwrap());
    assert!(outline.is_whole());
    outline.finish(&mut out);
    String::from_utf8(out).unwrap()
}

fn surveyed(json: &[u8], size: usize) -> OutlineSurvey {
    let mut survey = OutlineSurvey::default();
    for piece in json.chunks(size) {
        survey.push(piece);
    }
    survey
}

fn page_of(survey: &OutlineSurvey, json: &[u8], page: PageRequest, size: usize) -> Slice {
    let mut reading = OutlinePage::new(survey, page);
    let mut rest = &json[reading.source() as usize..];
    loop {
        let (piece, others) = rest.split_at(rest.len().min(size));
        if let Some(slice) = reading.push(piece, others.is_empty()).unwrap() {
            return slice;
        }
        rest = others;
    }
}

fn page_in_all(lines: &str, page: PageRequest) -> Slice {
    let newlines = lines.matches('\n').count() as u64;
    let window = OutputWindow {
        bytes: lines.as_bytes(),
        at: 0,
        newlines: 0,
        size: lines.len() as u64,
        lines: newlines,
    };
    page_in(&window, page).unwrap()
}

fn query(pattern: &str, line: u64) -> SearchRequest {
    SearchRequest { pattern: SearchPattern::plain(pattern, false).unwrap(), line, context: 1, max: 50 }
}

proptest! {
    #![proptest_config(cases(1))]

    #[test]
    fn lines_are_those_of_the_model_at_any_pieces(value in value(), style in any::<u8>(), size in 1..2_000usize) {
        let (mut json, mut lines) = (String::new(), String::new());
        value.json(style, &mut json);
        value.lines(&[], &mut lines);
        prop_assert_eq!(&outlined(json.as_bytes(), size), &lines);
        prop_assert_eq!(&outlined(json.as_bytes(), json.len()), &lines);
    }

    #[test]
    fn each_line_of_each_string_is_found_in_order(value in value(), style in any::<u8>()) {
        let mut json = String::new();
        value.json(style, &mut json);
        let lines = outlined(json.as_bytes(), json.len());
        let (mut strings, mut rest) = (vec![], lines.as_str());
        value.strings(&mut strings);
        for line in strings.iter().flat_map(|string| string.split('\n')) {
            let found = rest.find(line);
            prop_assert!(found.is_some(), "{:?} is not in {:?}", line, rest);
            rest = &rest[found.unwrap() + line.len()..];
        }
    }

    #[test]
    fn pages_and_searches_are_those_of_all_lines(
        value in value(),
        style in any::<u8>(),
        size in 1..5_000usize,
        from in 1..40u64,
        count in 1..30u64,
        bytes in 1..700usize,
        is_by_byte in any::<bool>(),
    ) {
        let mut json = String::new();
        value.json(style, &mut json);
        let (json, lines) = (json.as_bytes(), outlined(json.as_bytes(), size));
        let mut survey = surveyed(json, size);
        let is_long = json.split(|&byte| byte == b'\n').any(|line| line.len() > 500);
        prop_assert_eq!(survey.finish(), if is_long { OutputForm::Outline } else { OutputForm::Text });
        let start = |at| if is_by_byte { Start::Byte(at) } else { Start::Line(at) };
        let page = PageRequest { start: start(from), lines: count, bytes };
        prop_assert_eq!(page_of(&survey, json, page, size), page_in_all(&lines, page));
        let (mut joined, mut next) = (String::new(), Some(0));
        while let Some(at) = next {
            let slice = page_of(&survey, json, PageRequest { start: Start::Byte(at), lines: count, bytes }, json.len());
            joined += &slice.text;
            next = slice.next_byte;
        }
        prop_assert_eq!(&joined, &lines);
        let mut search = OutlineSearch::new(&survey, query("x", from));
        let mut pieces = json[search.source() as usize..].chunks(size);
        while pieces.next().is_some_and(|piece| search.push(piece).unwrap()) {}
        let mut all = Searcher::new(query("x", from), 0, 1);
        all.push(lines.as_bytes()).unwrap();
        prop_assert_eq!(search.finish().unwrap(), all.finish().unwrap());
    }

    #[test]
    fn a_value_that_does_not_end_is_outlined_as_far_as_it_goes(value in value(), part in 0.0..1.0, size in 1..99usize) {
        let mut json = String::new();
        value.json(0, &mut json);
        let end = (json.len() as f64 * part) as usize;
        let (mut outline, mut out) = (Outline::default(), vec![]);
        json.as_bytes()[..end].chunks(size).for_each(|piece| outline.push(piece, &mut out).unwrap());
        prop_assert!(!outline.is_whole());
        let whole = outlined(json.as_bytes(), json.len());
        prop_assert!(whole.as_bytes().starts_with(&out));
        outline.finish(&mut out);
        prop_assert!(out.is_empty() || out.ends_with(b"\n"));
    }

    #[test]
    fn hostile_bytes_are_rejected_or_outlined(
        parts in prop::collection::vec(
            prop::sample::select(vec![
                &b"["[..], b"{\"a\":", b"]", b"}", b",", b"\"", b"\\", b"\\ud83d", b"\\n", b"1", b"\xE6\xBC", b"\xFF", b"\0",
                b" ", b"null", b"[[[[[[[[", b"\"b\":[",
            ]),
            0..40,
        ),
        times in 1..300usize,
        size in 1..999usize,
    ) {
        let bytes = parts.concat().repeat(times);
        let whole = surveyed(&bytes, bytes.len().max(1)).finish();
        prop_assert_eq!(surveyed(&bytes, size).finish(), whole);
    }
}

#[test]
fn a_page_deep_in_an_output_is_that_of_all_lines() {
    let rows = (0..20_000).map(|at| {
        let note = "a line\n".repeat(at % 90 / 80 * 40);
        format!("{{\"id\":{at},\"note\":{}}}", quoted(&note, 0))
    });
    let json = format!("{{\"rows\":[{}],\"end\":true}}", rows.collect::<Vec<_>>().join(","));
    let json = json.as_bytes();
    assert!(json.len() > 1_000_000);
    let lines = outlined(json, json.len());
    let mut survey = surveyed(json, 65_536);
    assert_eq!(survey.finish(), OutputForm::Outline);
    let starts = (0..40).flat_map(|at| [Start::Byte(at * 77_777), Start::Line(1 + at * 3_333)]);
    for start in starts {
        let page = PageRequest { start, lines: 20, bytes: 3_000 };
        assert_eq!(page_of(&survey, json, page, 10_000), page_in_all(&lines, page), "{start:?}");
    }
    let mut search = OutlineSearch::new(&survey, query("\"id\":19999", 60_000));
    assert!(search.source() > 0);
    for piece in json[search.source() as usize..].chunks(9_999) {
        search.push(piece).unwrap();
    }
    let found = search.finish().unwrap();
    let line = lines[..lines.find("\"id\":19999").unwrap()].matches('\n').count() as u64 + 1;
    assert_eq!(found.iter().map(|found| found.line).collect::<Vec<_>>(), [line]);
}

#[test]
fn what_is_too_deep_stays_json() {
    for (depth, size) in [(DEPTH + 500, 7), (99_000, 65_536)] {
        for inner in ["", "1", "\"a\\\"\\n\\ud800b\"", "{\"a\\n\":[true,{}]}"] {
            let json = "[".repeat(depth) + inner + &"]".repeat(depth);
            let lines = outlined(json.as_bytes(), size);
            let rest = depth - DEPTH;
            let expected = format!(": {}{inner}{}\n", "[".repeat(rest), "]".repeat(rest));
            assert!(lines.ends_with(&expected) && lines.matches('\n').count() == 1);
        }
    }
    let json = "[".repeat(100_001);
    assert_eq!(surveyed(json.as_bytes(), 65_536).finish(), OutputForm::Text);
}
