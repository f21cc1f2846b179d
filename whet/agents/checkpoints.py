"""Where a run goes on after a kill: the newest checkpoint of its graph, beside its facts."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver, ChannelVersions, Checkpoint, CheckpointMetadata
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.sqlite import SqliteSaver

from whet.core.database.base import Kind
from whet.core.store import Store

UNASKED = "model"
"""How a run ended whose model could not be asked: it can go on once that is mended."""


def newest_saver(store: Store) -> BaseCheckpointSaver[str]:
    """Returns what keeps one checkpoint a run: no earlier one is ever read, and each holds the whole state.

    Args:
        store: its database holds the checkpoints too: after a power cut none knows more than the facts do. It is
            written through one connection: what another one writes empties the cache of SQLite's first, and is held
            by no lock on the run in PostgreSQL.
    """
    # The state is plain data, so nothing but plain data need ever be read back.
    plain = JsonPlusSerializer(allowed_msgpack_modules=None)
    if store.kind is Kind.SQLITE:
        return SqliteNewest(store, plain)
    from whet.agents.checkpoints_postgres import PostgresNewest

    return PostgresNewest(store, plain)


class SqliteNewest(SqliteSaver):
    """langgraph's checkpoints in SQLite; see `newest_saver`."""

    def __init__(self, store: Store, serde: JsonPlusSerializer) -> None:
        self._store = store
        with store.connection() as db:
            assert isinstance(db, sqlite3.Connection)
            super().__init__(db, serde=serde)
            self.setup()

    @contextmanager
    def cursor(self, transaction: bool = True) -> Iterator[sqlite3.Cursor]:
        """Gives a cursor whose statements become one commit, with those around them where there are some."""
        with self._store.transaction(), closing(self.conn.cursor()) as cursor:
            yield cursor

    def put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Saves a checkpoint in the place of the one before."""
        with self.cursor() as cursor:
            cursor.execute("DELETE FROM checkpoints WHERE thread_id = ?", (config["configurable"]["thread_id"],))
            return super().put(config, checkpoint, metadata, new_versions)

    def put_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """Saves nothing: a step's one node finds its facts again where the checkpoint after it is missing."""


def forget(store: Store, run: str) -> None:
    """Drops the checkpoint of a finished run: nothing reads it again."""
    newest_saver(store).delete_thread(run)


def unasked(store: Store, run: str) -> bool:
    """Tells whether the checkpoint of a run is kept because its model could not be asked."""
    saved = newest_saver(store).get_tuple({"configurable": {"thread_id": run}})
    return saved is not None and saved.checkpoint["channel_values"].get("ended") == UNASKED
