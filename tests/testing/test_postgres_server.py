"""The PostgreSQL server that tests start."""

from __future__ import annotations

import psycopg
import pytest

from whet.testing.postgres import PASSWORD


def test_each_database_is_empty_and_asks_for_the_password(postgres, postgres_url):
    with psycopg.connect(postgres_url) as db:
        assert db.execute(
            "SELECT count(*) FROM information_schema.tables WHERE table_schema = 'public'"
        ).fetchone() == (0,)
    with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
        psycopg.connect(postgres_url.replace(PASSWORD, "wrong"))
    other = postgres.create()
    assert other != postgres_url
    postgres.drop(other)
    with pytest.raises(psycopg.OperationalError, match="does not exist"):
        psycopg.connect(other)
