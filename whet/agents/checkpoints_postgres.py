"""The newest checkpoint of each run in PostgreSQL; see `whet.agents.checkpoints`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import ChannelVersions, Checkpoint, CheckpointMetadata
from langgraph.checkpoint.postgres import PostgresSaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from psycopg import Cursor
from psycopg.rows import DictRow, dict_row

from whet.core.database.postgres import PostgresConnection
from whet.core.store import Store

UNUSED = """
DELETE FROM checkpoint_blobs AS blob WHERE thread_id = %s AND NOT EXISTS (
    SELECT 1 FROM checkpoints AS kept, jsonb_each_text(kept.checkpoint -> 'channel_versions') AS used
    WHERE kept.thread_id = blob.thread_id AND kept.checkpoint_ns = blob.checkpoint_ns
    AND used.key = blob.channel AND used.value = blob.version
)
"""


class PostgresNewest(PostgresSaver):
    """langgraph's checkpoints in PostgreSQL; see `whet.agents.checkpoints.newest_saver`."""

    def __init__(self, store: Store, serde: JsonPlusSerializer) -> None:
        self._store = store
        with store.connection() as db:
            assert isinstance(db, PostgresConnection)
            super().__init__(db.driver, serde=serde)
            # Built concurrently, an index is no part of a transaction, and these are of tables that are empty.
            self.MIGRATIONS = [step.replace("INDEX CONCURRENTLY", "INDEX") for step in self.MIGRATIONS]
            if self._stands() < len(self.MIGRATIONS) - 1:
                with store.changing():
                    self.setup()

    def _stands(self) -> int:
        """Returns the number of the last of langgraph's migrations that was made here; -1 before the first."""
        with self._cursor() as cursor:
            if cursor.execute("SELECT to_regclass('checkpoint_migrations') AS made").fetchone() == {"made": None}:
                return -1
            found = cursor.execute("SELECT coalesce(max(v), -1) AS last FROM checkpoint_migrations").fetchone()
        assert found is not None
        return int(found["last"])

    @contextmanager
    def _cursor(self, *, pipeline: bool = False) -> Iterator[Cursor[DictRow]]:
        """Gives a cursor whose statements become one commit, with those around them where there are some."""
        with self._store.transaction() as db:
            assert isinstance(db, PostgresConnection)
            with db.driver.cursor(binary=True, row_factory=dict_row) as cursor:
                yield cursor

    def put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Saves a checkpoint in the place of the one before."""
        run = config["configurable"]["thread_id"]
        with self._cursor() as cursor:
            cursor.execute("DELETE FROM checkpoints WHERE thread_id = %s", (run,))
            saved = super().put(config, checkpoint, metadata, new_versions)
            cursor.execute(UNUSED, (run,))
        return saved

    def put_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """Saves nothing: a step's one node finds its facts again where the checkpoint after it is missing."""
