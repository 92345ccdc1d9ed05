"""The world of the quickstart suite: a small database of release trains, and tools on it.

A release train takes changed services to production at a fixed time; a service needs a seat on it.
Every function here that `suite.yaml` lists as a tool is offered to the model under its own name.
Its parameters become the tool's parameters, and its docstring tells the model what they are.
The parameter `database` is filled by the fixture of that name, and the model never sees it.
"""

import sqlite3
import threading
from collections.abc import Iterator
from typing import Any

from harness import fixture

TRAINS = [
    # name, release id, when it leaves, seats
    ("amber", "rt_4f1c09a2b7d3e658", "Tuesday 14:00", 4),
    ("birch", "rt_91be5d7730c4a2f6", "Tuesday 16:30", 4),
    ("cedar", "rt_c85a3e10f96d27b4", "Wednesday 10:00", 3),
    ("delta", "rt_07d6f2481ca9e3b5", "Thursday 09:30", 4),
    ("ember", "rt_e32b64f8d5017a9c", "Friday 11:00", 1),
]
OWNERS = [
    # team, where to ask
    ("Team Anchor", "#anchor"),
    ("Team Bramble", "#bramble"),
    ("Team Compass", "#compass"),
    ("Team Dune", "#dune"),
]
SERVICES = [
    # name, owner, release train
    ("cart-api", "Team Anchor", "amber"),
    ("search-index", "Team Bramble", "birch"),
    ("billing-core", "Team Anchor", "cedar"),
    ("mail-relay", "Team Compass", "delta"),
    ("image-resizer", "Team Dune", "amber"),
    ("login-portal", "Team Compass", "birch"),
    ("quote-engine", "Team Dune", "cedar"),
    ("stock-ledger", "Team Anchor", "delta"),
    ("parcel-tracker", "Team Bramble", "ember"),
    ("report-builder", "Team Dune", "ember"),
    ("rate-limiter", "Team Compass", "amber"),
    ("push-gateway", "Team Bramble", "birch"),
]
SCHEMA = """
CREATE TABLE owners (team TEXT PRIMARY KEY, channel TEXT NOT NULL);
CREATE TABLE release_trains (
    train TEXT PRIMARY KEY, release_id TEXT NOT NULL, leaves TEXT NOT NULL, seats INTEGER NOT NULL
);
CREATE TABLE services (
    service TEXT PRIMARY KEY,
    team TEXT NOT NULL REFERENCES owners,
    train TEXT NOT NULL REFERENCES release_trains
);
CREATE TABLE seats (
    train TEXT NOT NULL REFERENCES release_trains,
    seat INTEGER NOT NULL,
    service TEXT NOT NULL REFERENCES services,
    PRIMARY KEY (train, seat)
);
"""


class Database:
    """One SQLite database in memory.

    Tools run in worker threads, and a model may call several at once. So the connection may be
    used from any thread, and the lock lets one tool at a time read and write.
    """

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.connection = sqlite3.connect(":memory:", check_same_thread=False)
        self.connection.row_factory = sqlite3.Row
        self.connection.executescript(SCHEMA)
        self.connection.executemany("INSERT INTO owners VALUES (?, ?)", OWNERS)
        self.connection.executemany("INSERT INTO release_trains VALUES (?, ?, ?, ?)", TRAINS)
        self.connection.executemany("INSERT INTO services VALUES (?, ?, ?)", SERVICES)
        self.connection.commit()

    def snapshot(self) -> dict[str, Any]:
        """Give the end state as JSON: it is stored with the trial."""
        with self.lock:
            rows = self.connection.execute("SELECT train, seat, service FROM seats ORDER BY 1, 2")
            return {"seats": [dict(row) for row in rows]}


@fixture(scope="trial")
def database() -> Iterator[Database]:
    """Make a database for one trial, so that no trial sees the seats that another one booked."""
    made = Database()
    try:
        yield made
    finally:
        made.connection.close()


def lookup_release_train(service: str, database: Database) -> dict[str, Any]:
    """Look up the release train that a service leaves on.

    Args:
        service: The service's name, such as cart-api.
        database: Filled by the fixture.
    """
    with database.lock:
        return _train_of(database, service)


def find_owner(service: str, database: Database) -> dict[str, Any]:
    """Find the team that owns a service, and the channel to reach it.

    Args:
        service: The service's name, such as cart-api.
        database: Filled by the fixture.
    """
    query = "SELECT service, team, channel FROM services JOIN owners USING (team) WHERE service = ?"
    with database.lock:
        return _only_row(database, query, service)


def book_seat(service: str, database: Database) -> dict[str, Any]:
    """Book the next free seat for a service on its release train.

    Gives the number of the seat, or null where the train is full.

    Args:
        service: The service's name, such as cart-api.
        database: Filled by the fixture.
    """
    with database.lock:
        train = _train_of(database, service)
        taken = train["seats"] - train.pop("left")
        if taken == train["seats"]:
            return {**train, "seat": None, "left": 0}
        row = (train["train"], taken + 1, service)
        database.connection.execute("INSERT INTO seats VALUES (?, ?, ?)", row)
        database.connection.commit()
        return {**train, "seat": taken + 1, "left": train["seats"] - taken - 1}


def _train_of(database: Database, service: str) -> dict[str, Any]:
    query = """
        SELECT service, train, release_id, leaves, seats,
               seats - (SELECT count(*) FROM seats AS booked WHERE booked.train = t.train) AS left
        FROM services JOIN release_trains AS t USING (train) WHERE service = ?
    """
    return _only_row(database, query, service)


def _only_row(database: Database, query: str, service: str) -> dict[str, Any]:
    row = database.connection.execute(query, (service,)).fetchone()
    if row is None:
        # What a tool raises is told to the model as a failed result.
        raise LookupError(f"there is no service {service!r}")
    return dict(row)
