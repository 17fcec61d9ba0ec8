//! What a model's context has room for.

pub mod plan;
pub mod window;
