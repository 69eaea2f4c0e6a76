import numpy as np
import pytest
from matplotlib import pyplot

from ssvi.plots import plot_prototypes
from ssvi.plots.prototypes import _columns
from ssvi.report.components import Components


def test_images_are_the_prototypes_in_use_the_largest_first(mixture):
    axes, parts = plot_prototypes(mixture), Components.of(mixture)
    assert len(axes) == mixture.n_active_
    for k, panel in enumerate(axes):
        (image,) = panel.images
        np.testing.assert_allclose(image.get_array(), parts.rows[k].reshape(4, 4))
        assert image.get_clim() == (0.0, 1.0)
        assert float(panel.get_title().rstrip("%")) == pytest.approx(100 * parts.shares[k], abs=0.5)


def test_weights_that_are_shares_go_up_to_their_largest(nmf):
    axes, parts = plot_prototypes(nmf, shape=(2, 8)), Components.of(nmf)
    (image,) = axes[0].images
    np.testing.assert_allclose(image.get_array(), parts.rows[0].reshape(2, 8))
    assert image.get_clim() == (0.0, parts.rows[0].max())


def test_more_than_there_is_room_for(mixture, monkeypatch):
    monkeypatch.setattr("ssvi.plots.prototypes._MOST", 1)
    (panel,) = plot_prototypes(mixture)
    assert panel.figure.get_suptitle() == f"the 1 largest of {mixture.n_active_} clusters"


def test_the_last_line_is_at_least_half_full():
    for count in range(6, 101):
        columns = _columns(count)
        assert 3 <= columns <= 12
        assert -count % columns <= columns // 2


def test_words_are_no_images(lda):
    with pytest.raises(
        ValueError, match="of a LatentDirichletAllocation are words: use plot_topics, or say the images"
    ):
        plot_prototypes(lda)
    assert len(plot_prototypes(lda, shape=(4, 4))) == 4


@pytest.mark.parametrize("shape", [(3, 5), (16,), (-4, -4), (2, 2, 4)])
def test_impossible_shapes(mixture, shape):
    with pytest.raises(ValueError, match="shape must be a height and a width whose product is 16, not"):
        plot_prototypes(mixture, shape=shape)
    assert pyplot.get_fignums() == []


def test_columns_that_make_no_square(mixture, monkeypatch):
    monkeypatch.setattr(mixture, "n_features_in_", 15)
    monkeypatch.setattr("ssvi.plots.prototypes.choose", lambda *_: None)
    with pytest.raises(ValueError, match=r"15 columns are no square image: say shape=\(height, width\)"):
        plot_prototypes(mixture)


def test_columns_must_be_some(mixture):
    with pytest.raises(ValueError, match="columns must be 1 or more, not 0"):
        plot_prototypes(mixture, columns=0)
