//! Background work that returns a promise.

use std::panic::{AssertUnwindSafe, catch_unwind};

use napi::bindgen_prelude::*;
use napi::{ScopedTask, sys};

/// Makes the JavaScript value of the work's result.
type Answer = Box<dyn FnOnce(sys::napi_env) -> Result<sys::napi_value> + Send>;

/// A piece of work for libuv's threads. All work shares one type, since each type takes 8 KB of
/// machine code.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_in_the_background_becomes_an_error() {
        let mut task = Background(Some(Box::new(|| panic!("our mistake"))));
        let error = task.compute().err().unwrap();
        assert_eq!(error.reason, "the background work panicked");
    }
}
