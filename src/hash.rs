//! Numbers that stand for texts which are compared by the thousand.

use std::hash::{DefaultHasher, Hasher};

/// Hashes bytes: the same ones always alike, others alike by chance alone.
pub fn hash(bytes: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(bytes);
    hasher.finish()
}
