"""langgraph's checkpoints in the SQLite database of a store."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import ChannelVersions, Checkpoint, CheckpointMetadata
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.sqlite import SqliteSaver

from whet.core.store import Store


class SqliteNewest(SqliteSaver):
    """See `whet.agents.checkpoints.newest_saver`."""

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
