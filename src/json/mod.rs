//! JSON where it stands: values are spans of a row, read without building anything, so that what is not changed keeps
//! every byte.
//!
//! What is read is what `JSON.parse` of the decoded row would give: invalid UTF-8 in a string is U+FFFD, of members of one
//! name the last counts.

pub mod escape;
pub mod literal;
pub mod members;
pub mod number;
pub mod scan;
pub mod tree;
pub mod write;

pub use literal::Literal;
pub use members::{Member, elements, members};
pub use scan::{Kind, Span};
