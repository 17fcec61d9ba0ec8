//! Signal details that Node does not expose: if a signal came from the terminal, and which signal ended a child.

use std::io;
use std::mem::{MaybeUninit, transmute};
use std::ptr;
use std::sync::atomic::{AtomicI32, AtomicU32, AtomicUsize, Ordering::SeqCst};

use libc::{SA_SIGINFO, SIG_DFL, SIG_IGN, SIGCHLD, c_int, c_void, sigaction, siginfo_t};
use rustix::process::{Pid, getpgid};

/// Numbers below this can be watched: the classic signals.
const NUMBERS: usize = 32;

/// The two forms of a signal handler.
type Plain = extern "C" fn(c_int);
type Told = extern "C" fn(c_int, *mut siginfo_t, *mut c_void);

/// The state of one watched signal.
#[derive(Debug)]
struct Watched {
    /// The original handler, which runs after ours, and its flags.
    handler: AtomicUsize,
    flags: AtomicI32,
    /// Signals from the terminal that were not asked about yet.
    from_terminal: AtomicU32,
}

static WATCHED: [Watched; NUMBERS] = [const {
    Watched { handler: AtomicUsize::new(0), flags: AtomicI32::new(0), from_terminal: AtomicU32::new(0) }
}; NUMBERS];

/// The signal that ended the most recent child, or 0 if it exited.
static ENDED_BY: AtomicI32 = AtomicI32::new(0);

/// Installs a handler that runs before the current one. Does nothing if the signal has no handler; replacing the
/// handler ends the watch.
pub fn watch(signal: i32) -> io::Result<()> {
    let Some(watched) = usize::try_from(signal).ok().and_then(|signal| WATCHED.get(signal)) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    let mut found = MaybeUninit::<sigaction>::uninit();
    // SAFETY: the first call only writes to `found`. The second installs a handler that touches only atomics, with the
    // flags and the mask of the handler that it calls.
    let outcome = unsafe {
        if sigaction(signal, ptr::null(), found.as_mut_ptr()) != 0 {
            return Err(io::Error::last_os_error());
        }
        let mut ours = found.assume_init();
        if [SIG_DFL, SIG_IGN, heard as *const () as usize].contains(&ours.sa_sigaction) {
            return Ok(());
        }
        watched.handler.store(ours.sa_sigaction, SeqCst);
        watched.flags.store(ours.sa_flags, SeqCst);
        ours.sa_sigaction = heard as *const () as usize;
        ours.sa_flags |= SA_SIGINFO;
        sigaction(signal, &ours, ptr::null_mut())
    };
    if outcome == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

extern "C" fn heard(signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
    let watched = &WATCHED[signal as usize];
    // SAFETY: SA_SIGINFO makes the system pass this information.
    let told = unsafe { &*info };
    if signal == SIGCHLD {
        if let Some(ended_by) = ended_by_of(told) {
            ENDED_BY.store(ended_by, SeqCst);
        }
    } else if is_from_terminal(told) {
        watched.from_terminal.fetch_add(1, SeqCst);
    }
    let handler = watched.handler.load(SeqCst) as *const ();
    // SAFETY: the flags tell which form the handler was installed in.
    unsafe {
        if watched.flags.load(SeqCst) & SA_SIGINFO == 0 {
            transmute::<*const (), Plain>(handler)(signal);
        } else {
            transmute::<*const (), Told>(handler)(signal, info, context);
        }
    }
}

/// Returns the signal that ended a child, 0 if it exited, or `None` if it stopped or continued.
fn ended_by_of(told: &siginfo_t) -> Option<i32> {
    match told.si_code {
        // SAFETY: SIGCHLD has a status.
        libc::CLD_KILLED | libc::CLD_DUMPED => Some(unsafe { told.si_status() }),
        libc::CLD_EXITED => Some(0),
        _ => None,
    }
}

/// Returns true if the kernel sent the signal, as it does for a key of the terminal.
#[cfg(target_os = "linux")]
fn is_from_terminal(told: &siginfo_t) -> bool {
    told.si_code > 0
}

/// Other systems do not report the sender. Signals that arrive while our group is in the foreground count as the
/// terminal's.
#[cfg(not(target_os = "linux"))]
fn is_from_terminal(_: &siginfo_t) -> bool {
    // SAFETY: both calls only query, and may be called in a handler.
    (0..=2).any(|stream| unsafe { libc::tcgetpgrp(stream) == libc::getpgrp() })
}

/// Consumes one signal from the terminal, which sends to our whole process group. Returns true if there was one and
/// `process` is in that group. Call it once per signal.
pub fn terminal_reached(signal: i32, process: i32) -> bool {
    let watched = usize::try_from(signal).ok().and_then(|signal| WATCHED.get(signal));
    let one_less = |count: u32| count.checked_sub(1);
    watched.is_some_and(|watched| watched.from_terminal.fetch_update(SeqCst, SeqCst, one_less).is_ok())
        && is_in_our_group(process)
}

fn is_in_our_group(process: i32) -> bool {
    Pid::from_raw(process).is_some_and(|process| getpgid(Some(process)).ok() == getpgid(None).ok())
}

/// Returns the signal that ended the most recent child, or 0 if it exited. Requires a watch on SIGCHLD.
pub fn ended_by() -> i32 {
    ENDED_BY.load(SeqCst)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::CommandExt;
    use std::process::{Command, Stdio, id};
    use std::time::Duration;

    static HEARD: AtomicU32 = AtomicU32::new(0);

    extern "C" fn count(_: c_int) {
        HEARD.fetch_add(1, SeqCst);
    }

    fn handle(signal: c_int) {
        // SAFETY: the handler only counts.
        unsafe { libc::signal(signal, count as *const () as usize) };
        watch(signal).unwrap();
        watch(signal).unwrap();
    }

    fn until_heard(count: u32) {
        while HEARD.load(SeqCst) < count {
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// A timer stands in for the terminal: the kernel sends its signal too.
    #[test]
    #[cfg(target_os = "linux")]
    fn signals_from_the_kernel_and_from_processes_are_distinguished() {
        let us = id() as i32;
        handle(libc::SIGUSR2);
        handle(libc::SIGALRM);
        // SAFETY: both signals have a handler.
        unsafe { libc::kill(us, libc::SIGUSR2) };
        until_heard(1);
        assert!(!terminal_reached(libc::SIGUSR2, us));
        // SAFETY: as above.
        unsafe { libc::alarm(1) };
        until_heard(2);
        assert!(terminal_reached(libc::SIGALRM, us));
        assert!(!terminal_reached(libc::SIGALRM, us), "it was asked about");
        // SAFETY: as above.
        unsafe { libc::kill(us, libc::SIGALRM) };
        until_heard(3);
        assert!(!terminal_reached(libc::SIGALRM, us));
    }

    #[test]
    fn processes_of_other_groups_are_not_reached() {
        let sleep = || {
            let mut command = Command::new("sleep");
            command.arg("60").stdin(Stdio::null());
            command
        };
        let (mut ours, mut other) = (sleep().spawn().unwrap(), sleep().process_group(0).spawn().unwrap());
        assert!(is_in_our_group(ours.id() as i32));
        assert!(!is_in_our_group(other.id() as i32));
        for child in [&mut ours, &mut other] {
            child.kill().unwrap();
            child.wait().unwrap();
        }
        assert!(!is_in_our_group(other.id() as i32));
    }

    #[test]
    fn signals_without_a_handler_are_ignored() {
        assert!(watch(libc::SIGURG).is_ok());
        assert!(watch(64).is_err() && watch(-1).is_err());
        assert!(!terminal_reached(64, 1) && !terminal_reached(-1, 1));
    }
}
