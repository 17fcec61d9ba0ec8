//! Reports and stops work on another thread.

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

use super::failure::Failure;

/// The progress of a repair.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProgressCounts {
    pub bytes: u64,
    pub total: u64,
    pub rows: u64,
    pub clamped: u64,
}

/// A callback for each disk operation. A test may end the process in it.
type Hook = Box<dyn Fn(u64) + Send + Sync>;

#[derive(Default)]
pub struct Progress {
    stop: AtomicBool,
    committed: AtomicBool,
    bytes: AtomicU64,
    total: AtomicU64,
    rows: AtomicU64,
    clamped: AtomicU64,
    steps: AtomicU64,
    hook: Option<Hook>,
}

impl Progress {
    /// Calls `hook` before each operation, where a test may end the process.
    pub fn with_hook(hook: impl Fn(u64) + Send + Sync + 'static) -> Progress {
        Progress { hook: Some(Box::new(hook)), ..Progress::default() }
    }

    /// Asks the work to stop at a point that leaves the session unchanged.
    pub fn stop(&self) {
        self.stop.store(true, Relaxed);
    }

    /// Ignores requests to stop from here on.
    pub fn commit(&self) {
        self.committed.store(true, Relaxed);
    }

    /// Counts a step that cannot be undone.
    pub fn note(&self) {
        let step = self.steps.fetch_add(1, Relaxed);
        if let Some(hook) = &self.hook {
            hook(step);
        }
    }

    /// Counts a step, or fails if the work is to stop.
    pub fn step(&self) -> Result<(), Failure> {
        self.note();
        let stops = self.stop.load(Relaxed) && !self.committed.load(Relaxed);
        if stops { Err(Failure::Stopped) } else { Ok(()) }
    }

    pub fn tell(&self, progress: ProgressCounts) {
        self.bytes.store(progress.bytes, Relaxed);
        self.total.store(progress.total, Relaxed);
        self.rows.store(progress.rows, Relaxed);
        self.clamped.store(progress.clamped, Relaxed);
    }

    pub fn counts(&self) -> ProgressCounts {
        ProgressCounts {
            bytes: self.bytes.load(Relaxed),
            total: self.total.load(Relaxed),
            rows: self.rows.load(Relaxed),
            clamped: self.clamped.load(Relaxed),
        }
    }
}

impl fmt::Debug for Progress {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        write!(out, "Progress({:?})", self.counts())
    }
}
