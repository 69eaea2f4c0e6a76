import copy
from dataclasses import replace

import numpy as np
import pytest

from ssvi.plots import plot_training

SCORES = [(0.5, -8.0), (1.5, -7.5), (2.0, -7.25)]


def _changed(model, **attributes):
    result = copy.copy(model)
    vars(result).update(attributes)
    return result


def _history(lda, bounds, rows=10, population=20):
    return [
        type(lda.history_[0])(step, step * rows, 0.5, population, bound, 0, 0.1) for step, bound in enumerate(bounds, 1)
    ]


def _line(panel):
    (line,) = panel.lines
    return line.get_xydata()


def test_scores_by_seconds(lda):
    panel = plot_training(_changed(lda, scores_=SCORES))
    np.testing.assert_allclose(_line(panel), SCORES)
    assert (panel.get_xlabel(), panel.get_ylabel()) == ("seconds", "held-out score")
    assert panel.get_legend() is None


def test_several_models_in_one_picture(lda):
    second = [(1.0, -9.0)]
    panel = plot_training({"ours": _changed(lda, scores_=SCORES), "theirs": _changed(lda, scores_=second)})
    first, other = panel.lines
    np.testing.assert_allclose(first.get_xydata(), SCORES)
    np.testing.assert_allclose(other.get_xydata(), second)
    assert first.get_color() != other.get_color()
    assert [text.get_text() for text in panel.get_legend().get_texts()] == ["ours", "theirs"]


def test_many_models_can_be_told_apart(lda):
    models = {str(number): _changed(lda, scores_=SCORES) for number in range(20)}
    looks = {(line.get_color(), line.get_linestyle()) for line in plot_training(models).lines}
    assert len(looks) == 20


def test_auto_is_what_all_models_have(lda):
    scored = _changed(lda, scores_=SCORES, perplexity_history_=[90.0, 80.0], evaluate_every=2)
    plain = _changed(lda, scores_=[], perplexity_history_=[95.0], evaluate_every=1)
    assert plot_training(scored).get_xlabel() == "seconds"
    panel = plot_training({"a": scored, "b": plain})
    assert (panel.get_xlabel(), panel.get_ylabel()) == ("passes", "perplexity of the training data")
    np.testing.assert_allclose(panel.lines[0].get_xydata(), [(2, 90.0), (4, 80.0)])


def test_bounds_are_those_of_the_history(nmf):
    kept = [(info.step, info.bound) for info in nmf.history_ if info.bound is not None]
    panel = plot_training(nmf, what="bound", smooth=1)
    np.testing.assert_allclose(_line(panel), [(step, bound / 60) for step, bound in kept])
    assert panel.get_ylabel() == "local bound per row"


def test_a_model_from_elsewhere_has_no_rows_of_its_first_step(lda):
    later = [replace(info, step=info.step + 7, documents_seen=info.documents_seen + 500) for info in
             _history(lda, [30.0, 40.0, 50.0])]  # fmt: skip
    panel = plot_training(_changed(lda, history_=later), what="bound", smooth=1)
    np.testing.assert_allclose(_line(panel), [(9, 4.0), (10, 5.0)])


def test_bounds_are_averaged_over_a_pass(lda):
    bounds = np.arange(20.0) * 10
    model = _changed(lda, history_=_history(lda, bounds))
    means = (bounds[1:] + bounds[:-1]) / 20  # two steps of 10 rows are a pass
    np.testing.assert_allclose(_line(plot_training(model, what="bound")), np.stack([np.arange(2, 21), means], axis=1))
    stream = _changed(lda, history_=_history(lda, bounds, population=200))
    assert len(_line(plot_training(stream, what="bound"))) == 20 - 3  # a fifth of the steps, where a pass is all
    assert len(_line(plot_training(model, what="bound", smooth=99))) == 1


def test_steps_without_a_bound_are_left_out(lda):
    model = _changed(lda, history_=_history(lda, [None, 10.0, None, 30.0]))
    np.testing.assert_allclose(_line(plot_training(model, smooth=1)), [(2, 1.0), (4, 3.0)])


def test_nothing_to_draw(lda):
    bare = _changed(lda, history_=_history(lda, [None]), scores_=[])
    with pytest.raises(
        ValueError, match=r"^the fit kept no scores, perplexity or bound to draw \(scores come with fit"
    ):
        plot_training(bare)
    with pytest.raises(ValueError, match=r"^the fit kept no bound to draw .* local steps that optimise one"):
        plot_training(bare, what="bound")
    with pytest.raises(ValueError, match=r"^not every fit kept scores to draw"):
        plot_training({"a": _changed(lda, scores_=SCORES), "b": bare}, what="scores")


def test_bad_options(lda):
    with pytest.raises(ValueError, match="what must be auto, scores, perplexity or bound, not 'loss'"):
        plot_training(lda, what="loss")
    with pytest.raises(ValueError, match="the mapping is empty"):
        plot_training({})
    with pytest.raises(ValueError, match="smooth must be 1 or more"):
        plot_training(lda, smooth=0)
