//! The budget of a model's context.

pub mod plan;
pub mod window;
