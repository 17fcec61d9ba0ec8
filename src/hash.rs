//! Hashes for comparing thousands of texts.

use std::hash::{DefaultHasher, Hasher};

/// Hashes bytes. Equal bytes have equal hashes; collisions are rare.
pub fn hash(bytes: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(bytes);
    hasher.finish()
}
