//! JSON in place: values are spans of a row and nothing is built, which keeps unchanged bytes as they are.
//!
//! Values read as `JSON.parse` of the decoded row would give them: invalid UTF-8 in strings becomes U+FFFD, and the
//! last of several members with one name counts.

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
