"""The other files of a C or C++ target's project: where a compiler finds them, and what is made of its sources."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from whet.core.candidate import content_id
from whet.core.task import Task
from whet.sandbox.protocol import Sandbox

SOURCES = {".c": "c", ".cc": "cpp", ".cpp": "cpp", ".cxx": "cpp"}
"""Suffix of a source -> its language."""
OWN = "/tmp/project"
"""Where the files are while they are compiled."""


@dataclass(frozen=True, slots=True)
class Beside:
    """Those files, and the target's path among them.

    Attributes:
        target: its path under the root of its project.
        texts: path under that root -> text; empty where the target is all that there is.
    """

    target: str
    texts: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, task: Task) -> Beside:
        """Returns those of a task in C or C++; of any other, none."""
        return cls(task.filename, task.support) if task.language in SOURCES.values() else cls(task.filename)

    @property
    def arrival(self) -> list[str]:
        """The steps of a shell that end in the folder where the target's text belongs."""
        if not self.texts:
            return ["cd /tmp"]
        place = shlex.quote(str(PurePosixPath(OWN, self.target).parent))
        return [f'cp -R "$TREE" {OWN}', f"chmod -R u+w {OWN}", f"mkdir -p {place}", f"cd {place}"]

    @property
    def includes(self) -> list[str]:
        """The words that name the folders of headers."""
        headers = [PurePosixPath(path) for path in self.texts if PurePosixPath(path).suffix not in SOURCES]
        return [f"-I{OWN}/{folder}" for folder in sorted({str(above) for one in headers for above in one.parents})]

    @property
    def languages(self) -> list[str]:
        """The language of each source."""
        suffixes = (PurePosixPath(path).suffix for path in self.texts)
        return [SOURCES[suffix] for suffix in suffixes if suffix in SOURCES]

    def compiled(self, compiler: Callable[[str], list[str]]) -> tuple[list[str], list[str]]:
        """Returns the steps that compile each source, and the objects that they make.

        Args:
            compiler: the words that compile a language.
        """
        sources = [path for path in self.texts if PurePosixPath(path).suffix in SOURCES]
        objects = [f"/tmp/other-{number}.o" for number in range(len(sources))]
        steps = [
            shlex.join([*compiler(language), *self.includes, "-c", f"{OWN}/{path}", "-o", made])
            for path, language, made in zip(sources, self.languages, objects, strict=True)
        ]
        return steps, objects

    @contextmanager
    def staged(self, sandbox: Sandbox, purpose: str) -> Iterator[Path | None]:
        """Shows them as a tree while something is compiled; None where there are none.

        Args:
            sandbox: where.
            purpose: names the tree: what is compiled at the same time has another.
        """
        if not self.texts:
            yield None
            return
        tree = sandbox.stage(
            f"beside-{content_id(purpose)}", {path: text.encode() for path, text in self.texts.items()}
        )
        try:
            yield tree
        finally:
            shutil.rmtree(tree)
