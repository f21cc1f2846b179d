"""Which names of C and C++ belong to which hint."""

from __future__ import annotations

NAMES: dict[str, tuple[str, ...]] = {
    "clock_access": (
        "clock", "clock_gettime", "gettimeofday", "time", "times", "getrusage", "chrono", "steady_clock",
        "system_clock", "high_resolution_clock", "rdtsc", "__rdtsc", "__rdtscp", "_rdtsc", "nanosleep", "usleep",
        "sleep", "sleep_for", "clock_settime", "settimeofday",
    ),
    "dynamic_linking": ("dlopen", "dlsym", "dlvsym", "dlmopen", "dl_iterate_phdr", "dladdr", "RTLD_NEXT"),
    "early_exit": ("exit", "_exit", "_Exit", "quick_exit", "abort", "kill", "raise", "terminate", "longjmp"),
    "environment_access": (
        "getenv", "secure_getenv", "setenv", "putenv", "environ", "__environ", "uname", "getpid", "getppid", "argv",
    ),
    "exit_callback": (
        "atexit", "on_exit", "at_quick_exit", "__cxa_atexit", "signal", "sigaction", "setitimer", "alarm",
        "timer_create",
    ),
    "fast_math": (
        "fesetround", "feenableexcept", "fesetenv", "_mm_setcsr", "_MM_SET_FLUSH_ZERO_MODE",
        "_MM_SET_DENORMALS_ZERO_MODE",
    ),
    "file_access": (
        "fopen", "fopen64", "open", "openat", "creat", "ifstream", "ofstream", "fstream", "shm_open", "memfd_create",
        "tmpfile", "mkstemp", "opendir", "unlink", "rename", "filesystem",
    ),
    "identity_key": ("uintptr_t", "intptr_t", "addressof", "hash"),
    "lower_precision": (
        "_Float16", "__bf16", "__fp16", "rsqrtss", "_mm_rsqrt_ps", "_mm_rcp_ps", "_mm256_rcp_ps", "_mm256_rsqrt_ps",
    ),
    "memory_access": (
        "ptrace", "process_vm_readv", "process_vm_writev", "mprotect", "mmap", "mremap", "brk", "sbrk", "userfaultfd",
    ),
    "network_access": ("socket", "connect", "sendto", "recvfrom", "getaddrinfo"),
    "process_start": (
        "fork", "vfork", "clone", "clone3", "execv", "execve", "execvp", "execl", "execlp", "posix_spawn", "system",
        "popen", "daemon",
    ),
    "random_state": ("srand", "srandom", "srand48"),
    "scheduling": (
        "sched_setaffinity", "sched_setscheduler", "setpriority", "nice", "setrlimit", "pthread_setaffinity_np",
        "prctl",
    ),
    "stream_access": ("dup", "dup2", "pipe", "fdopen", "freopen"),
    "system_call": ("syscall",),
    "thread_start": ("thread", "jthread", "async", "thrd_create", "barrier", "latch", "execution"),
}  # fmt: skip

HINTS = {name: hint for hint, names in NAMES.items() for name in names}
PREFIXES = {"pthread_": "thread_start", "omp_": "thread_start", "tbb": "thread_start", "io_uring": "system_call"}

DEFINED = frozenset({
    "malloc", "calloc", "realloc", "free", "memcpy", "memset", "memcmp", "strlen", "clock", "clock_gettime",
    "gettimeofday", "time", "exit", "_exit", "write", "read", "printf", "puts", "operatornew", "operatornew[]",
    "operatordelete", "operatordelete[]", "__libc_start_main", "_start", "_init", "_fini",
})  # fmt: skip
"""Functions that a program has from its libraries."""

TEXTS = {
    r"/proc/|/dev/mem|/sys/": "memory_access",
    r"LD_PRELOAD|LD_LIBRARY_PATH": "environment_access",
    r"/etc/|/tmp/|/dev/shm|/var/": "file_access",
}
"""What a text may name."""
