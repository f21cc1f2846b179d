"""Where a run goes on after a kill: the newest checkpoint of its graph, beside its facts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from whet.core.database.base import DatabaseKind
from whet.core.store import Store

if TYPE_CHECKING:
    from langgraph.checkpoint.base import BaseCheckpointSaver

UNASKED = "model"
"""How a run ended whose model could not be asked: it can go on once that is mended."""


def newest_saver(store: Store) -> BaseCheckpointSaver[str]:
    """Returns what keeps one checkpoint a run: no earlier one is ever read, and each holds the whole state.

    Args:
        store: its database holds the checkpoints too: after a power cut none knows more than the facts do. It is
            written through one connection: what another one writes empties the cache of SQLite's first, and is held
            by no lock on the run in PostgreSQL.
    """
    from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

    # The state is plain data, so nothing but plain data need ever be read back.
    plain = JsonPlusSerializer(allowed_msgpack_modules=None)
    if store.kind is DatabaseKind.SQLITE:
        from whet.agents.checkpoints_sqlite import SqliteNewest

        return SqliteNewest(store, plain)
    from whet.agents.checkpoints_postgres import PostgresNewest

    return PostgresNewest(store, plain)


def forget(store: Store, run: str) -> None:
    """Drops the checkpoint of a finished run: nothing reads it again."""
    newest_saver(store).delete_thread(run)


def unasked(store: Store, run: str) -> bool:
    """Tells whether the checkpoint of a run is kept because its model could not be asked."""
    saved = newest_saver(store).get_tuple({"configurable": {"thread_id": run}})
    return saved is not None and saved.checkpoint["channel_values"].get("ended") == UNASKED
