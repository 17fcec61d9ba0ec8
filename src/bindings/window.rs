//! The window of a model, and what to do where a prompt is too large for it.

use napi_derive::napi;

use super::units::Numbers;
use crate::context::window::{self, Window};

/// `Number.MAX_SAFE_INTEGER`. More than that is no limit to anything in JavaScript.
const EXACT: usize = (1 << 53) - 1;

/// Takes the tokens of a window, its reserve, and the chars that one tool result may hold (NaN: what the window has them
/// hold); leaves the tokens of a prompt, those chars, and the chars that all results may hold together.
#[napi(catch_unwind)]
pub fn window(#[napi(ts_arg_type = "Float64Array")] io: Numbers) {
    let window = Window { tokens: io[0] as usize, reserve: io[1] as usize };
    let each = if io[2].is_nan() { window.result_chars() } else { io[2] as usize };
    for (number, value) in io.iter_mut().zip([window.budget(), each, window.all_results_chars(each)]) {
        *number = if value > EXACT { f64::INFINITY } else { value as f64 };
    }
}

/// Finds the way for a prompt of so many tokens, of which `least` are left once all tool results that can give way have
/// (NaN: none can): 0 it fits, 1 compaction, 2 truncation, 3 both.
#[napi(catch_unwind)]
pub fn route(tokens: f64, budget: f64, least: f64) -> u32 {
    let least = (!least.is_nan()).then_some(least as usize);
    window::route(tokens as usize, budget as usize, least) as u32
}
