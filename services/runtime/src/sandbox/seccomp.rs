//! Second layer: seccomp, by which a process gives up every system call that is not listed here.
//!
//! A call that is not listed fails with EPERM. `clone3` fails with ENOSYS, because its flags cannot be looked at: the C
//! library then uses `clone`, which is allowed for threads only.

use std::collections::BTreeMap;
use std::io;

use libc::c_long;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule, TargetArch,
};

/// Memory, threads, time, signals to itself, and descriptors that are open already.
const COMPUTING: &[c_long] = &[
    libc::SYS_brk,
    libc::SYS_mmap,
    libc::SYS_munmap,
    libc::SYS_mremap,
    libc::SYS_mprotect,
    libc::SYS_madvise,
    libc::SYS_membarrier,
    libc::SYS_memfd_create,
    libc::SYS_mincore,
    libc::SYS_futex,
    libc::SYS_set_robust_list,
    libc::SYS_rseq,
    libc::SYS_set_tid_address,
    libc::SYS_gettid,
    libc::SYS_getpid,
    libc::SYS_getppid,
    libc::SYS_exit,
    libc::SYS_exit_group,
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_sigaltstack,
    libc::SYS_restart_syscall,
    libc::SYS_sched_yield,
    libc::SYS_sched_getaffinity,
    libc::SYS_getcpu,
    libc::SYS_getrandom,
    libc::SYS_getrusage,
    libc::SYS_sysinfo,
    libc::SYS_uname,
    libc::SYS_clock_gettime,
    libc::SYS_clock_getres,
    libc::SYS_clock_nanosleep,
    libc::SYS_nanosleep,
    libc::SYS_gettimeofday,
    libc::SYS_read,
    libc::SYS_write,
    libc::SYS_readv,
    libc::SYS_writev,
    libc::SYS_pread64,
    libc::SYS_pwrite64,
    libc::SYS_lseek,
    libc::SYS_close,
    libc::SYS_fstat,
    libc::SYS_ftruncate,
    libc::SYS_dup,
    libc::SYS_ppoll,
];

/// Opening files and looking at them, where Landlock allows it.
const FILES: &[c_long] = &[
    libc::SYS_openat,
    libc::SYS_newfstatat,
    libc::SYS_statx,
    libc::SYS_getdents64,
    libc::SYS_readlinkat,
    libc::SYS_fsync,
    libc::SYS_fdatasync,
    libc::SYS_flock,
    libc::SYS_unlinkat,
    libc::SYS_mkdirat,
    libc::SYS_renameat2,
];

/// Restricts this process to what computes; `opens_files`: and what opens files.
pub(super) fn restrict(opens_files: bool) -> io::Result<()> {
    // The stricter answer of two filters counts.
    let no_clone3 = program([(libc::SYS_clone3, Vec::new())].into(), SeccompAction::Allow, refuse(libc::ENOSYS))?;
    let listed = program(rules(opens_files)?, refuse(libc::EPERM), SeccompAction::Allow)?;
    seccompiler::apply_filter(&no_clone3).map_err(io::Error::other)?;
    seccompiler::apply_filter(&listed).map_err(io::Error::other)
}

const fn refuse(errno: i32) -> SeccompAction {
    SeccompAction::Errno(errno.unsigned_abs())
}

fn program(
    rules: BTreeMap<i64, Vec<SeccompRule>>,
    otherwise: SeccompAction,
    listed: SeccompAction,
) -> io::Result<BpfProgram> {
    let target = TargetArch::try_from(std::env::consts::ARCH).map_err(io::Error::other)?;
    let filter = SeccompFilter::new(rules, otherwise, listed, target).map_err(io::Error::other)?;
    filter.try_into().map_err(io::Error::other)
}

fn rules(opens_files: bool) -> io::Result<BTreeMap<i64, Vec<SeccompRule>>> {
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> = BTreeMap::new();
    rules.extend(COMPUTING.iter().map(|call| (*call, Vec::new())));
    #[cfg(target_arch = "x86_64")]
    rules.extend([libc::SYS_poll, libc::SYS_time, libc::SYS_arch_prctl].map(|call| (call, Vec::new())));
    // Refused by the other filter, which must be the one that says how.
    rules.insert(libc::SYS_clone3, Vec::new());
    if opens_files {
        rules.extend(FILES.iter().map(|call| (*call, Vec::new())));
    }
    let threads = libc::CLONE_THREAD.unsigned_abs().into();
    rules.insert(libc::SYS_clone, vec![rule(0, SeccompCmpOp::MaskedEq(threads), threads)?]);
    // Its own threads, for `abort`.
    let own = rustix::process::getpid().as_raw_pid().unsigned_abs().into();
    rules.insert(libc::SYS_tgkill, vec![rule(0, SeccompCmpOp::Eq, own)?]);
    // Names of threads and of mappings.
    let prctl = |what: i32| rule(0, SeccompCmpOp::Eq, what.unsigned_abs().into());
    rules.insert(libc::SYS_prctl, vec![prctl(libc::PR_SET_NAME)?, prctl(libc::PR_SET_VMA)?]);
    // Reading limits, not setting them.
    rules.insert(libc::SYS_prlimit64, vec![pointer_is_null(2)?]);
    let fcntl = |what: i32| rule(1, SeccompCmpOp::Eq, what.unsigned_abs().into());
    let harmless = [libc::F_GETFD, libc::F_SETFD, libc::F_GETFL, libc::F_DUPFD_CLOEXEC, libc::F_ADD_SEALS];
    rules.insert(libc::SYS_fcntl, harmless.into_iter().map(fcntl).collect::<io::Result<_>>()?);
    Ok(rules)
}

fn rule(argument: u8, is: SeccompCmpOp, value: u64) -> io::Result<SeccompRule> {
    condition(argument, SeccompCmpArgLen::Dword, is, value)
}

fn pointer_is_null(argument: u8) -> io::Result<SeccompRule> {
    condition(argument, SeccompCmpArgLen::Qword, SeccompCmpOp::Eq, 0)
}

fn condition(argument: u8, length: SeccompCmpArgLen, is: SeccompCmpOp, value: u64) -> io::Result<SeccompRule> {
    let condition = SeccompCondition::new(argument, length, is, value).map_err(io::Error::other)?;
    SeccompRule::new(vec![condition]).map_err(io::Error::other)
}
