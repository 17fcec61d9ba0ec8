//! Background work that returns a promise.

use std::panic::{AssertUnwindSafe, catch_unwind};

use napi::bindgen_prelude::*;
use napi::{ScopedTask, sys};
use napi_derive::napi;

/// Makes the JavaScript value of the work's result.
type Answer = Box<dyn FnOnce(sys::napi_env) -> Result<sys::napi_value> + Send>;

/// A piece of work for libuv's threads. All work shares one type, since each type takes 8 KB of machine code.
pub struct Background(Option<Box<dyn FnOnce() -> Answer + Send>>);

impl Background {
    pub fn run<T: ToNapiValue + Send + 'static>(
        work: impl FnOnce() -> T + Send + 'static,
    ) -> AsyncTask<Background> {
        let work = move || -> Answer {
            let value = work();
            // SAFETY: it is called with the environment that the task belongs to.
            Box::new(move |env| unsafe { T::to_napi_value(env, value) })
        };
        AsyncTask::new(Background(Some(Box::new(work))))
    }
}

impl<'task> ScopedTask<'task> for Background {
    type Output = Answer;
    type JsValue = Unknown<'task>;

    /// Catches panics: an uncaught one would end the host process.
    fn compute(&mut self) -> Result<Answer> {
        let work = self.0.take().ok_or_else(|| Error::from_reason("the work was done before"))?;
        catch_unwind(AssertUnwindSafe(work)).map_err(|_| Error::from_reason("the background work panicked"))
    }

    fn resolve(&mut self, env: &'task Env, answer: Answer) -> Result<Unknown<'task>> {
        // SAFETY: the value was just made in this environment.
        unsafe { Unknown::from_napi_value(env.raw(), answer(env.raw())?) }
    }
}

/// Panics on another thread, for a test that a panic becomes an error.
#[napi(catch_unwind, ts_return_type = "Promise<void>")]
pub fn panic_in_background_for_test() -> AsyncTask<Background> {
    Background::run::<()>(|| panic!("asked to panic"))
}
