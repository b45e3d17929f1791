"""Fewer sweeps and fewer prompts, for tests that need no more."""

import pytest

from conftest import twin_in
from recuse.base.database import write_parquet
from recuse.inference import hierarchy
from recuse.simulate.ratings import simulate


@pytest.fixture(scope="module")
def few_sweeps(long):
    """A module that asks for it has few sweeps, but with --long as many as a verdict uses.

    Few are also the most, so that sampling never goes on; test_hierarchy tests when it does.
    """
    with pytest.MonkeyPatch.context() as patch:
        for name in () if long else ("BURN_IN", "KEPT", "MOST"):
            patch.setattr(hierarchy, name, 10)
        yield


@pytest.fixture(scope="session")
def few_prompts(world, tmp_path_factory):
    """The twin of 12 prompts: enough where every row is fitted again."""
    folder = tmp_path_factory.mktemp("few_prompts")
    write_parquet(simulate(world, prompts=12, seed=1).ratings, str(folder / "raw.parquet"))
    return twin_in(folder)
