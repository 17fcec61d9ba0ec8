//! Ids of saved outputs, computed from the call and the content.
//!
//! An id stands in text that a model reads, and providers cache prompts by their exact text. So the
//! same output of the same call has to have the same id in any process: an agent that converts its
//! stored results again for each request would otherwise break the cache at the first saved one,
//! and save another copy. No clock and no random number takes part.
//!
//! * **Final ids** hash the key of the store, the tool, the id of the call, the kept bytes, and the
//!   size of the whole. They are known once the output has ended. Two processes that save the same
//!   output write a file each and rename it to the same name, so one copy is left and both name it.
//! * **Running ids** name an output that is still written, so that a model can page what a job has
//!   printed so far. They hash the same without content, since how much of it comes at once is
//!   chance, and a number that is raised past each other output of that call. Once the output ends,
//!   an alias leads from the running id, which a model may have read, to the final one.
//!
//! An id of 16 digits is half as long as a hash that cannot be collided, and content is hostile: a
//! tool whose output had the id of another one would replace it. Also, in a store with outputs of
//! several users, whoever can guess an output could ask for it by its id. Both need the hash to be
//! computed, so it is keyed, like an HMAC, by a secret of the store. Without the key an id can
//! neither be foreseen nor searched for, and random ones of the same length would be no safer.

use sha2::{Digest, Sha256};

use super::file_name::OutputSize;

/// The secret of a store.
#[derive(Clone, Debug)]
pub struct StoreKey([u8; 32]);

impl StoreKey {
    /// Bytes of a key in a file.
    pub const BYTES: usize = 32;

    /// Derives a key from a secret of any length.
    pub fn of(secret: &[u8]) -> StoreKey {
        StoreKey(Sha256::digest(secret).into())
    }
}

/// The identity of an output, as far as it has come.
#[derive(Clone)]
pub struct Identity {
    key: StoreKey,
    hash: Sha256,
}

impl Identity {
    pub fn new(key: StoreKey, tool: &str, call: &str) -> Identity {
        let mut hash = Sha256::new();
        hash.update(key.0);
        for name in [tool, call] {
            hash.update((name.len() as u64).to_le_bytes());
            hash.update(name);
        }
        Identity { key, hash }
    }

    /// Adds content.
    pub fn add(&mut self, bytes: &[u8]) {
        self.hash.update(bytes);
    }

    /// Returns the id under which the output can be read while it is written. `nth`: of the outputs
    /// of the call. Content is not added yet.
    pub fn running(&self, nth: u32) -> String {
        self.sealed(b"running", &[u64::from(nth)])
    }

    /// Returns the id of the ended output.
    pub fn finished(&self, whole: OutputSize) -> String {
        self.sealed(b"finished", &[whole.bytes, whole.lines])
    }

    fn sealed(&self, state: &[u8], numbers: &[u64]) -> String {
        let mut outer = Sha256::new();
        outer.update(self.key.0);
        outer.update(state);
        numbers.iter().for_each(|number| outer.update(number.to_le_bytes()));
        outer.update(self.hash.clone().finalize());
        outer.finalize()[..8].iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

impl std::fmt::Debug for Identity {
    fn fmt(&self, out: &mut std::fmt::Formatter) -> std::fmt::Result {
        out.write_str("Identity")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(secret: &str, tool: &str, call: &str, content: &[&str], bytes: u64) -> String {
        let mut identity = Identity::new(StoreKey::of(secret.as_bytes()), tool, call);
        content.iter().for_each(|part| identity.add(part.as_bytes()));
        identity.finished(OutputSize { bytes, lines: 1 })
    }

    #[test]
    fn an_id_depends_on_all_that_it_stands_for_and_on_nothing_else() {
        let one = id("key", "bash", "c1", &["ab", "c"], 3);
        assert_eq!(one, id("key", "bash", "c1", &["abc"], 3));
        let others = [
            id("yek", "bash", "c1", &["abc"], 3),
            id("key", "bas", "hc1", &["abc"], 3),
            id("key", "bash", "c", &["1abc"], 3),
            id("key", "bash", "c2", &["abc"], 3),
            id("key", "bash", "c1", &["abd"], 3),
            id("key", "bash", "c1", &["abc"], 4),
        ];
        assert!(!others.contains(&one));
        assert!(one.len() == 16 && one.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')));
    }

    #[test]
    fn running_ids_are_others() {
        let identity = Identity::new(StoreKey::of(b"key"), "bash", "");
        let whole = OutputSize { bytes: 0, lines: 0 };
        let ids = [identity.running(0), identity.running(1), identity.finished(whole)];
        assert!(ids[0] != ids[1] && ids[0] != ids[2] && ids[1] != ids[2]);
    }
}
