//! The parts of a text that a cut may keep.

use proptest::prelude::*;
use spillway::policy::Keep;

/// The parts that a caller may ask for. The last leaves the choice to the engine.
pub const KEEPS: [Keep; 6] = [Keep::Head, Keep::Tail, Keep::Ends, Keep::Findings, Keep::Relevant, Keep::Auto];

/// Generates any part, with that of OpenClaw's names.
pub fn keep() -> impl Strategy<Value = Keep> {
    prop_oneof![6 => prop::sample::select(&KEEPS[..]), 1 => Just(Keep::HeadOrEnds)]
}
