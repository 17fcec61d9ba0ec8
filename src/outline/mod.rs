//! A JSON value as lines that a person reads.
//!
//! ```text
//! {"exitCode":1,"stdout":"one\ntwo \"2\"","rows":[{"id":1},{"id":2,"note":"a\nb"}]}
//!
//! exitCode: 1
//! stdout: |
//!   one
//!   two "2"
//! rows[0]: {"id":1}
//! rows[1].id: 2
//! rows[1].note: |
//!   a
//!   b
//! ```
//!
//! A line is found by a search for what its string means, since no string is escaped: a container
//! shares one line only if its JSON needs no escape. A string with line ends, or a long one, stands
//! below its path, indented, so that no content passes for a path. All of this depends on the bytes
//! alone, not on the pieces in which they come. Memory is bounded: some lines, the path, and a bit
//! for each level.

mod event;
mod layout;
mod lexer;
mod path;

pub use layout::{DEPTH, WIDTH};
pub use lexer::{DEEPEST, NotJson};

use layout::LineLayout;
use lexer::Lexer;

/// An object or a list that arrives in pieces, written as lines.
#[derive(Clone, Debug, Default)]
pub struct Outline {
    lexer: Lexer,
    layout: LineLayout,
}

impl Outline {
    /// Takes the next bytes, and adds the lines that they decide.
    pub fn push(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> Result<(), NotJson> {
        let Outline { lexer, layout } = self;
        lexer.push(bytes, |event| layout.add(event, out))
    }

    /// Returns true once the value has ended.
    pub fn is_whole(&self) -> bool {
        self.lexer.is_whole()
    }

    /// Ends the bytes. Of a value that is not whole, adds the lines as far as they came.
    pub fn finish(&mut self, out: &mut Vec<u8>) {
        self.layout.finish(out);
    }
}
