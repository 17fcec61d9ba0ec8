//! Decides if a value can be a secret.
//!
//! References (`$NAME`, `${…}`, `<…>`), masks, types, paths, versions and names of programs are not
//! secrets. Other values are judged by their names: a password has letters and digits, and the less
//! specific a name is, the more random its value must look.

use super::MARK;
use super::name::{self, Kind, Sense};
use super::random::{Make, bits, is_random, may_be_told};

/// The notation of a value in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stands {
    /// Between quotes or tags, or as a member of an object. `single`: no variable is read between
    /// these quotes.
    Quoted { single: bool },
    /// Behind `=` without a blank, as in an environment or a URL.
    Tight,
    /// Behind a colon or blanks. `ends`: its line ends behind it.
    Bare { ends: bool },
    /// Code is as likely as a value, as before a comma or a closing bracket.
    Code,
}

/// Returns true if a value is a secret, given the kind that its name announces.
pub fn is_secret(value: &[u8], sense: Sense, stands: Stands) -> bool {
    let is_quoted = matches!(stands, Stands::Quoted { .. });
    let is_single = stands == Stands::Quoted { single: true };
    if value.len() < 6 {
        return false;
    }
    // Where a name stands every few bytes, most values end here.
    let may_be_told = match sense.kind {
        Kind::Password => may_be_told(value),
        _ => value.iter().any(u8::is_ascii_digit),
    };
    if !is_quoted && !may_be_told {
        return false;
    }
    let make = Make::of(value);
    let is_drawn = make.is_random();
    let is_password = sense.kind == Kind::Password && (is_quoted || is_drawn || make.is_erratic());
    let may_be = make.is_mixed() || is_drawn && is_quoted || is_password;
    if !may_be || is_other(value, make, is_single) {
        return false;
    }
    if is_quoted && value.iter().any(u8::is_ascii_whitespace) {
        let words = value.split(u8::is_ascii_whitespace);
        return matches!(sense.kind, Kind::Password | Kind::Secret | Kind::Token | Kind::Key)
            && value.len() <= 512
            && words.clone().any(|word| {
                word.len() >= if sense.is_sure || sense.is_compound { 10 } else { 16 } && is_random(word)
            });
    }
    // A value that is the name of a secret refers to one.
    let is_name = is_identifier(value);
    let is_alias = is_name && !is_drawn && name::mentions(value);
    let is_constant = is_name && value.contains(&b'_') && !value.iter().any(u8::is_ascii_lowercase);
    if !is_quoted && (is_alias || is_code(value, make) && !is_drawn || is_constant && !sense.is_sure) {
        return false;
    }
    let joints = value.iter().filter(|byte| b".:>".contains(byte)).count();
    if is_quoted && joints >= 2 && is_code(value, make) && !is_drawn {
        return false;
    }
    let is_long = value.len() >= 16;
    let is_chosen = sense.kind == Kind::Password && value.len() >= 8 && make.is_mixed() && !is_name;
    if stands == Stands::Code || stands == (Stands::Bare { ends: false }) && !is_chosen {
        return is_drawn
            && (value.len() >= 16 || sense.is_sure && value.len() >= 10)
            && weighs(value, sense, make);
    }
    match sense.kind {
        Kind::Password if is_quoted => {
            make.is_mixed() && !(is_alias && is_lower(value))
                || make.is_erratic()
                || has_symbol_within(value, make)
                || is_long && value.iter().all(u8::is_ascii_lowercase)
        }
        Kind::Password => make.is_mixed() || make.is_erratic(),
        _ if value.len() < 8 || !make.is_mixed() && !is_drawn => false,
        _ if sense.is_sure && is_quoted => is_drawn || is_long && !is_alias,
        _ if sense.is_sure && stands == Stands::Tight => true,
        _ if sense.is_sure => is_drawn || is_long && make.digits >= 4 && !is_name,
        Kind::Token if stands == Stands::Tight && sense.is_compound => true,
        Kind::Token
            if sense.is_compound && is_long && make.digits >= 4 && !is_alias && (is_quoted || !is_name) =>
        {
            true
        }
        _ => weighs(value, sense, make) && value.len() >= 12 && is_drawn,
    }
}

/// Under an unspecific name, a UUID or a short hex number is usually an id.
fn weighs(value: &[u8], sense: Sense, make: Make) -> bool {
    if sense.is_sure {
        return true;
    }
    let is_token = sense.is_compound && sense.kind == Kind::Token;
    if is_uuid(value) {
        return is_token;
    }
    // Joined words have no random part.
    let longest =
        value.split(|byte| b"_-.:/".contains(byte)).max_by_key(|part| part.len()).unwrap_or_default();
    make.is_mixed() && make.letters + make.digits >= 12 && longest.len() >= 10 && is_random(longest)
}

fn is_lower(value: &[u8]) -> bool {
    !value.iter().any(u8::is_ascii_uppercase)
}

/// Symbols that words do not have.
const SYMBOLS: u128 = bits(b"!@#$%^&*+=~");
/// All bytes of a password that has symbols.
const PLAIN: u128 = bits(b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_-?") | SYMBOLS;

/// Returns true if a value contains a symbol that words do not have.
fn has_symbol_within(value: &[u8], make: Make) -> bool {
    let is_symbol = |byte: &u8| byte.is_ascii() && SYMBOLS >> byte & 1 == 1;
    make.has_any(SYMBOLS)
        && make.has_only(PLAIN)
        && make.letters >= 4
        && value.len() >= 8
        && value.iter().filter(|byte| is_symbol(byte)).count() <= 4
        && !value.first().is_some_and(is_symbol)
}

pub fn is_uuid(value: &[u8]) -> bool {
    value.len() == 36
        && value.iter().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => *byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

pub fn is_identifier(value: &[u8]) -> bool {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    value.iter().all(is_part) && !value[0].is_ascii_digit()
}

/// Returns true if a value reads as an expression: `settings.KEY1`, `Type::NAME1`, `a->b1`.
fn is_code(value: &[u8], make: Make) -> bool {
    let first = value[0].is_ascii_alphabetic() || value[0] == b'_';
    let parts = value.split(|byte| b".:->?!".contains(byte));
    let has_joint = [b".".as_slice(), b"::", b"->"].iter().any(|joint| has(value, make, joint));
    first && has_joint && parts.clone().all(|part| part.is_empty() || is_identifier(part))
}

/// Returns true if a value contains an ASCII text.
fn has(value: &[u8], make: Make, part: &[u8]) -> bool {
    make.has_any(bits(&part[..1]))
        && memchr::memchr_iter(part[0], value).any(|at| value[at..].starts_with(part))
}

/// Returns true for a text that refers to a value or hides one instead of being one.
fn is_other(value: &[u8], make: Make, is_single: bool) -> bool {
    let first = value[0];
    // A key in PEM has a grammar of its own.
    if first == b'<' || first == b'[' || has(value, make, MARK) || value.starts_with(b"-----BEGIN ") {
        return true;
    }
    if is_variable(value) && !(is_single && first == b'$') {
        return true;
    }
    let templates: [&[u8]; 12] =
        [b"${", b"$(", b"{{", b"}}", b"#{", b"<%", b"%(", b"://", b"...", b"\xE2\x80\xA6", b"[...", b"$env:"];
    let is_template_at = |at: usize| {
        b"${}#<%:.[\xE2".contains(&value[at]) && templates.iter().any(|part| value[at..].starts_with(part))
    };
    let may_be_template = make.is_wide || make.has_any(bits(b"${#<%/.["));
    if may_be_template && (0..value.len()).any(is_template_at) {
        return true;
    }
    make.has_any(bits(b"{%")) && is_template(value)
        || is_masked(value, make)
        || is_version(value)
        || make.has_any(bits(b":-")) && is_digest(value, make)
        || is_listed(value, make)
        || make.has_any(bits(b"/.:")) && is_path(value)
}

/// Returns true for `$NAME`, `%NAME%`, `@NAME@`, `__NAME__`.
fn is_variable(value: &[u8]) -> bool {
    let last = value[value.len() - 1];
    let within = &value[1..value.len() - 1];
    match value[0] {
        b'$' => {
            let name = &value[1..];
            let long = name.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
            let (name, after) = name.split_at(long);
            let is_loud = name.len() >= 2 && name.iter().all(|byte| !byte.is_ascii_lowercase());
            is_loud && name[0] != b'_' && !name[0].is_ascii_digit()
                || after.is_empty() && !is_random(name)
                || after.starts_with(b"->")
                || after.starts_with(b"[")
                || after.starts_with(b"{")
        }
        b'%' | b'@' | b'!' => {
            last == value[0] && within.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
        }
        b'_' => value.starts_with(b"__") && value.ends_with(b"__"),
        _ => false,
    }
}

/// Returns true if a part is `{name}` or a place of a format.
fn is_template(value: &[u8]) -> bool {
    let mut rest = value;
    while let Some(at) = memchr::memchr2(b'{', b'%', rest) {
        let after = &rest[at + 1..];
        if rest[at] == b'{' {
            let long = after
                .iter()
                .take_while(|byte| byte.is_ascii_alphanumeric() || b"_.!:?".contains(byte))
                .count();
            if after.get(long) == Some(&b'}') {
                return true;
            }
        } else if matches!(
            after,
            [b's' | b'd' | b'v' | b'@'] | [b's' | b'd' | b'v', b' ' | b'\\' | b'-' | b':', ..]
        ) {
            return true;
        }
        rest = after;
    }
    false
}

/// Returns true if a value hides another: `********`, `xxxx-xxxx`, `abc***`.
fn is_masked(value: &[u8], make: Make) -> bool {
    let has = |part| has(value, make, part);
    make.distinct() < 4 || has(b"***") || has(b"xxxx") || has(b"XXXX")
}

/// Returns true for `^1.2.3-beta1`, `2026-01-02T10:00`.
fn is_version(value: &[u8]) -> bool {
    let number = value.iter().position(|byte| !b"^~<>=vV ".contains(byte)).unwrap_or(0);
    let digits = |from: usize| value[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let major = digits(number);
    if major == 0 || major > 4 {
        return false;
    }
    match value.get(number + major) {
        Some(b'.') => digits(number + major + 1) > 0 && !is_random(value),
        Some(b'-') => major == 4 && digits(number + 5) == 2 && value.get(number + 7) == Some(&b'-'),
        _ => false,
    }
}

fn is_digest(value: &[u8], make: Make) -> bool {
    let is_named = |name: &&[u8]| value.len() > name.len() && value[..name.len()].eq_ignore_ascii_case(name);
    let names: [&[u8]; 8] =
        [b"sha256:", b"sha256-", b"sha512-", b"sha512:", b"sha1-", b"sha1:", b"md5:", b"sha384-"];
    names.iter().any(is_named)
        || has(value, make, b"@sha256:")
        || value.starts_with(b"arn:")
        || value.starts_with(b"urn:")
}

/// Returns true for the bytes of a fingerprint or a text, and for all letters in a row.
fn is_listed(value: &[u8], make: Make) -> bool {
    let is_pair = |pair: &[u8]| pair.len() == 2 && pair.iter().all(u8::is_ascii_hexdigit);
    let letters = b"abcdefghijklmnopqrstuvwxyz";
    make.has_any(bits(b":")) && value.split(|byte| *byte == b':').all(is_pair)
        || make.distinct() >= letters.len() as u32
            && value.windows(letters.len()).any(|window| window.eq_ignore_ascii_case(letters))
        || value.starts_with(b"\\x") && memchr::memmem::find_iter(value, b"\\x").count() >= 4
}

/// Returns true for a path of named folders.
fn is_path(value: &[u8]) -> bool {
    let begins = |with: &[u8]| value.starts_with(with);
    let is_rooted = begins(b"/") || begins(b"./") || begins(b"../") || begins(b"~/") || begins(b"@/");
    let is_drive =
        value.len() > 3 && value[0].is_ascii_alphabetic() && value[1] == b':' && b"\\/".contains(&value[2]);
    let slashes = value.iter().filter(|byte| **byte == b'/').count();
    let has_extension = {
        let dot = value.iter().rposition(|byte| *byte == b'.');
        dot.is_some_and(|dot| {
            let extension = &value[dot + 1..];
            (1..=5).contains(&extension.len()) && extension.iter().all(u8::is_ascii_lowercase)
        })
    };
    let parts = || value.split(|byte| b"/\\".contains(byte)).filter(|part| !part.is_empty());
    let is_named =
        || 2 * parts().filter(|part| part.len() >= 10 && is_random(part)).count() < parts().count();
    let is_base64 = !is_rooted && value.iter().any(|byte| b"+=".contains(byte));
    is_drive || !is_base64 && (is_rooted || slashes >= 2 || has_extension) && is_named()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(name: &str, value: &str, stands: Stands) -> bool {
        name::sense(name.as_bytes()).is_some_and(|sense| is_secret(value.as_bytes(), sense, stands))
    }

    #[test]
    fn references_are_no_values() {
        for value in [
            "$PASSWORD1",
            "${PASS1}",
            "$(cat /run/1)",
            "<token1>",
            "********",
            "%PASS1%",
            "{{ pass1 }}",
            "^4.1.0-beta1",
            "/run/secrets/token1",
            "[redacted: jwt]",
            "sha256:0123abcd",
            "https://example.com/1",
            "$env:PASS1",
            "#{pass1}",
            "{token1}",
            "secret_key_1",
        ] {
            for stands in [Stands::Tight, Stands::Bare { ends: true }, Stands::Quoted { single: false }] {
                assert!(!told("password", value, stands), "{value} {stands:?}");
            }
        }
        assert!(told("password", "$ecret1!", Stands::Tight));
        assert!(told("password", "$argon2id$v=19$m=65536", Stands::Tight));
    }
}
