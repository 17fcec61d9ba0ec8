//! Tokens of an image by its pixels, as providers count them at their default detail.
//!
//! | provider | rule | source |
//! |---|---|---|
//! | Anthropic | 28 px patches, at most 2,576 px and 4,784 patches | platform.claude.com, Vision |
//! | OpenAI | 32 px patches times 1.2, at most 6,000 px and 10,000 patches | developers.openai.com, Images and vision |
//! | Gemini | 258 for each tile of 768 px, at most 3,072 px; 1,120 at least, as from Gemini 3 on | ai.google.dev, Tokens |
//!
//! The rules are those of each provider's largest models. Older models scale images down further,
//! so the estimate errs on the high side, except for OpenAI's mini and nano models, which count up
//! to 2.46 tokens for each of at most 1,536 patches.

/// Returns the tokens of an image for Anthropic, OpenAI and Gemini.
pub fn tokens((width, height): (u32, u32)) -> [f64; 3] {
    let size = (f64::from(width.max(1)), f64::from(height.max(1)));
    [anthropic(size), openai(size), gemini(size)]
}

fn anthropic(size: (f64, f64)) -> f64 {
    patches(size, 28.0, 2_576.0, 4_784.0)
}

fn openai(size: (f64, f64)) -> f64 {
    (patches(size, 32.0, 6_000.0, 10_000.0) * 1.2).ceil()
}

fn gemini(size: (f64, f64)) -> f64 {
    let (width, height) = within(size, 3_072.0);
    let tile = (width.min(height) / 1.5).floor().clamp(256.0, 768.0);
    ((width / tile).ceil() * (height / tile).ceil() * 258.0).max(1_120.0)
}

/// Returns the patches that cover an image, scaled down to a longest edge and to a number of
/// patches.
fn patches(size: (f64, f64), patch: f64, edge: f64, most: f64) -> f64 {
    let (width, height) = within(size, edge);
    let cover = |scale: f64| (width * scale / patch).ceil() * (height * scale / patch).ceil();
    let scale = (most * patch * patch / (width * height)).sqrt().min(1.0);
    cover(scale).min(most)
}

fn within((width, height): (f64, f64), edge: f64) -> (f64, f64) {
    let scale = (edge / width.max(height)).min(1.0);
    ((width * scale).max(1.0), (height * scale).max(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_are_counted_as_published() {
        // Anthropic: 36 x 36 patches for 1,000 x 1,000. OpenAI: 300 patches for 640 x 480. Gemini:
        // 6 tiles.
        assert_eq!(tokens((1_000, 1_000)), [1_296.0, 1_229.0, 1_120.0]);
        assert_eq!(tokens((640, 480))[1], 360.0);
        assert_eq!(tokens((1_920, 1_080)), [2_691.0, 2_448.0, 1_548.0]);
    }

    #[test]
    fn no_size_costs_more_than_the_largest_image() {
        for size in [(u32::MAX, u32::MAX), (u32::MAX, 1), (1, u32::MAX), (0, 0), (8_000, 8_000)] {
            for (tokens, most) in tokens(size).into_iter().zip([4_784.0, 12_000.0, 4_128.0]) {
                assert!(tokens >= 1.0 && tokens <= most, "{size:?}: {tokens}");
            }
        }
    }
}
