"""Which number is advised, on scores made by hand."""

from dataclasses import replace

import numpy as np
import pytest

from ssvi.evaluation.choice import Choice, Option
from ssvi.evaluation.held_out import HeldOut

HARD = np.linspace(-100.0, 0.0, 50)  # how hard documents are, for every number of components
WORDS = np.full(50, 10.0)


def _option(number, gain, wobble=0.0, scores=None):
    """Return an option whose documents are better by `gain` a word, give or take `wobble`."""
    held = HeldOut(HARD + 10.0 * (gain + wobble * np.where(np.arange(50) % 2, 1, -1)), WORDS)
    return Option(number, scores or (held.mean,), held, None, None, None, number, 1.0)


def test_the_error_of_a_gap_goes_by_documents_in_pairs():
    low, high = _option(5, 0.0), _option(10, 0.1, 0.2)
    gap, error = low.below(high)
    assert gap == pytest.approx(0.1)
    # Differences a word are 0.1 + 0.2 and 0.1 - 0.2 in turn: the error of the mean of 50 of them.
    assert error == pytest.approx(0.2 / np.sqrt(49))
    assert low.error > 10 * error  # since documents differ far more than the two models do


def test_seeds_add_to_the_error():
    held = HeldOut(HARD, WORDS)
    option = Option(5, (-5.2, -4.8), held, None, None, None, 5.0, 1.0)
    variance = ((0.2**2 + 0.2**2) / 1) / 2
    assert option.error == pytest.approx(np.sqrt(held.standard_error**2 + variance))
    assert option.below(option)[1] == pytest.approx(np.sqrt(2 * variance))


def test_the_fewest_within_one_error_of_the_best_are_advised():
    # 0.01 below the best, with an error of 0.2 / 7 = 0.029; and 0.5 below it.
    choice = Choice.of([_option(50, 0.5), _option(20, 0.49, 0.2), _option(10, 0.0, 0.2), _option(100, 0.3)], "topic")
    assert [option.n_components for option in choice.options] == [10, 20, 50, 100]
    assert (choice.best.n_components, choice.advised.n_components) == (50, 20)
    assert choice.advice() == (
        "Take 20 topics: the fewest whose held-out score is within one standard error of the best, that of 50 "
        "(0.0100 below it, give or take 0.0286)."
    )


def test_ends_of_what_was_tried_are_named():
    rising = Choice.of([_option(10, 0.0), _option(20, 1.0)])
    assert rising.advised.n_components == 20
    assert "the best held-out score" in rising.advice()
    assert "try 40 as well" in rising.advice()
    assert "try 33 as well" in Choice.of(rising.options, "topic", 33).advice()
    assert Choice.of(rising.options, "topic", 20).advice().endswith("within a standard error of the difference.")
    falling = Choice.of([_option(10, 1.0), _option(20, 0.0)])
    assert falling.advised.n_components == 10
    assert "and the fewest that were tried." in falling.advice()
    assert "fewer may do" in falling.advice()
    assert Choice.of([_option(10, 0.0)], "topic").advice() == (
        "Only 10 topics were tried: give several numbers to choose from."
    )


def test_one_component_is_no_components():
    assert Choice.of([_option(1, 1.0), _option(2, 0.0)], "cluster").advice().startswith("Take 1 cluster: the best")
    assert Choice.of([_option(1, 1.0)], "cluster").advice().startswith("Only 1 cluster was tried")


def test_too_few_rows_to_tell_are_called_that():
    # 0.01 below the best, with an error of 0.2 / 7 = 0.029; 0.02 below it, with more than half as much.
    options = [_option(1, 0.49, 0.2), _option(2, 0.5), replace(_option(6, 0.4), in_use=2.5)]
    few, enough = Choice.of(options, "cluster", rows=49), Choice.of(options, "cluster", rows=50)
    assert (few.cannot_tell, enough.cannot_tell) == (True, False)
    assert enough.advice().startswith("Take 1 cluster: the fewest whose")
    assert few.advice() == (
        "49 held-out rows are too few to tell 1 and 2 clusters apart: 2 scored best, and 1 came 0.0100 below it, give "
        "or take 0.0286; give more rows, or hold more out (--held-out). Of 6 clusters the fits used 2.5."
    )
    assert not Choice.of([_option(1, 0.48, 0.2), _option(2, 0.5)], "cluster", rows=9).cannot_tell


def test_a_smaller_number_that_is_nicer_to_read_is_named():
    few, many = replace(_option(10, 0.0), coherence=0.083, stability=0.70), replace(_option(40, 1.0), coherence=0.045)
    advice = Choice.of([few, replace(many, stability=0.47)], "topic").advice()
    assert advice.startswith("To predict, take 40 topics: the best held-out score")
    assert "To read, 10 may serve better: coherence 0.08 and stability 0.70" in advice
    assert advice.endswith("against 0.04 and 0.47.")
    alike = replace(many, coherence=0.08, stability=0.67)  # 0.083 x 0.70 is less than a tenth more
    assert "To read" not in Choice.of([few, alike], "topic").advice()
    assert "To read" in Choice.of([few, replace(many, coherence=-0.01, stability=0.9)], "topic").advice()
    assert "To read" not in Choice.of([few, many], "topic").advice()  # of which one seed says nothing


def test_fits_that_ended_too_soon_are_named():
    options = [_option(10, 0.0, scores=(0.0, 0.1)), replace(_option(40, 1.0, scores=(1.0, 1.1)), far=1)]
    said = "1 of 4 fits (40 topics) were still far from settled when they ended: with more passes they may look better."
    assert Choice.of(options, "topic").advice().endswith(said)


def test_nothing_to_choose_from():
    with pytest.raises(ValueError, match="nothing to choose from"):
        Choice.of([])
    with pytest.raises(ValueError, match="nothing to score by"):
        Choice.of([_option(10, np.nan)])
