"""What ``[tool.whet]`` of a project says, read key by key: it is outside data."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any, Self, get_args, get_origin

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model, model_validator

from whet.core.errors import UsageError, nearest
from whet.core.options import CAPS, Budget, Options, declared

ALIKE = 0.7
"""How much of a wrong key has to agree with the one that is suggested. Below, unrelated ones are: build for until."""
PYPROJECT, WHET_TOML = "pyproject.toml", "whet.toml"
SHARED = ("min_speedup", "max_memory", "confidence")
"""Options that a project may state for all of its functions."""


def _declared() -> dict[str, Any]:
    """Returns the fields that are declared as options of the command line; None leaves them to it."""
    caps = {option: (declared(Budget)[name][0], None) for option, name in CAPS.items()}
    return caps | {name: (declared(Options)[name][0] | None, None) for name in SHARED}


def or_configured(given: Budget, config: ProjectConfig) -> Budget:
    """Returns a budget in which the configuration caps what nobody gave a cap for."""
    caps = {name: (getattr(given, name), getattr(config, option)) for option, name in CAPS.items()}
    return Budget(**{name: stated if cap is None else cap for name, (cap, stated) in caps.items()})


class ModelPrice(BaseModel):
    """USD a million tokens, as a user states it under ``[tool.whet.prices."MODEL"]``."""

    model_config = ConfigDict(extra="forbid")

    input: float = Field(ge=0)
    output: float = Field(ge=0)
    cached: float | None = Field(default=None, ge=0)


class ProviderLimits(BaseModel):
    """What a provider takes, as a user states it under ``[tool.whet.providers."PROVIDER"]``.

    Attributes:
        slots: calls under way at once.
        requests_per_minute: calls that begin within a minute; None for no limit.
        tokens_per_minute: tokens, input and output together, of the calls that begin within a minute.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)

    slots: int = Field(default=4, ge=1)
    requests_per_minute: int | None = Field(default=None, alias="requests-per-minute", ge=1)
    tokens_per_minute: int | None = Field(default=None, alias="tokens-per-minute", ge=1)


class OwnConfig(BaseModel):
    """What ``[tool.whet]`` says beside the options of the command line that it takes too; see `ProjectConfig`.

    Attributes:
        model: who proposes.
        judge_model: who judges.
        prices: of models, by name.
        providers: what they take, by name.
        remember: whether they are told what earlier runs found out, and later ones what this one does.
        run: the command whose time counts.
        tests: the command that tests the repository.
        build: the command that makes a C or C++ project, before it is tested or run.
        python: the interpreter of the project's environment, or the environment's folder; from the file's folder.
        ignore: globs of files that are left alone, from the file's folder.
        top: functions that are tried.
        min_share: of the command's time: what takes less is not tried.
        rounds: turns of the loop for one function.
        candidates: in a round.
        strategy: how the next candidates are chosen.
    """

    model_config = ConfigDict(
        extra="forbid", populate_by_name=True, alias_generator=lambda name: name.replace("_", "-")
    )

    model: str | None = None
    judge_model: str | None = None
    prices: dict[str, ModelPrice] = Field(default_factory=dict)
    providers: dict[str, ProviderLimits] = Field(default_factory=dict)
    remember: bool = True
    run: str | None = Field(default=None, min_length=1)
    tests: str | None = Field(default=None, min_length=1)
    build: str | None = Field(default=None, min_length=1)
    python: str | None = Field(default=None, min_length=1)
    ignore: list[str] = Field(default_factory=list)
    top: int | None = Field(default=None, ge=1)
    min_share: float | None = Field(default=None, ge=0.0, le=1.0)
    rounds: int | None = Field(default=None, ge=1)
    candidates: int | None = Field(default=None, ge=1)
    strategy: str | None = None


class ProjectConfig(create_model("Declared", __base__=OwnConfig, **_declared())):  # type: ignore[misc]
    """``[tool.whet]`` in a pyproject.toml, or in a whet.toml that describes no task.

    Beside what `OwnConfig` has there are the budgets, as ``budget-usd``, and the options of `SHARED`: declared, and
    bounded, as options of the command line are. The budgets are caps on the whole run, of one function as of a
    repository. All but the budgets, the models, their prices and providers and what they remember is for whole
    repositories; None leaves it to the command line.
    """

    @model_validator(mode="after")
    def _within_bounds(self) -> Self:
        try:
            or_configured(Budget(), self)
            Options(**{name: value for name in SHARED if (value := getattr(self, name)) is not None})
        except UsageError as error:
            raise ValueError(str(error).removeprefix("--")) from None  # keys are options without dashes
        return self


def describe_invalid(error: ValidationError, model: type[BaseModel]) -> str:
    """Returns one line for the first fault that pydantic found, naming the nearest key for an unknown one."""
    first = error.errors()[0]
    if first["type"] == "value_error" and not first["loc"]:
        return str(first["ctx"]["error"])
    where = ".".join(str(part) for part in first["loc"])
    if first["type"] == "extra_forbidden":
        known = _keys_at(model, tuple(str(part) for part in first["loc"][:-1]))
        key = str(first["loc"][-1])
        if model is ProjectConfig and len(first["loc"]) == 1 and key.replace("-", "_") in Options.__slots__:
            return f"unknown key '{where}'; give it on the command line: --{key.replace('_', '-')}"
        mend = nearest(key, known, ALIKE) or f"; it has {', '.join(known)}"
        return f"unknown key '{where}'{mend}"
    return f"{where}: {first['msg'].lower()}"


def _keys_at(model: type[BaseModel], path: tuple[str, ...]) -> list[str]:
    inner: object = model
    for part in path:
        if get_origin(inner) is dict:
            inner = get_args(inner)[1]
        elif isinstance(inner, type) and issubclass(inner, BaseModel):
            inner = next((f.annotation for n, f in inner.model_fields.items() if part in (n, f.alias)), None)
    if not (isinstance(inner, type) and issubclass(inner, BaseModel)):
        return []
    return [f.alias or n for n, f in inner.model_fields.items()]


def load_project_config(start: Path) -> ProjectConfig:
    """Reads ``[tool.whet]`` of the nearest folder, at or above ``start``, that has a pyproject.toml or a whet.toml.

    A whet.toml that describes a task is none of them.

    Raises:
        UsageError: a file is not TOML, holds a key that whet does not know, or both files have such a table.
    """
    folder = start.resolve()
    for parent in (folder, *folder.parents):
        tables = {path: table for path in _config_files(parent) if (table := _whet_table(path)) is not None}
        if len(tables) > 1:
            raise UsageError(f"{parent}: both {' and '.join(path.name for path in tables)} have [tool.whet]; keep one")
        for path, table in tables.items():
            try:
                found: ProjectConfig = ProjectConfig.model_validate(table)
                return found
            except ValidationError as error:
                raise UsageError(f"{path}: [tool.whet] {describe_invalid(error, ProjectConfig)}") from None
        if (parent / PYPROJECT).is_file():
            break
    return ProjectConfig()


def _config_files(folder: Path) -> list[Path]:
    return [path for name in (PYPROJECT, WHET_TOML) if (path := folder / name).is_file()]


def _whet_table(path: Path) -> object | None:
    """Returns the ``[tool.whet]`` of a file; None where it has none.

    Raises:
        UsageError: the file cannot be read, or is a whet.toml of another form.
    """
    data = read_toml(path)
    if path.name == WHET_TOML and "task" not in data and (other := sorted(data.keys() - {"tool"})):
        raise UsageError(f"{path}: unknown key '{other[0]}'{nearest(other[0], ('task', 'tool'))}")
    tool = data.get("tool")
    return tool.get("whet") if isinstance(tool, dict) else None


def read_toml(path: Path) -> dict[str, object]:
    """Reads a TOML file.

    Raises:
        UsageError: it cannot be read, or is not TOML.
    """
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} cannot be read: {error}") from None
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{path} is not valid TOML: {error}") from None
