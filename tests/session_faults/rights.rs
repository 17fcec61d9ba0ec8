//! Who may do what with the files that a repair makes: as with the session, never more.

#![cfg(target_os = "linux")]

use std::os::unix::fs::{MetadataExt, PermissionsExt};

use rustix::fs::{Gid, Uid, XattrFlags, chown, getxattr, listxattr, setxattr};
use rustix::io::Errno;

use super::exchange::{NO_LINKS, Place, place, small, where_refused};
use super::*;

const ACCESS: &str = "system.posix_acl_access";
const DEFAULT: &str = "system.posix_acl_default";

/// An access list: the owner and user 1000 may read and write, the group nothing, where the mode
/// tells of `mask`.
fn access(mask: u16) -> Vec<u8> {
    let entry = |tag: u16, may: u16, id: u32| {
        [&tag.to_le_bytes()[..], &may.to_le_bytes(), &id.to_le_bytes()].concat()
    };
    let all = u32::MAX;
    let entries =
        [entry(1, 6, all), entry(2, 6, 1000), entry(4, 0, all), entry(16, mask, all), entry(32, 0, all)];
    [2u32.to_le_bytes().to_vec(), entries.concat()].concat()
}

/// Sets an attribute; false where the file system has none.
fn set(path: &Path, name: &str, value: &[u8]) -> bool {
    match setxattr(path, name, value, XattrFlags::empty()) {
        Err(Errno::NOTSUP) => false,
        set => set.map(|()| true).unwrap(),
    }
}

fn attributes(path: &Path) -> Vec<(String, Vec<u8>)> {
    let mut names = vec![0; 65_536];
    let length = listxattr(path, &mut names[..]).unwrap_or(0);
    let mut all: Vec<(String, Vec<u8>)> = names[..length]
        .split(|byte| *byte == 0)
        .filter(|name| name.starts_with(b"user.") || name.starts_with(b"system."))
        .map(|name| {
            let (name, mut value) = (String::from_utf8(name.to_vec()).unwrap(), vec![0; 65_536]);
            let length = getxattr(path, &*name, &mut value[..]).unwrap();
            value.truncate(length);
            (name, value)
        })
        .collect();
    all.sort();
    all
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().mode() & 0o7777
}

/// A session that has a mode.
fn with_mode(mode: u32) -> Place {
    let place = place(&small());
    fs::set_permissions(&place.path, fs::Permissions::from_mode(mode)).unwrap();
    place
}

#[test]
fn attributes_and_access_lists_stay_and_no_others_come() {
    let place = with_mode(0o600);
    let has_access = set(&place.path, ACCESS, &access(6));
    let has_notes = set(&place.path, "user.note", b"of mine");
    let (before, mode_before) = (attributes(&place.path), mode(&place.path));
    assert_eq!(before.len(), usize::from(has_access) + usize::from(has_notes));
    assert!(repair(&request(&place.path), &Progress::default()).unwrap().changed);
    assert_eq!((attributes(&place.path), mode(&place.path)), (before, mode_before));

    // Rights that a directory gives its new files are not rights of the session.
    let other = with_mode(0o640);
    set(other.path.parent().unwrap(), DEFAULT, &access(6));
    assert!(repair(&request(&other.path), &Progress::default()).unwrap().changed);
    assert_eq!((attributes(&other.path), mode(&other.path)), (vec![], 0o640));
}

#[test]
fn an_attribute_that_cannot_be_kept_stops_the_repair() {
    let place = with_mode(0o600);
    if !set(&place.path, "user.note", b"of mine") {
        // The list of a file system without attributes is refused just so.
        let refused = [(libc::SYS_flistxattr, libc::EACCES)];
        assert!(where_refused(&refused, || repair(&request(&place.path), &Progress::default())).is_err());
        return;
    }
    for (call, errno, name) in
        [(libc::SYS_fsetxattr, libc::ENOSPC, "user.note"), (libc::SYS_flistxattr, libc::EACCES, "*")]
    {
        let result = where_refused(&[(call, errno)], || repair(&request(&place.path), &Progress::default()));
        let json = result.unwrap_err().json();
        assert!(json.contains("ERR_SPILLWAY_ATTRIBUTE") && json.contains(name), "{json}");
        assert_eq!(place.names(), ["s.jsonl"]);
        assert!(text(&place.path) == small());
    }
}

#[test]
fn what_is_made_never_has_the_rights_of_a_program() {
    for given in [0o4755, 0o2750, 0o1644, 0o7777, 0o600] {
        let place = with_mode(given);
        assert!(repair(&request(&place.path), &Progress::default()).unwrap().changed);
        assert_eq!(mode(&place.path), given & 0o777);
        // The backup is the original file, not a copy.
        assert_eq!(mode(&with_end(&place.path, ".bak")), given);
        let place = with_mode(given);
        assert!(
            where_refused(&[NO_LINKS], || repair(&request(&place.path), &Progress::default()))
                .unwrap()
                .changed
        );
        assert_eq!(mode(&with_end(&place.path, ".bak")), given & 0o777);
    }
}

#[test]
fn what_is_made_belongs_to_who_the_session_belongs_to() {
    // Who is not root makes files of its own alone.
    let (uid, gid) = if rustix::process::geteuid().is_root() {
        (Uid::from_raw(65_534), Gid::from_raw(65_533))
    } else {
        (rustix::process::geteuid(), rustix::process::getegid())
    };
    for calls in [&[][..], &[NO_LINKS]] {
        let place = with_mode(0o4640);
        chown(&place.path, Some(uid), Some(gid)).unwrap();
        assert!(
            where_refused(calls, || repair(&request(&place.path), &Progress::default())).unwrap().changed
        );
        for path in [place.path.clone(), with_end(&place.path, ".bak")] {
            let found = fs::metadata(&path).unwrap();
            assert_eq!((found.uid(), found.gid()), (uid.as_raw(), gid.as_raw()));
            // A change of the owner takes that right from a program.
            assert_eq!(found.mode() & 0o7777, 0o640);
        }
    }
}

#[test]
fn rows_of_another_owner_are_not_taken() {
    let place = place(&small());
    let secret = with_end(&place.path, ".secret");
    fs::write(&secret, "{\"role\":\"user\",\"content\":\"secret\"}\n").unwrap();
    let (old, new) = (number(&secret).unwrap(), number(&place.path).unwrap());
    // A name that claims that the secret was the session, and that nothing of it was read.
    let state = format!("{old:x}-{new:x}-0-0-0-0-1");
    let forged = |count: u64| with_end(&place.path, &format!(".spillway-0.0.{count}.{state}.tmp"));
    std::os::unix::fs::symlink(&secret, forged(1)).unwrap();
    if rustix::process::geteuid().is_root() {
        chown(&place.path, Some(Uid::from_raw(65_534)), None).unwrap();
        fs::hard_link(&secret, forged(2)).unwrap();
    }
    let report =
        repair(&RepairRequest { backup: false, ..request(&place.path) }, &Progress::default()).unwrap();
    assert_eq!(report.recovered, 0);
    assert!(!text(&place.path).contains("secret"));
}
