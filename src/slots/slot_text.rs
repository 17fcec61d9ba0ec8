//! The text of a tool result before it is truncated.

use super::slot_rules::SlotRules;
use crate::clean::{self, Cleaner, is_clean, is_page};
use crate::encoding::whitespace::is_visible;
use crate::encoding::{Size, Utf16};
use crate::json::Literal;
use crate::notice::earlier;
use crate::notice::parse::has_notice;
use crate::policy::{Keep, Policy};
use crate::redact::{dropped, redacted};
use crate::truncate::input::Input;

/// The head and the tail of a text; if the tail is empty, the head is the whole text.
pub type Windows = (Vec<u16>, Vec<u16>);

/// Returns the parts of a text of `chars` chars that can affect a cut.
pub fn windows(text: &Literal, chars: usize, policy: &Policy) -> Windows {
    // Findings stand anywhere.
    let ends = if policy.searches() { None } else { ends(text, chars, policy) };
    ends.unwrap_or_else(|| (text.units(), vec![]))
}

/// Returns the ends of a text that a cut reaches, or `None` if it may read the whole text. A search
/// reads that.
pub fn ends(text: &Literal, chars: usize, policy: &Policy) -> Option<Windows> {
    let reach = policy.limits.bytes.min(policy.limits.chars).saturating_add(2);
    let [head, tail] = [Keep::Tail, Keep::Head].map(|other| if policy.keep == other { 0 } else { reach });
    // Tokens of the whole text decide which limits a notice names.
    if policy.limits.counts_tokens() || chars <= head.max(tail).max(earlier::SEARCHED) {
        return None;
    }
    // Notices at the ends are not kept, so a window must extend beyond them.
    let [head, tail] = [head, tail].map(|side| side.saturating_add(earlier::LONGEST));
    Some((text.head(head), text.tail(tail)))
}

/// Returns the parts of a text that a cut can need: the whole text if lines are limited.
pub fn windows_for(text: &Literal, size: Size, policy: &Policy) -> Windows {
    if has_long_lines(size, policy) { (text.units(), vec![]) } else { windows(text, size.chars, policy) }
}

/// Returns true if a text may have a line over the limit of one line.
pub fn has_long_lines(size: Size, policy: &Policy) -> bool {
    policy.limits.line_bytes < size.chars.saturating_mul(3)
}

pub fn input(windows: &Windows, size: Size) -> Input<'_, Utf16<'_>> {
    Input::ends(Utf16(&windows.0), Utf16(&windows.1), size.chars).with_totals(size)
}

/// Returns the cleaned and redacted text, or `None` if that changes nothing.
pub fn prepared(text: &Literal, rules: &SlotRules) -> Option<Literal<'static>> {
    let cleaned = rules.clean.and_then(|options| cleaned(&text.string(), options));
    let redact = |rules| redacted(cleaned.as_deref().unwrap_or(&text.string()).as_bytes(), rules);
    let redacted = rules.policy.redact.as_ref().and_then(redact);
    redacted.and_then(|text| String::from_utf8(text).ok()).or(cleaned).map(Literal::from)
}

/// Returns the cleaned text, or `None` if cleaning changes nothing.
pub fn cleaned(text: &str, options: clean::CleanOptions) -> Option<String> {
    // Blanks that cleaning leaves as they are hide nothing.
    let left = cleaned_once(text, options)?;
    let left = if is_visible(left.chars()) { left } else { shown(text, options) };
    (left != text).then_some(left)
}

/// Returns a text with symbols for its control characters, if cleaning leaves nothing else: no
/// block becomes empty, and a cut of this text is cleaned to itself. A page stays a page.
fn shown(text: &str, options: clean::CleanOptions) -> String {
    let symbol = |point: char| match u32::from(point) {
        0x09 | 0x0A => point,
        code @ ..0x20 => char::from_u32(0x2400 + code).unwrap_or(point),
        0x7F => '\u{2421}',
        0x80..0xA0 => '\u{FFFD}',
        _ => point,
    };
    let shown: String = text.replace("\r\n", "\n").chars().map(symbol).collect();
    let symbols = cleaned_once(&shown, options).unwrap_or_else(|| shown.clone());
    if is_visible(symbols.chars()) {
        return symbols;
    }
    cleaned_once(&shown, clean::CleanOptions { html: false, ..options }).unwrap_or(shown)
}

fn cleaned_once(text: &str, options: clean::CleanOptions) -> Option<String> {
    // An earlier notice or cut may have made lines alike. Folding them would lose their position.
    // It may also have left text at the start that a page quotes.
    let is_cut = has_notice(text.as_bytes());
    let [repeats, html] = [options.repeats, options.html].map(|step| step && !is_cut);
    let mut left = cleaned_with(text, clean::CleanOptions { repeats, html, ..options })?;
    // The notice may be overwritten.
    if is_cut && !has_notice(left.as_bytes()) {
        left = cleaned_with(&left, options).unwrap_or(left);
    }
    Some(left)
}

/// Returns a text that each of its steps has changed, or `None` if none changes anything.
pub fn cleaned_with(text: &str, options: clean::CleanOptions) -> Option<String> {
    let is_page = options.html && is_page(text.as_bytes());
    if !is_page && (options == clean::CleanOptions::NONE || is_clean(text.as_bytes(), options.repeats)) {
        return None;
    }
    let (mut cleaner, mut out) = (Cleaner::new(options), Vec::with_capacity(text.len()));
    cleaner.push(text.as_bytes(), &mut out);
    cleaner.finish(&mut out);
    String::from_utf8(out).ok().filter(|left| left != text)
}

/// Removes from a cut of a prepared text all but two of equal lines that the cut made neighbors,
/// and secrets that it joined, so that preparing the text again changes nothing.
pub fn parted(text: String, rules: &SlotRules) -> String {
    let folds = rules.clean.is_some_and(|options| options.repeats);
    let left = if folds { clean::leave_two(&text.encode_utf16().collect::<Vec<_>>()) } else { None };
    let left =
        left.filter(|_| !has_notice(text.as_bytes())).map_or(text, |left| String::from_utf16_lossy(&left));
    let dropped = rules.policy.redact.as_ref().and_then(|rules| dropped(left.as_bytes(), rules));
    dropped.and_then(|text| String::from_utf8(text).ok()).unwrap_or(left)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Limits;

    fn text(text: String) -> Literal<'static> {
        text.into()
    }

    #[test]
    fn blanks_that_cleaning_leaves_stay() {
        let options = clean::CleanOptions { carriage_returns: false, ..clean::CleanOptions::ALL };
        assert_eq!(cleaned("\r\n", options), None);
        assert_eq!(cleaned("\0\r\n", options).as_deref(), Some("\u{2400}\n"));
    }

    #[test]
    fn windows_cover_the_reach_of_a_cut() {
        let policy = Policy {
            keep: Keep::Tail,
            limits: Limits { bytes: 300_000, ..Limits::NONE },
            ..Policy::default()
        };
        let small = text("é".repeat(300_002));
        assert_eq!(windows(&small, 300_002, &policy).0.len(), 300_002);
        let large = text("é".repeat(400_000));
        let (head, tail) = windows(&large, 400_000, &policy);
        // A notice at the end extends the windows.
        assert_eq!((head.len(), tail.len()), (earlier::LONGEST, 300_002 + earlier::LONGEST));
    }
}
