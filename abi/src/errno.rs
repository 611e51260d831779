//! Error numbers: POSIX's names and values, returned negated by every portal.

/// A call's failure: one POSIX error number. On the wire it is the negated number in `a0`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum Errno {
    /// The caller lacks the authority for this operation.
    PermissionDenied = 1,
    /// No such name.
    NoEntry = 2,
    /// No such domain, thread or portal.
    NoSuchProcess = 3,
    /// The call was abandoned.
    Interrupted = 4,
    /// A device failed.
    Io = 5,
    /// An argument list is too long.
    TooBig = 7,
    /// Not an executable image.
    NoExec = 8,
    /// The portal or descriptor is not open.
    BadDescriptor = 9,
    /// Try again: the object is busy for the moment.
    Again = 11,
    /// Out of memory, or the component's memory limit is reached.
    NoMemory = 12,
    /// The name server's policy refuses this name to this component.
    Access = 13,
    /// A buffer is not memory of the caller, or may not be used this way.
    Fault = 14,
    /// The resource is in use.
    Busy = 16,
    /// The name or slot is taken.
    Exists = 17,
    /// An argument is outside its documented range.
    Invalid = 22,
    /// The system-wide table for this kind of object is full.
    TableFull = 23,
    /// The component's own portal table is full.
    TooManyOpen = 24,
    /// Reading end is gone.
    BrokenPipe = 32,
    /// The call would wait for a stack that this thread itself holds.
    Deadlock = 35,
    /// The name is longer than `NAMELEN - 1` bytes.
    NameTooLong = 36,
    /// The portal slot is empty.
    NoSys = 38,
    /// The thread's invocation stack is full: calls are nested too deeply.
    TooDeep = 40,
    /// A value does not fit.
    Overflow = 75,
    /// The call was not answered in time.
    TimedOut = 110,
    /// The domain that was called died before it returned.
    OwnerDead = 130,
}

impl Errno {
    /// The value that a portal returns for this error: the negated POSIX number.
    pub const fn negated(self) -> isize {
        -(self as i32 as isize)
    }
}

/// All error numbers with the POSIX name and one line of meaning, for the C header and the reference.
pub const ALL: &[(&str, i32, &str)] = &[
    ("EPERM", 1, "the caller lacks the authority"),
    ("ENOENT", 2, "no such name"),
    ("ESRCH", 3, "no such domain, thread or portal"),
    ("EINTR", 4, "the call was abandoned"),
    ("EIO", 5, "a device failed"),
    ("E2BIG", 7, "an argument list is too long"),
    ("ENOEXEC", 8, "not an executable image"),
    ("EBADF", 9, "the portal is not open"),
    ("EAGAIN", 11, "busy for the moment"),
    (
        "ENOMEM",
        12,
        "out of memory, or the component's memory limit is reached",
    ),
    ("EACCES", 13, "the name server's policy refuses the name"),
    (
        "EFAULT",
        14,
        "a buffer is not memory of the caller, or not usable this way",
    ),
    ("EBUSY", 16, "the resource is in use"),
    ("EEXIST", 17, "the name or slot is taken"),
    ("EINVAL", 22, "an argument is outside its range"),
    (
        "ENFILE",
        23,
        "the system-wide table for this kind of object is full",
    ),
    ("EMFILE", 24, "the component's portal table is full"),
    ("EPIPE", 32, "the reading end is gone"),
    (
        "EDEADLK",
        35,
        "the call would wait for a stack that this thread itself holds",
    ),
    ("ENAMETOOLONG", 36, "the name is longer than NAMELEN - 1"),
    ("ENOSYS", 38, "the portal slot is empty"),
    (
        "ELOOP",
        40,
        "the invocation stack is full: calls nested too deeply",
    ),
    ("EOVERFLOW", 75, "a value does not fit"),
    ("ETIMEDOUT", 110, "not answered in time"),
    (
        "EOWNERDEAD",
        130,
        "the domain that was called died before it returned",
    ),
];
