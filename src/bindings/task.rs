//! Work that runs on another thread and comes back as a promise.

use std::panic::{AssertUnwindSafe, catch_unwind};

use napi::bindgen_prelude::*;
use napi_derive::napi;

/// A piece of work for libuv's threads.
pub struct Background<T>(Option<Box<dyn FnOnce() -> T + Send>>);

impl<T> Background<T>
where
    T: Send + ToNapiValue + TypeName + 'static,
{
    pub fn run(work: impl FnOnce() -> T + Send + 'static) -> AsyncTask<Self> {
        AsyncTask::new(Background(Some(Box::new(work))))
    }
}

impl<T> Task for Background<T>
where
    T: Send + ToNapiValue + TypeName + 'static,
{
    type Output = T;
    type JsValue = T;

    /// Catches a panic: one that leaves it would end the host process.
    fn compute(&mut self) -> Result<T> {
        let work = self.0.take().ok_or_else(|| Error::from_reason("the work was done before"))?;
        catch_unwind(AssertUnwindSafe(work)).map_err(|_| Error::from_reason("the background work panicked"))
    }

    fn resolve(&mut self, _: Env, output: T) -> Result<T> {
        Ok(output)
    }
}

/// Panics on another thread, so that a test can see a panic arrive as an error.
#[napi(catch_unwind, ts_return_type = "Promise<void>")]
pub fn panic_in_background_for_test() -> AsyncTask<Background<()>> {
    Background::run(|| panic!("asked to panic"))
}
