"""From a run's record to the text of its page."""

from __future__ import annotations

from datetime import datetime
from functools import cache
from pathlib import Path

from jinja2 import Environment
from markupsafe import Markup

from whet.benchmarks.pages.environment import digest, environment, style
from whet.benchmarks.pages.scale import Scale
from whet.cli.report.charts import HEIGHT, TOP, Point, curve
from whet.cli.report.front import front_of
from whet.cli.report.story import CandidateStory, Story, story
from whet.core.about import __version__
from whet.core.measurement import Measurement
from whet.core.store import RunRecord, Store
from whet.core.text import percent

HERE = Path(__file__).parent


def page(store: Store, record: RunRecord) -> str:
    """Returns a run as one HTML page, be it over or not."""
    told = story(store, record)
    look = style()
    return (
        _environment()
        .get_template("report.html")
        .render(
            story=told,
            style=Markup(look),
            style_hash=digest(look),
            scale=_scale(told),
            subject_scale=_subject_scale(told.subject),
            curve=curve([_point(trial) for trial in told.trials]),
            front=front_of(told),
            field={"top": TOP, "height": HEIGHT},
            version=__version__,
        )
    )


def _scale(told: Story) -> Scale:
    """Returns the axis on which all candidates' intervals are drawn."""
    return Scale.over(value for trial in told.trials if trial.measured for value in _ends(trial.measured))


def _subject_scale(subject: CandidateStory | None) -> Scale:
    """Returns the axis for the workloads of the result alone."""
    timed = (subject.confirmed or subject.measured) if subject else None
    if timed is None:
        return Scale.over(())
    rows = (*timed.speedup.workloads, *timed.untimed)
    values = (value for row in rows for value in (row.low, row.high))
    return Scale.over((*_ends(timed), *timed.speedup.aa_ratio, *values))


def _ends(timed: Measurement) -> tuple[float, ...]:
    return timed.speedup.low, timed.speedup.high, timed.resolution, 1 / timed.resolution


def _point(trial: CandidateStory) -> Point:
    ratio = trial.measured.speedup.ratio if trial.measured else None
    return Point(trial.number, ratio, trial.counts, trial.kind)


@cache
def _environment() -> Environment:
    return environment(HERE, {"percent": percent, "seconds": _seconds, "when": _when})


def _seconds(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{seconds:.1f} s"


def _when(at: datetime) -> str:
    return at.strftime("%Y-%m-%d %H:%M UTC")
