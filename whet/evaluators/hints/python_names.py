"""Which names of Python's world belong to which hint.

``module.`` is everything in it, ``*.name`` an attribute of anything, the rest is exact.
"""

from __future__ import annotations

NAMES: dict[str, tuple[str, ...]] = {
    "backend_flag": (
        "*.allow_tf32", "*.set_float32_matmul_precision", "*.set_num_threads", "*.set_num_interop_threads",
        "*.set_flush_denormal", "*.use_deterministic_algorithms", "torch.backends.", "sys.setswitchinterval",
        "numpy.seterr", "mkl.", "threadpoolctl.", "*.set_default_dtype", "sys.setrecursionlimit",
    ),
    "clock_access": (
        "time.", "timeit.", "datetime.datetime.now", "datetime.datetime.utcnow", "*.elapsed_time", "*.perf_counter",
        "*.perf_counter_ns", "*.monotonic", "torch.cuda.Event", "torch.cuda.synchronize", "os.times",
        "resource.getrusage", "torch.utils.benchmark.",
    ),
    "content_key": ("hash", "hashlib.", "zlib.crc32", "zlib.adler32", "binascii.crc32", "*.tobytes", "xxhash."),
    "dynamic_code": (
        "exec", "eval", "compile", "__import__", "importlib.", "types.CodeType", "types.FunctionType", "marshal.",
        "pickle.loads", "codeop.", "*.__code__", "*.__globals__", "*.__subclasses__", "runpy.",
    ),
    "early_exit": (
        "os._exit", "sys.exit", "exit", "quit", "os.abort", "os.kill", "os.killpg", "signal.raise_signal", "SystemExit",
        "pytest.skip", "pytest.exit", "pytest.xfail", "unittest.SkipTest",
    ),
    "environment_access": (
        "os.environ", "os.environ.", "os.getenv", "os.environb", "os.putenv", "os.uname", "platform.",
        "socket.gethostname", "os.getpid", "os.getppid", "sys.argv", "sys.flags",
    ),
    "exit_callback": (
        "atexit.", "weakref.finalize", "weakref.ref", "weakref.WeakValueDictionary", "weakref.WeakKeyDictionary",
        "signal.signal", "signal.setitimer", "signal.alarm", "threading.Timer",
    ),
    "file_access": (
        "open", "io.open", "os.open", "pathlib.", "tempfile.", "shelve.", "sqlite3.", "dbm.", "shutil.", "*.read_text",
        "*.write_text", "*.read_bytes", "*.write_bytes", "numpy.load", "numpy.save", "numpy.memmap", "numpy.fromfile",
        "*.tofile", "torch.load", "torch.save", "pickle.load", "pickle.dump", "os.listdir", "os.scandir", "os.walk",
        "os.path.exists", "os.remove", "os.unlink", "os.rename", "os.chmod", "os.makedirs", "os.mkdir", "os.symlink",
        "multiprocessing.shared_memory.", "joblib.",
    ),
    "gc_control": ("gc.",),
    "harness_access": (
        "sys.modules", "sys._getframe", "sys._current_frames", "sys.settrace", "sys.setprofile", "sys.meta_path",
        "sys.path", "sys.path.", "sys.path_hooks", "sys.monitoring.", "inspect.", "traceback.", "linecache.",
        "tracemalloc.", "*.f_back", "*.f_globals", "*.f_locals", "*.tb_frame", "*.gi_frame", "whet", "whet.", "inside",
        "inside.", "__main__", "__main__.", "pytest", "pytest.", "_pytest.", "unittest", "unittest.", "sitecustomize",
        "usercustomize", "site.", "faulthandler.", "threading.settrace", "sys.addaudithook", "sys.excepthook",
    ),
    "identity_key": (
        "id", "*.data_ptr", "*._version", "*.__array_interface__", "*.untyped_storage", "*.storage",
        "*.__cuda_array_interface__", "operator.is_",
    ),
    "lower_precision": (
        "*.half", "*.bfloat16", "*.float16", "*.float32", "numpy.single", "numpy.half", "torch.half", "*.HalfTensor",
        "*.BFloat16Tensor", "torch.autocast", "torch.cuda.amp.", "torch.amp.",
    ),
    "memoised": ("functools.lru_cache", "functools.cache", "functools.cached_property", "joblib.Memory", "cachetools."),
    "memory_access": (
        "ctypes.", "cffi.", "mmap.", "_ctypes.", "*.ctypes", "numpy.lib.stride_tricks.", "numpy.frombuffer",
        "memoryview",
    ),
    "network_access": (
        "socket.", "urllib.", "http.", "requests.", "httpx.", "aiohttp.", "ftplib.", "smtplib.", "xmlrpc.",
    ),
    "process_start": (
        "subprocess.", "multiprocessing.", "os.fork", "os.forkpty", "os.posix_spawn", "os.posix_spawnp", "os.system",
        "os.popen", "os.execv", "os.execve", "os.execvp", "os.spawnv", "pty.", "concurrent.futures.ProcessPoolExecutor",
    ),
    "random_state": (
        "random.seed", "random.getstate", "random.setstate", "numpy.random.seed", "torch.manual_seed", "*.get_state",
    ),
    "scheduling": (
        "os.sched_setaffinity", "os.sched_getaffinity", "os.nice", "os.setpriority", "os.cpu_count",
        "resource.setrlimit",
    ),
    "stream_access": (
        "os.write", "os.read", "os.dup", "os.dup2", "os.pipe", "os.fdopen", "os.close", "sys.__stdout__",
        "sys.__stderr__",
    ),
    "thread_start": (
        "threading.Thread", "threading.Timer", "_thread.", "asyncio.", "concurrent.futures.", "queue.", "trio.",
        "anyio.", "greenlet.", "gevent.",
    ),
    "uninitialised_memory": (
        "numpy.empty", "numpy.empty_like", "torch.empty", "torch.empty_like", "torch.empty_strided", "*.new_empty",
        "numpy.ndarray", "*.resize_",
    ),
}  # fmt: skip

EXACT = {name: hint for hint, names in NAMES.items() for name in names if not name.startswith("*") and name[-1] != "."}
PREFIXES = {name: hint for hint, names in NAMES.items() for name in names if name[-1] == "."}
ATTRIBUTES = {name[2:]: hint for hint, names in NAMES.items() for name in names if name.startswith("*")}
TELLING = frozenset(
    {part for name in (*EXACT, *PREFIXES) for part in name.strip(".").split(".") if len(part) > 3} | set(ATTRIBUTES)
) - {
    "open",
    "hash",
    "queue",
    "site",
    "path",
    "exit",
    "random",
    "signal",
    "ndarray",
    "single",
    "compile",
    "storage",
    "load",
    "save",
}
"""Words that nobody builds from pieces without a reason."""


def hint_of(name: str) -> str | None:
    """Returns the hint that a dotted name belongs to, if any."""
    if name in EXACT:
        return EXACT[name]
    parts = name.split(".")
    for length in range(len(parts) - 1, 0, -1):
        if (prefix := ".".join(parts[:length]) + ".") in PREFIXES:
            return PREFIXES[prefix]
    return ATTRIBUTES.get(parts[-1]) if len(parts) > 1 else None
