"""Whatever changes between two runs, the second leaves what a run from nothing would."""

import pytest

from changed_inputs import walk

pytestmark = pytest.mark.workflow


@pytest.mark.parametrize("seed", [1, 2])
def test_results_are_those_of_a_run_from_nothing_after_any_changes(tmp_path, seed):
    walk(seed, 6, tmp_path)
