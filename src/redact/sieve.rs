//! Finds the places where one of many short texts may begin, by their first bytes.
//!
//! An automaton waits for each of its steps before the next. Here places are independent of each other, so a processor
//! tries several at once.

/// Bytes of a place that are looked at.
const DEPTH: usize = 4;

/// Groups of texts, a bit for each. A place passes if some group allows all of its bytes.
type Groups = u64;

#[derive(Debug)]
pub struct Sieve {
    /// The groups that allow a byte, by its distance from the place.
    allowed: [[Groups; 256]; DEPTH],
}

impl Sieve {
    /// Makes a sieve for texts. Those that are alike stand beside each other.
    pub fn of(texts: &[&String]) -> Sieve {
        let mut allowed = [[0; 256]; DEPTH];
        for (at, text) in texts.iter().enumerate() {
            let group = 1 << (at * Groups::BITS as usize / texts.len());
            for (nth, bytes) in allowed.iter_mut().enumerate() {
                match text.as_bytes().get(nth) {
                    Some(&byte) => bytes[usize::from(byte)] |= group,
                    None => bytes.iter_mut().for_each(|groups| *groups |= group),
                }
            }
        }
        Sieve { allowed }
    }

    /// Returns the first place from `from` on where a text may begin.
    pub fn next(&self, text: &[u8], from: usize) -> Option<usize> {
        let rest = text.get(from..)?;
        let whole = rest.windows(DEPTH).position(|bytes| self.passes(bytes.first_chunk().expect("a window")));
        whole.or_else(|| self.at_end(rest)).map(|at| from + at)
    }

    /// Finds a place with fewer bytes after it.
    fn at_end(&self, text: &[u8]) -> Option<usize> {
        let short = text.len().saturating_sub(DEPTH - 1)..text.len();
        short.into_iter().find(|&at| {
            let mut bytes = [0; DEPTH];
            bytes[..text.len() - at].copy_from_slice(&text[at..]);
            self.passes(&bytes)
        })
    }

    fn passes(&self, bytes: &[u8; DEPTH]) -> bool {
        let allowed = |nth: usize| self.allowed[nth][usize::from(bytes[nth])];
        allowed(0) & allowed(1) & allowed(2) & allowed(3) != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn no_place_is_missed(
            texts in prop::collection::vec("[ab]{1,6}", 1..90),
            text in "[abc]{0,40}",
            from in 0..50usize,
        ) {
            let sieve = Sieve::of(&texts.iter().collect::<Vec<_>>());
            let begins = |at: usize| texts.iter().any(|one| text[at..].starts_with(one));
            if let Some(first) = (from..text.len()).find(|&at| begins(at)) {
                prop_assert!(sieve.next(text.as_bytes(), from).is_some_and(|at| at <= first));
            }
        }
    }

    #[test]
    fn other_places_are_passed_over() {
        let texts = ["sk-".to_string(), "token".to_string()];
        let sieve = Sieve::of(&texts.iter().collect::<Vec<_>>());
        let text = b"skip the tools, toke tokens sk-";
        let next = |from| sieve.next(text, from);
        assert_eq!(
            [next(0), next(17), next(22), next(29), next(99)],
            [Some(16), Some(21), Some(28), None, None]
        );
    }
}
