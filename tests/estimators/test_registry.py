import pytest
from tests.testing.test_broken import Exact, ExcessZeros, ExcessZerosModel

import ssvi
from ssvi.estimators import registry
from ssvi.estimators.generic import ModelEstimator


@pytest.fixture(autouse=True)
def _nothing_stays(monkeypatch):
    monkeypatch.setattr(registry, "_registered", {})


def _kind(class_name, model_name, **attributes):
    own = {"name": model_name, "model_class": ExcessZeros, "local_steps": (Exact,), "__module__": "elsewhere"}
    return type(class_name, (ModelEstimator,), {**own, **attributes})


def test_a_registered_class_is_known_by_its_name():
    assert ssvi.register(ExcessZerosModel) is ExcessZerosModel
    assert registry.estimators()["excess_zeros"] is ExcessZerosModel
    assert ssvi.register(ExcessZerosModel) is ExcessZerosModel  # again
    registry.unregister(ExcessZerosModel)
    assert "excess_zeros" not in registry.estimators()


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        (
            lambda: _kind("Mine", "lda"),
            r"the name 'lda' is taken by ssvi\.estimators\.lda\.Lat.*: give elsewhere\.Mine",
        ),
        (lambda: _kind("BernoulliMixture", "mine"), r"the class name 'BernoulliMixture' is taken by ssvi"),
        (lambda: dict, r"dict cannot be registered: it is no subclass of"),
        (lambda: ExcessZerosModel(), r"cannot be registered: it is no subclass of"),
        (lambda: ModelEstimator, r"ModelEstimator cannot be registered: it has no name\."),
    ],
)
def test_what_is_taken_or_no_estimator_is_refused_in_one_sentence(kind, message):
    before = registry.estimators()
    with pytest.raises(ValueError, match=message) as refused:
        ssvi.register(kind())
    assert str(refused.value).endswith(".")
    assert registry.estimators() == before


def test_a_class_that_was_defined_again_takes_the_place_of_its_former_self():
    first, second = _kind("Mine", "mine"), _kind("Mine", "mine")
    ssvi.register(first)
    assert registry.estimators()["mine"] is first
    ssvi.register(second)
    assert registry.estimators()["mine"] is second
    with pytest.raises(ValueError, match="the name 'mine' is taken by elsewhere"):
        ssvi.register(_kind("Other", "mine"))


def test_what_is_not_registered_cannot_be_saved(tmp_path):
    fitted = ExcessZerosModel(max_iter=1).fit([[0, 1], [2, 0]])
    with pytest.raises(ValueError, match=r"ExcessZerosModel is not registered, .* call ssvi\.register\(ExcessZerosM"):
        fitted.save(tmp_path / "model.ssvi")
    assert not list(tmp_path.iterdir())


def test_a_step_given_as_an_instance_is_saved(tmp_path):
    ssvi.register(ExcessZerosModel)
    ExcessZerosModel(max_iter=1, local_step=Exact()).fit([[0, 1], [2, 0]]).save(tmp_path / "model.ssvi")
    assert ssvi.load(tmp_path / "model.ssvi").local_step == Exact()
