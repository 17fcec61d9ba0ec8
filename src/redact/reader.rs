//! A place in a text, and the quotes of programs, shells, JSON within JSON and HTML.

/// A text, and a place in it.
#[derive(Clone, Copy, Debug)]
pub struct TextCursor<'t> {
    pub text: &'t [u8],
    pub at: usize,
}

impl<'t> TextCursor<'t> {
    pub fn rest(&self) -> &'t [u8] {
        &self.text[self.at.min(self.text.len())..]
    }

    pub fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    /// Skips what is given.
    pub fn skip(&mut self, text: &[u8]) -> bool {
        let is_there = self.rest().starts_with(text);
        self.at += if is_there { text.len() } else { 0 };
        is_there
    }

    /// Skips bytes of a kind, at most some.
    pub fn skip_while(&mut self, most: usize, is: impl Fn(u8) -> bool) -> usize {
        let long = self.rest().iter().take(most).take_while(|&&byte| is(byte)).count();
        self.at += long;
        long
    }

    pub fn blanks(&mut self) -> usize {
        self.skip_while(64, |byte| byte == b' ' || byte == b'\t')
    }

    /// Skips a quote, and returns it.
    pub fn quote(&mut self) -> Option<Quote> {
        let quote = Quote::at(self.rest())?;
        self.at += quote.length();
        Some(quote)
    }
}

/// A quote: some backslashes and a mark, an entity of HTML, or three marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quote {
    pub slashes: usize,
    pub mark: &'static [u8],
}

impl Quote {
    pub fn at(text: &[u8]) -> Option<Quote> {
        let slashes = text.iter().take(16).take_while(|&&byte| byte == b'\\').count();
        let rest = &text[slashes..];
        let marks: [&'static [u8]; 8] = [b"\"\"\"", b"'''", b"\"", b"'", b"`", b"&quot;", b"&#34;", b"&#39;"];
        let first = *rest.first()?;
        if !b"\"'`&".contains(&first) {
            return None;
        }
        let mark = marks.into_iter().find(|mark| rest.starts_with(mark))?;
        Some(Quote { slashes, mark })
    }

    pub fn length(&self) -> usize {
        self.slashes + self.mark.len()
    }

    pub fn is_single(&self) -> bool {
        self.mark == b"'"
    }

    /// Returns the place of the quote that closes this one in its line, and true if there is one.
    pub fn close(&self, text: &[u8]) -> (usize, bool) {
        let first = self.mark[0];
        let is_block = self.mark.len() == 3;
        let (mut at, mut from) = (0, 0);
        while let Some(&byte) = text.get(at) {
            match byte {
                b'\n' | b'\r' if !is_block => return (at, false),
                b'\\' => at += 1,
                _ if byte == first && text[at..].starts_with(self.mark) => {
                    let slashes = text[from..at].iter().rev().take_while(|&&byte| byte == b'\\').count();
                    let is_escaped =
                        if self.slashes == 0 { slashes % 2 == 1 } else { slashes > self.slashes };
                    if !is_escaped {
                        return (at - slashes.min(self.slashes), true);
                    }
                    at += self.mark.len();
                    from = at;
                }
                _ => at += 1,
            }
        }
        (text.len(), false)
    }
}
