"""What a sandbox is made of, one switch each, so that an attack can show what each of them is for.

The sandboxes have no such switches; `whet.testing.attacks.weakened` takes parts out of them.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Protections:
    """Which parts of a sandbox are there.

    Attributes:
        drop_privileges: candidates are users of their own, even where whet is root.
        capabilities: no rights of an administrator, not even over the sandbox itself.
        seccomp: system calls that no candidate needs are denied.
        landlock: behind all the others, rules of the kernel on files, TCP, signals and abstract sockets.
        empty_environment: whet's environment ends before the sandbox begins.
        closed_descriptors: whet's open files do.
        network: no interface but a loopback of its own, and no abstract socket of the host.
        pid_namespace: only its own processes can be seen or signalled, and all end with it.
        ipc_namespace: System V memory, semaphores and queues of its own.
        hidden_host_files: nothing of the host but ``/usr`` and the interpreter.
        own_devices: a ``/dev`` with the harmless nodes only.
        read_only_root: nothing outside its own folders can be written.
        fresh_folders: nobody else's ``/tmp``.
        sized_folders: what it writes is bounded.
        file_limit: the size of one file is bounded.
        address_limit: the address space of one process is bounded.
        memory_limit: the memory of all its processes is bounded.
        inode_limit: the number of its files is bounded.
        process_limit: the number of its processes is bounded.
        answer_limit: the size of one answer is bounded.
        turns: an answer that stands there before its question is refused.
    """

    drop_privileges: bool = True
    capabilities: bool = True
    seccomp: bool = True
    landlock: bool = True
    empty_environment: bool = True
    closed_descriptors: bool = True
    network: bool = True
    pid_namespace: bool = True
    ipc_namespace: bool = True
    hidden_host_files: bool = True
    own_devices: bool = True
    read_only_root: bool = True
    fresh_folders: bool = True
    sized_folders: bool = True
    file_limit: bool = True
    address_limit: bool = True
    memory_limit: bool = True
    inode_limit: bool = True
    process_limit: bool = True
    answer_limit: bool = True
    turns: bool = True


ALL_ON = Protections()
