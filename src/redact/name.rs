//! Classifies a name by its words: the kind of value that it announces.
//!
//! A name is split into words at changes of case, digits, "_", "-" and ".". A word such as
//! `password` decides, unless another word makes it a file of passwords, a count of tokens, or a
//! key of a cache.

use std::cell::RefCell;
use std::sync::LazyLock;

/// Maximum bytes of a name.
pub const MOST: usize = 64;

/// The kind of value that a name announces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sense {
    pub kind: Kind,
    /// True if the name is specific. A `token` alone may belong to a parser.
    pub is_sure: bool,
    /// True if the name has more words.
    pub is_compound: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Password,
    Secret,
    Token,
    Key,
    /// The value of an HTTP header, behind a scheme.
    Authorization,
}

impl Sense {
    /// A value after an HTTP scheme belongs to a header, regardless of its name.
    pub fn behind_scheme(self, bytes: usize) -> Sense {
        let kind = if bytes > 0 { Kind::Authorization } else { self.kind };
        Sense { kind, is_sure: self.is_sure || bytes > 0, ..self }
    }
}

/// Lists of words as numbers, each sorted: numbers are compared faster.
struct Lists {
    /// Words for secrets that a person chooses.
    passwords: Vec<u128>,
    /// Words for other secrets.
    secrets: Vec<u128>,
    /// Words before `key` that make the key secret.
    keys: Vec<u128>,
    /// The same words as text.
    key_texts: Vec<&'static str>,
    /// Words before `token` that make it an access token.
    tokens: Vec<u128>,
    /// Words, anywhere in a name, of values that are not secrets.
    open: Vec<u128>,
    /// Words after the deciding word that make a name describe a secret instead of naming it.
    about: Vec<u128>,
    /// Words before `pass` that make it a step of a process.
    passes: Vec<u128>,
    /// Words that make even a password public.
    not_even: Vec<u128>,
}

const KEYS: &str = "\
        access account admin aes api app application apps auth authentication authorization bot cipher client \
        consumer crypto customer data decryption deploy deployment developer encrypt encryption functions gpg \
        hmac ingest ingestion instrumentation integration jwt licence license live management master merchant \
        pgp private privileged project provider read role root rsa secret sending server service shared sign \
        signature signing ssh ssl subscription team tls user web webhook workspace write";

static LISTS: LazyLock<Lists> = LazyLock::new(|| Lists {
    passwords: sorted(
        "\
        passcode passphrase passwd password passwords passwort passwrd pwd",
    ),
    secrets: sorted(
        "\
        credential credentials creds secret secrets",
    ),
    keys: sorted(KEYS),
    key_texts: KEYS.split_whitespace().collect(),
    tokens: sorted(
        "\
        access account admin api app auth authentication authorization bearer bot client deploy developer device \
        gateway id identity integration jwt login my oauth personal private project push refresh registry runner \
        secret security service session sso upload user vault verification web webhook with x",
    ),
    open: sorted(
        "\
        arrow benchmark bos bucket byte bytes cache cached cancel cancellation change checksum cls column commit \
        completion composite config continuation continue count counts css cursor dedup dedupe design digest doc \
        docs end eos etag event example fingerprint first foreign forgot grant group hash hot i18n idempotency \
        idempotent index input integrity keyboard label last lex lexer limit lookup mask max md5 metric min \
        missing needs next node num number object offset output pad page pagination paging parse parser \
        partition per placeholder prev previous primary prompt prompts pub public query rate reset revision \
        route routing row schema search sha sha1 sha256 sha512 shard sharding shortcut sort special start stop \
        sync syntax tag thumbprint total translation unexpected unique unk usage used validate word words",
    ),
    about: sorted(
        "\
        age alg algorithm arn budget class code color colors create created dir directory disabled enabled \
        encryption endpoint env error errors exists expiration expired expires expiry factory field fields file \
        filename files format generator handler header headers helper hint host icon id identifier ids info \
        input issuer kind kinds len length level lifetime list loader location manager map match message method \
        mode name names param parameter params path paths pattern permission permissions policy pos position \
        prefix property provider ref reference regex region required role rotation rule rules scope scopes \
        selector service size source status storage store strategy stream strength suffix table text title ttl \
        type types uri uris url urls valid validation validator version versions visible",
    ),
    passes: sorted(
        "\
        all by fail first full last multi one post pre render second single test tests third two",
    ),
    not_even: sorted(
        "\
        change count example forgot hash label max min missing num number placeholder prompt reset schema \
        validate",
    ),
});

fn sorted(words: &'static str) -> Vec<u128> {
    let mut words: Vec<u128> = words.split_whitespace().map(number).collect();
    words.sort_unstable();
    words
}

/// Returns the bytes of a word as a number, or 0 for a word longer than any in the lists.
fn number(word: &str) -> u128 {
    let bytes = word.bytes().take(17);
    if word.len() > 16 { 0 } else { bytes.fold(0, |number, byte| number << 8 | u128::from(byte)) }
}

/// Maximum words of a name.
const WORDS: usize = 16;

/// The words of a name in lower case, without digits.
struct Words {
    lower: [u8; MOST],
    /// Start and end of each word.
    places: [(usize, usize); WORDS],
    count: usize,
}

impl Words {
    fn of(name: &[u8]) -> Words {
        let mut words = Words { lower: [0; MOST], places: [(0, 0); WORDS], count: 0 };
        words.lower[..name.len()].copy_from_slice(name);
        words.lower.make_ascii_lowercase();
        let mut start = 0;
        for at in 0..=name.len() {
            let here = name.get(at).copied().unwrap_or(b'_');
            let is_letter = here.is_ascii_alphabetic();
            if start == at {
                start += usize::from(!is_letter);
                continue;
            }
            let before = name[at - 1];
            let next_is_lower = name.get(at + 1).is_some_and(u8::is_ascii_lowercase);
            let begins = here.is_ascii_uppercase() && (before.is_ascii_lowercase() || next_is_lower);
            if (!is_letter || begins) && words.count < WORDS {
                words.places[words.count] = (start, at);
                words.count += 1;
                start = if is_letter { at } else { at + 1 };
            }
        }
        words
    }

    fn get(&self, nth: usize) -> &str {
        let (from, to) = self.places[nth];
        std::str::from_utf8(&self.lower[from..to]).unwrap_or_default()
    }

    fn any(&self, from: usize, of: &[u128]) -> bool {
        (from..self.count).any(|nth| is_of(self.get(nth), of))
    }
}

/// Returns true if a word is in a list.
fn is_of(word: &str, of: &[u128]) -> bool {
    of.binary_search(&number(word)).is_ok()
}

/// A name, and what it announces.
#[derive(Clone, Copy)]
struct Known {
    name: [u8; MOST],
    length: usize,
    sense: Option<Sense>,
}

/// Number of names that are known. A text has few that name secrets, and each in many lines.
const KNOWN: usize = 16;

thread_local! {
    /// Names that were read, by a hash. Each is read as the end of the value before it, then for
    /// its own value.
    static NAMES: RefCell<[Known; KNOWN]> =
        const { RefCell::new([Known { name: [0; MOST], length: 0, sense: None }; KNOWN]) };
}

/// Returns the kind that a name announces, `None` if its value is not a secret.
pub fn sense(name: &[u8]) -> Option<Sense> {
    let ([first, ..], [.., last]) = (name, name) else { return None };
    if name.len() > MOST {
        return None;
    }
    let hash = name.len() + usize::from(*first) + 3 * usize::from(*last);
    NAMES.with_borrow_mut(|names| {
        let known = &mut names[hash % KNOWN];
        if known.name[..known.length] != *name {
            known.sense = sense_of(name);
            known.name[..name.len()].copy_from_slice(name);
            known.length = name.len();
        }
        known.sense
    })
}

fn sense_of(name: &[u8]) -> Option<Sense> {
    let words = Words::of(name);
    let count = words.count;
    let (nth, kind, is_known) = (0..count).rev().find_map(|nth| {
        let word = words.get(nth);
        let before = nth.checked_sub(1).map(|nth| words.get(nth)).unwrap_or_default();
        let (kind, is_known) = decides(word, before, nth + 1 == count)?;
        Some((nth, kind, is_known))
    })?;
    // Other words of the name may exclude a secret: `expires_at`, `is_valid`.
    if words.any(0, &LISTS.open) && !(kind == Kind::Password && is_known && !words.any(0, &LISTS.not_even))
        || words.any(nth + 1, &LISTS.about)
    {
        return None;
    }
    let is_compound = count > 1;
    let is_sure = is_known;
    Some(Sense { kind, is_sure, is_compound })
}

/// Returns true if an identifier, perhaps with a number behind it, names a secret.
pub fn mentions(identifier: &[u8]) -> bool {
    let digits = identifier.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let name = &identifier[..identifier.len() - digits];
    !name.iter().any(u8::is_ascii_digit) && sense(name).is_some()
}

/// Returns the kind that a word announces, and true if the word alone is certain.
fn decides(word: &str, before: &str, is_last: bool) -> Option<(Kind, bool)> {
    let glued = |end: &str| word.len() > end.len() && word.ends_with(end);
    if is_of(word, &LISTS.passwords) || ["password", "passwd", "passphrase"].iter().any(|end| glued(end)) {
        return Some((Kind::Password, true));
    }
    if word == "pass" {
        return (!before.is_empty() && !is_of(before, &LISTS.passes)).then_some((Kind::Password, true));
    }
    if is_of(word, &LISTS.secrets) || glued("secret") || glued("credentials") {
        return Some((Kind::Secret, true));
    }
    if word == "authorization" {
        return Some((Kind::Authorization, true));
    }
    if word == "token" || glued("token") {
        let before = word.strip_suffix("token").filter(|rest| !rest.is_empty()).unwrap_or(before);
        return Some((Kind::Token, is_of(before, &LISTS.tokens)));
    }
    if matches!(word, "key" | "keys") || glued("key") || glued("keys") {
        let rest = word.trim_end_matches('s').trim_end_matches("key");
        let glued = !rest.is_empty();
        let before = if glued { rest } else { before };
        let is_known = is_of(before, &LISTS.keys)
            || glued && LISTS.key_texts.iter().any(|known| known.len() > 2 && before.ends_with(known));
        // "monkey", "turkey", and names that are only listed.
        return (is_known || !glued && word == "key" && !before.is_empty()).then_some((Kind::Key, is_known));
    }
    match word {
        "auth" | "oauth" if is_last => Some((Kind::Token, false)),
        "pat" if is_last && !before.is_empty() => Some((Kind::Token, false)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_parted() {
        let words = |name: &str| {
            let words = Words::of(name.as_bytes());
            (0..words.count).map(|nth| words.get(nth).to_owned()).collect::<Vec<_>>().join(" ")
        };
        for (name, expected) in [
            ("X-API-Key", "x api key"),
            ("someAPIKey2", "some api key"),
            ("DB_PASSWORD", "db password"),
            ("spring.datasource.password", "spring datasource password"),
            ("_authToken", "auth token"),
            ("accessToken", "access token"),
        ] {
            assert_eq!(words(name), expected);
        }
    }

    #[test]
    fn names_are_told_by_their_words() {
        let secret = [
            "password",
            "DB_PASSWORD",
            "userPassword2",
            "smtp_pass",
            "MYSQL_PWD",
            "client_secret",
            "clientSecret",
            "apikey",
            "API_KEY",
            "X-Api-Key",
            "apiKeys",
            "accessToken",
            "refresh_token",
            "_authToken",
            "GITHUB_PAT",
            "secret_key_base",
            "my_password_super_secure",
            "client-key-data",
            "private_key",
            "ACCOUNTKEY",
            "access_token2",
            "aws.secretKey",
        ];
        let open = [
            "token_count",
            "maxTokens",
            "public_key",
            "publicKey",
            "primary_key",
            "cacheKey",
            "CACHE_KEY",
            "sort_key",
            "IDEMPOTENCY_KEY",
            "page_token",
            "nextPageToken",
            "next_token",
            "password_file",
            "tokenUrl",
            "key",
            "monkey",
            "author",
            "passenger",
            "first_pass",
            "pass",
            "secretName",
            "tokenizer",
            "keyboard",
            "password_reset_url",
            "access_key_id",
            "api_key_name",
            "token_type",
            "PATH",
            "pattern",
            "keyPath",
            "foreignKey",
            "hash_key",
        ];
        for name in secret {
            assert!(sense(name.as_bytes()).is_some(), "{name}");
        }
        for name in open {
            assert!(sense(name.as_bytes()).is_none(), "{name}");
        }
    }
}
