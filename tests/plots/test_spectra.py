import numpy as np
import pytest
from matplotlib import pyplot
from matplotlib.figure import Figure

from ssvi.plots import plot_spectra
from ssvi.report.components import Components

X = np.random.default_rng(3).poisson(1.0, (25, 16))


def _relative(rows):
    return rows / rows.max(axis=1, keepdims=True)


@pytest.fixture
def parts(nmf):
    return Components.of(nmf)


def test_lines_are_the_spectra_the_first_at_the_top(nmf, parts):
    (panel,) = plot_spectra(nmf)
    count = nmf.n_active_
    assert len(panel.lines) == count
    for k, line in enumerate(panel.lines):
        base = count - 1 - k
        np.testing.assert_allclose(line.get_ydata(), base + 0.9 * _relative(parts.rows)[k])
        np.testing.assert_array_equal(line.get_xdata(), np.arange(16))
    names = [label.get_text() for label in panel.get_yticklabels()]
    assert [int(name.split()[0]) for name in names] == list(parts.numbers[:count])
    np.testing.assert_array_equal(panel.get_yticks(), np.arange(count)[::-1])


def test_bands_are_deviations(nmf, parts):
    (panel,) = plot_spectra(nmf, components=1)
    _, band = panel.collections
    high = (parts.rows[0] + parts.deviations[0]) / parts.rows[0].max()
    assert band.get_paths()[0].vertices[:, 1].max() == pytest.approx(0.9 * high.max())


def test_activations_below(nmf, parts):
    above, below = plot_spectra(nmf, X, times=np.arange(25) / 5, labels=("Hz", "seconds"))
    activations = _relative(nmf.transform(X).T[parts.numbers])
    for k, line in enumerate(below.lines):
        np.testing.assert_allclose(line.get_ydata(), nmf.n_active_ - 1 - k + 0.9 * activations[k])
        np.testing.assert_allclose(line.get_xdata(), np.arange(25) / 5)
    assert (above.get_xlabel(), below.get_xlabel()) == ("Hz", "seconds")
    assert below.get_title(loc="left") == "activations"


def test_heat_maps(nmf, parts):
    axes = plot_spectra(nmf, X, kind="heat", components=3, positions=np.arange(16) * 10.0, axes=Figure())
    spectra, activations = (panel.images[0] for panel in axes)
    np.testing.assert_allclose(spectra.get_array(), _relative(parts.rows[:3]))
    np.testing.assert_allclose(activations.get_array(), _relative(nmf.transform(X).T[parts.numbers[:3]]))
    assert tuple(spectra.get_extent()) == (-5.0, 155.0, -0.5, 2.5)
    assert tuple(activations.get_extent()) == (-0.5, 24.5, -0.5, 2.5)
    names = [label.get_text() for label in axes[0].get_yticklabels()]
    assert [int(name.split()[0]) for name in names] == list(parts.numbers[:3])


def test_levels_in_decibels(nmf, parts):
    levels = np.maximum(20 * np.log10(_relative(parts.rows[:2])), -30)
    (panel,) = plot_spectra(nmf, kind="heat", components=2, decibels=30)
    np.testing.assert_allclose(panel.images[0].get_array(), levels, atol=1e-9)
    assert panel.images[0].get_clim() == (-30.0, 0.0)
    (panel,) = plot_spectra(nmf, components=2, decibels=30)
    np.testing.assert_allclose(panel.lines[1].get_ydata(), 0.9 * (1 + levels[1] / 30), atol=1e-9)
    assert "dB" in panel.get_title(loc="left")


def test_many_columns_keep_their_peaks(nmf, monkeypatch):
    monkeypatch.setattr("ssvi.plots.spectra._MOST_COLUMNS", 6)
    (panel,) = plot_spectra(nmf, kind="heat", components=1)
    row = _relative(Components.of(nmf).rows[:1])[0]
    expected = [row[start : start + 3].max() for start in range(0, 16, 3)]
    np.testing.assert_allclose(panel.images[0].get_array()[0], expected)
    assert tuple(panel.images[0].get_extent())[:2] == (-0.5, 17.5)
    assert panel.get_xlim() == (-0.5, 15.5)


def test_the_limit_is_said(nmf, monkeypatch):
    monkeypatch.setattr("ssvi.plots.spectra._MOST", {"lines": 1, "heat": 1})
    (panel,) = plot_spectra(nmf)
    assert f"the 1 largest of {nmf.n_active_} factors" in panel.get_title(loc="left")


def test_an_empty_row_has_no_activations(nmf):
    axes = plot_spectra(nmf, np.zeros((1, 16)))
    axes[1].figure.draw_without_rendering()
    assert all(np.isfinite(line.get_ydata()).all() for line in axes[1].lines)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kind": "bars"}, "kind must be 'lines' or 'heat', not 'bars'"),
        ({"decibels": 0.0}, "decibels must be a positive number"),
        ({"positions": [1, 2]}, r"positions has shape \(2,\), and there are 16 columns: give one for each"),
        ({"X": X, "times": [1]}, r"times has shape \(1,\), and there are 25 rows of X"),
        ({"X": X, "axes": Figure().subplots()}, "2 panels are to be drawn, and 1 Axes are given"),
        ({"X": X[:, :3]}, "3 features"),
    ],
)
def test_bad_options(nmf, options, message):
    with pytest.raises(ValueError, match=message):
        plot_spectra(nmf, **options)
    assert pyplot.get_fignums() == []
