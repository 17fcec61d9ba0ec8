//! Text in the encodings of its callers: measuring, truncation and composition.

pub mod amounts;
pub mod clean;
pub mod count;
pub mod earlier;
pub mod extent;
pub mod kind;
pub mod notice;
pub mod notice_line;
pub mod recode;
pub mod runs;
pub mod saved;
pub mod seam;
pub mod size;
pub mod space;
pub mod template;
pub mod tokens;
pub mod units;
pub mod utf8;
pub mod whole_lines;

pub use saved::Saved;
pub use size::Size;
pub use units::{Latin1, Text, Utf16};
pub use utf8::Utf8;
