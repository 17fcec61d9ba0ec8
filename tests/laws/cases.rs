//! How many cases the laws try.

use proptest::test_runner::{Config, RngSeed};

/// Returns the cases of `npm test`, or `SPILLWAY_CASES`, for a law whose cases are `weight` times
/// as dear as the cheapest.
pub fn cases(weight: u32) -> Config {
    let cases: u32 = std::env::var("SPILLWAY_CASES")
        .map_or(100, |cases| cases.parse().expect("SPILLWAY_CASES is a number"));
    let cases = (cases / weight).max(30);
    Config {
        cases,
        rng_seed: seed(),
        failure_persistence: None,
        max_global_rejects: cases.max(1_024),
        ..Config::default()
    }
}

/// Returns 1, or `SPILLWAY_SEED`: a number, or `random`. A change is to fail by what it changes,
/// not by the day's cases.
fn seed() -> RngSeed {
    match std::env::var("SPILLWAY_SEED").as_deref() {
        Err(_) => RngSeed::Fixed(1),
        Ok("random") => RngSeed::Random,
        Ok(seed) => RngSeed::Fixed(seed.parse().expect("SPILLWAY_SEED is a number or `random`")),
    }
}

/// Returns true if laws without random cases try everything.
pub fn is_long() -> bool {
    std::env::var("SPILLWAY_CASES").is_ok()
}
