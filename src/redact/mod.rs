//! Replaces secrets by marks such as `[redacted: github token]`.
//!
//! S is the text, M a mark. A *format* says where a secret begins, and how far it reaches.
//!
//! | format | begins with | the secret is | where |
//! |---|---|---|---|
//! | expression | one of its anchors | its group, or its whole match | `formats.json` |
//! | header, argument | the name of a header, of a program, a flag | what follows | `cookie.rs`, `argument.rs` |
//! | key | the prefix that a service publishes | the prefix and a run of its alphabet, of its length | `keys.json` |
//! | frame | `-----BEGIN … PRIVATE KEY-----` | the lines up to END, with any prefix before each | `pem.rs` |
//! | name | a word such as `password` in a name | the value that a form gives to that name | `form.rs`, `assignment.rs`, `neighbor.rs`, `name.rs`, `value.rs` |
//! | pattern | a match of the caller's expression | its whole match | `rules.rs` |
//!
//! A sieve and an automaton find the anchors (`anchors.rs`), and the formats of an anchor are tried
//! at each place. Formats see decoded JSON escapes; the output keeps the escapes (`escape.rs`).
//!
//! Two laws hold for every text and every way to cut it into chunks:
//!
//! - *Chunks do not matter.* A decision about a place reads at most [`REACH`] bytes from there and
//!   [`CONTEXT`] bytes before it, and waits until that much was read or the stream ended.
//! - *A second pass changes nothing.* It sees M where the first pass saw a secret, so a decision
//!   must not differ between the two. Text before a place: `]` ends a name and its context. Text in
//!   a value: a value with a mark is not a secret. Text after a place: a format that ends before
//!   `[` also ends before the text that M replaced, and a format that ends at `[` also ends at the
//!   end of the text.
//!
//! The text before a secret is scanned by itself. [`dropped`] removes text that looks like a secret
//! only in a part of a redacted text, and repeats until nothing does.

mod anchors;
mod argument;
mod assignment;
mod cookie;
mod escape;
mod form;
mod format;
mod name;
mod neighbor;
mod pattern;
mod pem;
mod quoted;
mod random;
mod reader;
mod rules;
mod unquoted;
mod value;

use std::ops::Range;
use std::sync::Arc;

use multiversion::multiversion;

use escape::Escapes;
use format::Formats;
use rules::{Finder, MOST_KIND};

pub use rules::{SecretRules, kinds};

/// Maximum bytes of a match.
pub const REACH: usize = 64 << 10;

/// Bytes that are read beyond a place before a decision about it: a match, and a mark that begins
/// within.
const AHEAD: usize = REACH + MARK.len() + MOST_KIND + 1;

const MARK: &[u8] = b"[redacted: ";

/// The text in place of a secret.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Stand {
    #[default]
    Mark,
    Nothing,
}

/// Redacts a stream in bounded memory. Finishing a clone does not affect the original.
#[derive(Clone, Debug, Default)]
pub struct Redactor {
    rules: Arc<SecretRules>,
    /// Text that is not decided yet, after `context` bytes that are.
    held: Vec<u8>,
    escapes: Escapes,
    context: usize,
    stand: Stand,
    found: bool,
}

/// Bytes before a place that a decision may read: a name and its context.
const CONTEXT: usize = form::BACK;

impl Redactor {
    pub fn new(rules: Arc<SecretRules>) -> Redactor {
        Redactor { rules, ..Redactor::default() }
    }

    /// Returns true if a secret has been replaced.
    pub fn found(&self) -> bool {
        self.found
    }

    /// Reads a chunk of UTF-8, which may end within a character, and appends the text that is
    /// final.
    pub fn push(&mut self, bytes: &[u8], out: &mut Vec<u8>) {
        // Pieces bound the memory, whatever the chunk.
        for piece in bytes.chunks(AHEAD) {
            self.escapes.read(piece, &mut self.held);
            // Deciding about as many bytes as are kept moves each byte once.
            if self.held.len() >= 2 * AHEAD {
                self.decide(self.held.len() - AHEAD, out);
            }
        }
    }

    /// Ends the stream, appends the rest, and resets the redactor.
    pub fn finish(&mut self, out: &mut Vec<u8>) {
        self.escapes.finish(&mut self.held);
        self.decide(self.held.len(), out);
        *self = Redactor { found: self.found, stand: self.stand, ..Redactor::new(self.rules.clone()) };
    }

    /// Returns the bytes of memory in use.
    pub fn memory(&self) -> usize {
        self.held.capacity() + self.escapes.memory()
    }

    /// Decides about all places before `stop`.
    fn decide(&mut self, stop: usize, out: &mut Vec<u8>) {
        let rules = self.rules.clone();
        let written = self.scan(&rules, self.context..self.context, stop..self.held.len(), out);
        let done = self.write(written, stop, out);
        let past = done.saturating_sub(CONTEXT);
        self.held.drain(..past);
        self.escapes.drain(past);
        self.context = done.min(CONTEXT);
    }

    /// Writes the text up to `stop`, unless it is written. Returns the place up to which it is
    /// written then.
    fn write(&self, written: usize, stop: usize, out: &mut Vec<u8>) -> usize {
        let stop = stop.max(written);
        self.escapes.write(&self.held, written..stop, out);
        stop
    }

    /// Looks for secrets that begin before `until.start` and end by `until.end`. Text before
    /// `from.end` has none, and text before `from.start` is written. Writes up to the last secret,
    /// and returns its end.
    fn scan(
        &mut self,
        rules: &SecretRules,
        from: Range<usize>,
        until: Range<usize>,
        out: &mut Vec<u8>,
    ) -> usize {
        let Range { start: mut done, end: mut from } = from;
        let mut finder = Finder::new(rules, &self.held[..until.end], from, until.start);
        while let Some(at) = finder.next(&self.held[..until.end], from).filter(|&at| at < until.start) {
            let window = &self.held[..until.end.min(at + REACH)];
            let Some((secret, kind)) = finder.find(window, at) else {
                from = at + 1;
                continue;
            };
            // The text before a secret may hold another, as a name may in the address of a
            // database.
            let written = self.scan(rules, done..at, secret.start..secret.start, out);
            self.write(written, secret.start, out);
            if self.stand == Stand::Mark {
                out.extend([MARK, kind.as_bytes(), b"]"].concat());
            }
            self.found = true;
            let secret = secret.start..self.escapes.whole(secret.end);
            // The rest follows a mark, as it does in a second pass.
            self.held[secret.end - 1] = b']';
            (done, from) = (secret.end, secret.end);
            finder = Finder::new(rules, &self.held[..until.end], from, until.start);
        }
        done
    }

    /// Redacts the pending text as a whole. Returns `None` if it has no secret.
    fn all(mut self) -> Option<Vec<u8>> {
        let rules = self.rules.clone();
        if memchr::memchr(b'\\', &self.held).is_some() {
            let raw = std::mem::take(&mut self.held);
            self.held.reserve(raw.len());
            self.escapes.read(&raw, &mut self.held);
            self.escapes.finish(&mut self.held);
        }
        let (mut out, mut written, mut decided) = (vec![], 0, 0);
        let end = self.held.len();
        // Patterns are sought anew after each secret, so they see no more than a stream would.
        while decided < end {
            let ahead = end.min(decided + 2 * AHEAD);
            let stop = if ahead == end { end } else { ahead - AHEAD };
            written = self.scan(&rules, written..decided, stop..ahead, &mut out);
            decided = stop.max(written);
        }
        self.write(written, end, &mut out);
        self.found.then_some(out)
    }
}

/// Returns true if a secret may begin in a text: UTF-8, or ASCII with any other bytes in place of
/// other characters.
pub fn may_have_secrets(text: &[u8], rules: &SecretRules) -> bool {
    let begins = |text: &[u8]| Formats::get().next(text, 0, text.len()).is_some();
    if rules.has_patterns() || begins(text) {
        return true;
    }
    if memchr::memchr(b'\\', text).is_none() {
        return false;
    }
    let (mut escapes, mut shown) = (Escapes::default(), vec![]);
    escapes.read(text, &mut shown);
    escapes.finish(&mut shown);
    begins(&shown)
}

/// Like [`may_have_secrets`], for UTF-16.
pub fn may_have_secrets_in_units(units: &[u16], rules: &SecretRules) -> bool {
    may_have_secrets(&ascii_of(units), rules)
}

/// Returns the ASCII of a text, and one byte for each run of other characters: a secret begins in
/// ASCII.
#[multiversion(targets("x86_64+avx2"))]
fn ascii_of(units: &[u16]) -> Vec<u8> {
    const BLOCK: usize = 16;
    const OTHER: u8 = 0xFF;
    let (mut text, mut end) = (vec![0; units.len() + 1], 0);
    for block in units.chunks(BLOCK) {
        let has_ascii = block.iter().fold(false, |any, &unit| any | (unit < 0x80));
        if has_ascii {
            let room = &mut text[end..end + block.len()];
            room.iter_mut()
                .zip(block)
                .for_each(|(byte, &unit)| *byte = if unit < 0x80 { unit as u8 } else { OTHER });
            end += block.len();
        } else if end == 0 || text[end - 1] != OTHER {
            text[end] = OTHER;
            end += 1;
        }
    }
    text.truncate(end);
    text
}

/// Returns a text without its secrets, `None` if it has none.
pub fn redacted(text: impl Into<Vec<u8>>, rules: &Arc<SecretRules>) -> Option<Vec<u8>> {
    with(Stand::Mark, text, rules)
}

/// Returns a part of a redacted text without text that looks like a secret only in that part, or
/// `None` if there is none.
pub fn dropped(part: impl Into<Vec<u8>>, rules: &Arc<SecretRules>) -> Option<Vec<u8>> {
    let once = |part| with(Stand::Nothing, part, rules);
    std::iter::successors(once(part.into()), |left| once(left.clone())).last()
}

/// Returns the text of a member of an object without its secrets, `None` if it has none. Its name
/// may show that it is a secret.
pub fn redacted_member(name: &str, text: &str, rules: &Arc<SecretRules>) -> Option<Vec<u8>> {
    if let Some(made) = marked(form::member(name, text), text, rules) {
        return Some(made);
    }
    let label = format!("\"{name}\": \"");
    if Formats::get().next(label.as_bytes(), 0, label.len()).is_none() {
        return redacted(text.as_bytes(), rules);
    }
    let member = redacted([&label, text, "\""].concat(), rules);
    let told = member.as_deref().and_then(|made| made.strip_prefix(label.as_bytes())?.strip_suffix(b"\""));
    told.map(<[u8]>::to_vec)
        .filter(|told| told != text.as_bytes())
        .or_else(|| redacted(text.as_bytes(), rules))
}

/// Returns the mark of a value after its name in a list, or `None` if it is not a secret. Lists
/// hold other texts, too.
pub fn redacted_pair(name: &str, text: &str, rules: &Arc<SecretRules>) -> Option<Vec<u8>> {
    let is_drawn = |(lead, _): &(usize, &str)| random::is_random(&text.as_bytes()[*lead..]);
    marked(form::member(name, text).filter(is_drawn), text, rules)
}

fn marked(found: Option<(usize, &str)>, text: &str, rules: &SecretRules) -> Option<Vec<u8>> {
    let (lead, kind) = found.filter(|(_, kind)| rules.seeks(kind))?;
    Some([&text.as_bytes()[..lead], MARK, kind.as_bytes(), b"]"].concat())
}

fn with(stand: Stand, text: impl Into<Vec<u8>>, rules: &Arc<SecretRules>) -> Option<Vec<u8>> {
    Redactor { stand, held: text.into(), ..Redactor::new(rules.clone()) }.all()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use proptest::sample::Index;

    /// Texts with a secret of one format, in parts, so that no scanner of sources takes one for
    /// real, and texts that are like one.
    #[derive(serde::Deserialize)]
    struct Examples {
        kind: String,
        examples: Vec<Vec<String>>,
        others: Vec<Vec<String>>,
    }

    fn all_examples() -> Vec<Examples> {
        serde_json::from_str(include_str!("examples.json")).unwrap()
    }

    fn examples() -> Vec<String> {
        let all = all_examples();
        let texts = all.iter().flat_map(|format| format.examples.iter().chain(&format.others));
        texts.map(|parts| parts.concat()).collect()
    }

    fn applied(rules: &Arc<SecretRules>, text: &[u8]) -> Vec<u8> {
        redacted(text, rules).unwrap_or_else(|| text.to_vec())
    }

    fn redact(text: &str) -> String {
        String::from_utf8(applied(&Arc::default(), text.as_bytes())).unwrap()
    }

    #[test]
    fn a_value_may_hold_the_name_of_a_secret() {
        let value = "Zk3vT9qLm2Xw8RbN5yHc7JdF4sGp";
        for name in ["secret", "token", "password", "api_key"] {
            for joint in ["_", "-", "."] {
                let text = format!("PASSWORD={value}{joint}{name}=x");
                assert!(!redact(&text).contains(value), "{text}");
            }
        }
        assert!(!redact(&format!("https://h/p?access_token={value}pQ-token=2")).contains(value));
    }

    fn in_chunks(rules: &Arc<SecretRules>, text: &[u8], sizes: &[usize]) -> Vec<u8> {
        let (mut redactor, mut out, mut rest) = (Redactor::new(rules.clone()), vec![], text);
        for &size in sizes.iter().cycle() {
            let (chunk, after) = rest.split_at(size.min(rest.len()));
            redactor.push(chunk, &mut out);
            rest = after;
            if rest.is_empty() {
                break;
            }
        }
        redactor.finish(&mut out);
        out
    }

    fn rules_of(patterns: &[(&str, &str)]) -> Arc<SecretRules> {
        let mut rules = SecretRules::default();
        for (kind, pattern) in patterns {
            rules.add((*kind).into(), pattern).unwrap();
        }
        Arc::new(rules)
    }

    #[test]
    fn each_format_is_told_from_what_is_like_it() {
        let formats: Vec<serde_json::Value> = serde_json::from_str(include_str!("formats.json")).unwrap();
        let kinds: Vec<&str> = formats.iter().map(|format| format["kind"].as_str().unwrap()).collect();
        assert_eq!(all_examples().iter().map(|format| &format.kind).collect::<Vec<_>>(), kinds);
        for Examples { kind, examples, others } in all_examples() {
            // A format that ends with the text has the examples of another format of its kind.
            let has_examples = |of: &Examples| of.kind == kind && !of.examples.is_empty();
            assert!(all_examples().iter().any(has_examples) && !others.is_empty(), "{kind}");
            for parts in examples {
                let text = redact(&format!("see {} there", parts.concat()));
                assert_eq!(text.matches(&format!("[redacted: {kind}]")).count(), 1, "{kind}: {text}");
                assert_eq!(text.matches("[redacted").count(), 1, "{kind}: {text}");
            }
            for parts in others {
                let text = format!("see {} there", parts.concat());
                assert_eq!(redact(&text), text, "{kind}");
            }
        }
    }

    #[test]
    fn each_format_is_published() {
        let page = include_str!("../../docs/redact.md");
        let formats: Vec<serde_json::Value> = serde_json::from_str(include_str!("formats.json")).unwrap();
        for format in &formats {
            let anchors =
                format["anchors"].as_array().unwrap().iter().map(|anchor| anchor.as_str().unwrap().trim());
            let anchors: Vec<_> = anchors.map(|anchor| format!("`{anchor}`")).collect();
            let row = format!("| {} | {} |", format["kind"].as_str().unwrap(), anchors.join(", "));
            assert!(page.contains(&row), "{row}");
        }
        let keys: Vec<serde_json::Value> = serde_json::from_str(include_str!("keys.json")).unwrap();
        for key in &keys {
            let prefixes = key["prefixes"]
                .as_array()
                .unwrap()
                .iter()
                .map(|prefix| format!("`{}`", prefix.as_str().unwrap()));
            let row = format!(
                "| {} | {} |",
                key["service"].as_str().unwrap(),
                prefixes.collect::<Vec<_>>().join(", ")
            );
            assert!(page.contains(&row), "{row}");
            assert!(key["source"].as_str().is_some_and(|source| source.contains('.')), "{row}");
        }
    }

    #[test]
    fn a_member_is_told_by_its_name() {
        let rules = Arc::default();
        let member = |name: &str, text: &str| {
            redacted_member(name, text, &rules).map(|made| String::from_utf8(made).unwrap())
        };
        let value = ["Fake0Fake1", "Fake2Fake3"].concat();
        assert_eq!(member("apiKey", &value).as_deref(), Some("[redacted: api key]"));
        assert_eq!(member("apiKey", &format!("{value}\"\\")).as_deref(), Some("[redacted: api key]"));
        assert_eq!(
            member("Authorization", &format!("Bearer {value}")).as_deref(),
            Some("Bearer [redacted: authorization header]")
        );
        assert_eq!(member("password", "correcthorsebattery").as_deref(), Some("[redacted: password]"));
        for (name, text) in [
            ("apiKey", "[redacted: api key]"),
            ("cacheKey", value.as_str()),
            ("apiKey", "none"),
            ("password", "$PASS1"),
        ] {
            assert_eq!(member(name, text), None, "{name}: {text}");
        }
        let pair = |name: &str, text: &str| redacted_pair(name, text, &rules).is_some();
        assert!(pair("X-API-Key", &value) && !pair("password", "username2") && !pair("Host", &value));
    }

    #[test]
    fn escapes_hide_no_secret_and_stay_where_there_is_none() {
        let (pass, key) = (["fake", "-pass"].concat(), [r"Fake0Fake1\u002B", "Fake2Fake3"].concat());
        let json = |pass: &str, key: &str| {
            format!(r#"{{"a":"https:\/\/ada:{pass}@db.example\/x","b":"API_KEY={key}\u0026c=\/"}}"#)
        };
        let raw = json(&pass, &key);
        let made = json("[redacted: connection string]", "[redacted: secret]");
        assert_eq!(redact(&raw), made);
        let nested = serde_json::to_string(&serde_json::json!({ "log": raw, "n": 1 })).unwrap();
        let parsed: serde_json::Value = serde_json::from_str(&redact(&nested)).unwrap();
        assert_eq!(parsed["log"], made);
    }

    #[test]
    fn a_key_within_json_leaves_json() {
        let body = ["Fake0Fake1Fake2Fake3Fake4Fake5Fake6Fake7", "Fake0Fake1Fake2F=="].join("\\n");
        for (begin, end) in [("-----BEGIN", "-----END"), ("-----BEGIN RSA", "-----END RSA")] {
            for escapes in [body.clone(), body.replace('\\', "\\\\")] {
                let line = &escapes[40..escapes.find("Fake0Fake1Fake2F==").unwrap()];
                let json = format!(
                    "{{\"k\":\"{begin} PRIVATE KEY-----{line}{escapes}{line}{end} PRIVATE KEY-----{line}\"}}"
                );
                assert_eq!(redact(&json), format!("{{\"k\":\"[redacted: private key]{line}\"}}"));
                let cut = format!("{{\"k\":\"{begin} PRIVATE KEY-----{line}{}\"}}", &escapes[..40]);
                assert_eq!(redact(&cut), "{\"k\":\"[redacted: private key]\"}");
            }
        }
    }

    #[test]
    fn a_key_without_its_end_goes_line_by_line() {
        let line = "Fake0Fake1Fake2Fake3";
        let cut = |rest: &str| redact(&["a\n-----BEGIN PRIV", "ATE KEY-----\n", line, "\n", rest].concat());
        for rest in ["", line, "Fake0", "Fake0Fake1Fake2"] {
            assert!(cut(rest).trim_end() == "a\n[redacted: private key]", "{rest}");
        }
        for rest in ["\nnext line", "Fake0\nnext", "Fake0 next", "[... 300 more]", "-----END PRIV"] {
            assert_eq!(cut(rest), format!("a\n[redacted: private key]\n{rest}"));
        }
    }

    #[test]
    fn a_mark_is_no_name_and_no_prefix() {
        let value = ["Fake0Fake1", "Fake2Fake3"].concat();
        for text in [
            format!("auth: Bearer [redacted: authorization header] = '{value}'"),
            format!("<password kind=\"[redacted: jwt]\">{value}</password>"),
            format!("-----BEGIN PRIV{}\" is [redacted: jwt] {}", "ATE KEY-----", value.repeat(3)),
        ] {
            assert_eq!(redact(&text), text);
        }
    }

    #[test]
    fn a_notice_directly_behind_a_secret_hides_none() {
        let (value, notice) = (["Fake0Fake1", "Fake2Fake3"].concat(), "[... 43 more characters truncated]");
        for (before, kind) in [
            ("API_KEY=", "secret"),
            ("api_key: ", "api key"),
            ("\"apiKey\": \"", "api key"),
            ("API_KEY=\"", "secret"),
        ] {
            let made = format!("{before}[redacted: {kind}]{notice}");
            assert_eq!(redact(&format!("{before}{value}{notice}")), made);
            assert_eq!(redact(&made), made);
        }
        assert_eq!(redact(&format!("api_key={value}[0]")), format!("api_key={value}[0]"));
    }

    #[test]
    fn what_leads_to_a_secret_may_hold_another() {
        let key = ["AK", "IAFAKEFAKEFAKEFAKE"].concat();
        assert_eq!(
            redact(&format!("db://{key}:fake-pass@host")),
            "db://[redacted: aws access key]:[redacted: connection string]@host"
        );
    }

    #[test]
    fn only_the_kinds_that_are_sought_are_found() {
        let text = ["gh", "p_Fake0Fake1Fake2Fake3Fake4Fake5Fake6F password=fake-pass-1"].concat();
        let some = Arc::new(SecretRules::of(&["password".into()]));
        assert_eq!(
            applied(&some, text.as_bytes()),
            text.replace("fake-pass-1", "[redacted: password]").as_bytes()
        );
        let own = rules_of(&[("ticket", r"\bT-\d{4,}")]);
        let text = "T-1234 XT-1234 T-99 T-12345[redacted: ticket]";
        assert_eq!(
            applied(&own, text.as_bytes()),
            b"[redacted: ticket] XT-1234 T-99 [redacted: ticket][redacted: ticket]"
        );
        let mut rules = SecretRules::default();
        assert!(rules.add("none".into(), "x*").unwrap_err().contains("empty"));
        assert!(rules.add("none".into(), "(").unwrap_err().contains("unclosed"));
    }

    /// Texts with many beginnings of secrets.
    fn hostile() -> impl Strategy<Value = String> {
        let known = examples();
        let glue = [
            "",
            " ",
            "\n",
            "\"",
            "'",
            ":",
            "=",
            "@",
            "://",
            "\\n",
            "&",
            "[redacted: ",
            "]",
            "[redacted: jwt]",
        ];
        let piece =
            (any::<Index>(), any::<(Index, Index)>(), any::<bool>(), any::<Index>(), "[ -~é\n]{0,12}");
        let piece = piece.prop_map(move |(which, (a, b), whole, between, noise)| {
            let text = which.get(&known[..]).as_str();
            let (a, b) = (a.index(text.len() + 1), b.index(text.len() + 1));
            let part = if whole { text } else { &text[a.min(b)..a.max(b)] };
            [part, *between.get(&glue[..]), if which.index(2) == 0 { "" } else { noise.as_str() }].concat()
        });
        prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn chunks_do_not_matter_and_a_second_pass_changes_nothing(
            text in hostile(),
            sizes in prop::collection::vec(1..40usize, 1..6),
            own in any::<bool>(),
        ) {
            let patterns: &[_] = if own { &[("number", r"\d{3,}"), ("fake", "Fake[0-9]F.k"), ("line", "(?m)^a.*e")] } else { &[] };
            let rules = rules_of(patterns);
            let whole = applied(&rules, text.as_bytes());
            prop_assert_eq!(&in_chunks(&rules, text.as_bytes(), &sizes), &whole);
            prop_assert_eq!(String::from_utf8(applied(&rules, &whole)).unwrap(), String::from_utf8(whole).unwrap());
        }

        #[test]
        fn chunks_do_not_matter_to_long_texts_and_matches(
            parts in prop::collection::vec((hostile(), 0..4usize, REACH - 90..REACH + 90), 1..4),
            sizes in prop::collection::vec(prop_oneof![1..40usize, REACH - 99..3 * REACH], 1..6),
            before in 0..99usize,
        ) {
            let mut text = "x".repeat(before);
            for (hostile, kind, length) in parts {
                let key = |begin: [&str; 2], body: &str| begin.concat() + &body.repeat(length.div_ceil(body.len()))[..length];
                text += &match kind {
                    0 => key([" -----BEGIN PRIV", "ATE KEY-----\n"], "Fake0Fake1Fake2Fake3Fake4\n"),
                    1 => key(["\"n", "pm_"], "Fake0"),
                    2 => key([" own-", ""], "b") + "c",
                    _ => key(["", "."], " filler, "),
                };
                text += &hostile;
            }
            let rules = rules_of(&[("own", "own-[^c]*c")]);
            let whole = applied(&rules, text.as_bytes());
            prop_assert!(in_chunks(&rules, text.as_bytes(), &sizes) == whole);
            prop_assert!(applied(&rules, &whole) == whole);
        }

        #[test]
        fn hostile_bytes_are_kept(bytes in prop::collection::vec(any::<u8>(), 0..200), sizes in prop::collection::vec(1..9usize, 1..4)) {
            prop_assert_eq!(in_chunks(&Arc::default(), &bytes, &sizes), applied(&Arc::default(), &bytes));
        }
    }
}
