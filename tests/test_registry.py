import pytest

from ssvi.global_steps.base import GlobalStep
from ssvi.local_steps.base import LocalStep
from ssvi.registry import discover, lookup


def test_discover_finds_each_file():
    assert {"map", "mean_field", "ssvi", "ssvi_a"} <= set(discover("ssvi.global_steps", GlobalStep))
    assert {"cvb0", "gibbs", "mean_field"} <= set(discover("ssvi.local_steps.lda", LocalStep))


def test_lookup_lists_the_known_names():
    with pytest.raises(ValueError, match=r"global_step 'sgd' is not known; .* 'map', 'mean_field', 'ssvi', 'ssvi_a'"):
        lookup("ssvi.global_steps", GlobalStep, "sgd", "global_step")
