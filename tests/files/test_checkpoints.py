import contextlib
import errno
import json
import os
import re
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from tests.kinds import WITH_COMPONENTS

import ssvi
from ssvi import BernoulliMixture, LatentDirichletAllocation
from ssvi.files import Checkpoints, container

ESTIMATORS = [kind.__name__ for kind in WITH_COMPONENTS.values()]
COUNTS = np.random.default_rng(0).poisson(0.6, (200, 12))
SETTINGS = {
    "HiddenMarkovModel": {"n_init": 2},
    "LatentDirichletAllocation": {}, "BernoulliMixture": {"snapshots": 3}, "GaussianMixture": {},
    "GammaProcessNMF": {"polish": 2}, "HierarchicalDirichletTopics": {},
}  # fmt: skip


class PowerCutError(Exception):
    """The process ends here."""


def _model(name, folder=None, *, last_step=None, every=3, **parameters):
    def cut(state, info):
        if info.step == last_step:
            raise PowerCutError

    callbacks = [*([Checkpoints(folder, every)] if folder else []), cut]
    settings = {"batch_size": 20, "learning_method": "online", "max_iter": 2, "random_state": 3} | SETTINGS.get(
        name, {}
    )
    return getattr(ssvi, name)(3, callbacks=callbacks, **(settings | parameters))


def _data(name):
    return (COUNTS > 0).astype(int) if name == "BernoulliMixture" else COUNTS


@pytest.mark.parametrize("name", ESTIMATORS)
def test_a_fit_that_was_cut_ends_as_if_it_had_not_been(name, tmp_path):
    """Cut several times over its 20 steps, before the first checkpoint, at one, right after one and at the end."""
    whole = _model(name).fit(_data(name))
    resumed_at = []
    for step in (2, 3, 4, 11, 20):
        model = _model(name, tmp_path, last_step=step)
        with pytest.raises(PowerCutError):
            model.fit(_data(name))
        resumed_at.append(model.callbacks[0].resumed_at)
    model = _model(name, tmp_path).fit(_data(name))
    assert resumed_at == [None, None, None, 3, 9]
    assert model.callbacks[0].resumed_at == 18
    for block, lam in whole._state.parameters.items():
        np.testing.assert_array_equal(model._state.parameters[block], lam)
    assert [info.step for info in model.history_] == [info.step for info in whole.history_]
    assert model.n_iter_ == whole.n_iter_
    if name == "BernoulliMixture":
        assert len(model._snapshots) == len(whole._snapshots) == 3
        for one, other in zip(model._snapshots, whole._snapshots, strict=True):
            np.testing.assert_array_equal(one[0], other[0])


def test_the_last_two_are_kept_and_nothing_else(tmp_path):
    _model("LatentDirichletAllocation", tmp_path).fit(COUNTS)
    assert sorted(os.listdir(tmp_path)) == ["step-000000018.ssvi", "step-000000020.ssvi"]


def test_a_damaged_checkpoint_is_passed_over(tmp_path):
    whole = _model("LatentDirichletAllocation").fit(COUNTS)
    _model("LatentDirichletAllocation", tmp_path).fit(COUNTS)
    last = tmp_path / "step-000000020.ssvi"
    last.write_bytes(last.read_bytes()[:-100])
    model = _model("LatentDirichletAllocation", tmp_path)
    with pytest.warns(RuntimeWarning, match=r"step-000000020\.ssvi is passed over"):
        model.fit(COUNTS)
    assert model.callbacks[0].resumed_at == 18
    np.testing.assert_array_equal(model.components_, whole.components_)


def _resume(folder, name="LatentDirichletAllocation"):
    """Fit with the checkpoints of a folder; return the model, where it began, and what was said."""
    model = _model(name, folder)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        model.fit(_data(name))
    return model, model.callbacks[0].resumed_at, [str(warning.message) for warning in seen]


@pytest.fixture
def cut(tmp_path):
    """A folder with the checkpoints of steps 6 and 9 of a fit that was cut, and what it would have come to."""
    with pytest.raises(PowerCutError):
        _model("LatentDirichletAllocation", tmp_path, last_step=11).fit(COUNTS)
    return tmp_path, _model("LatentDirichletAllocation").fit(COUNTS)


def test_a_flipped_bit_is_noticed_and_the_result_is_the_same(cut):
    folder, whole = cut
    last = folder / "step-000000009.ssvi"
    content = bytearray(last.read_bytes())
    content[-5] ^= 1
    last.write_bytes(bytes(content))
    model, resumed_at, (said,) = _resume(folder)
    assert resumed_at == 6
    assert "step-000000009.ssvi is passed over" in said
    assert "it was damaged after it was written (its checksum does not fit)" in said
    np.testing.assert_array_equal(model.components_, whole.components_)


@pytest.mark.parametrize("value", [-1.0, 0.0, np.nan, np.inf])
@pytest.mark.parametrize("shape", [(3, 12), (3,)])
def test_numbers_outside_the_domain_neither_hang_a_fit_nor_change_it(cut, value, shape):
    """In lambda, its totals or the prior of topics, with a checksum that fits."""
    folder, whole = cut
    last = folder / "step-000000009.ssvi"
    text, arrays = container.read(last, "a checkpoint")
    for name, array in arrays.items():
        if array.shape == shape:
            arrays[name] = array.copy()
            arrays[name].flat[1] = value
    container.write(last, text, arrays)
    model, resumed_at, (said,) = _resume(folder)
    assert resumed_at == 6
    assert "step-000000009.ssvi is passed over: " in said
    np.testing.assert_array_equal(model.components_, whole.components_)


def test_checkpoints_of_before_there_were_checksums_are_read(cut):
    from safetensors.numpy import save

    folder, whole = cut
    last = folder / "step-000000009.ssvi"
    text, arrays = container.read(last, "a checkpoint")
    old = {"kind": text.pop("kind"), "schema": 1} | {name: text[name] for name in ("fingerprint", "fitted")}
    last.write_bytes(save(arrays, {"ssvi": json.dumps(old)}))
    model, resumed_at, said = _resume(folder)
    assert (resumed_at, said) == (9, [])
    np.testing.assert_array_equal(model.components_, whole.components_)


def test_what_only_has_a_checkpoints_name_is_passed_over(cut):
    folder, whole = cut
    (folder / "step-000000018.ssvi").mkdir()
    (folder / "step-000000030.ssvi").mkdir()
    (folder / "step-000000031.ssvi").symlink_to(folder / "nothing" / "there")
    (folder / "step-000000032.ssvi").symlink_to(folder / "step-000000032.ssvi")
    model, resumed_at, said = _resume(folder)
    assert resumed_at == 9
    assert [line.split(" is passed over: ")[0][-8:-5] for line in said[:4]] == ["032", "031", "030", "018"]
    assert "step 18 could not be written" in said[4]  # there is a folder in its place
    assert len(said) == 5
    np.testing.assert_array_equal(model.components_, whole.components_)
    assert [path.name for path in model.callbacks[0].files()] == ["step-000000015.ssvi", "step-000000020.ssvi"]
    model.callbacks[0].clear()
    assert len(os.listdir(folder)) == 4


def test_files_of_no_use_with_late_names_do_not_push_out_those_of_the_fit(cut):
    folder, _ = cut
    for step in (700, 800, 900):
        (folder / f"step-000000{step}.ssvi").write_text("nothing")
    with pytest.raises(PowerCutError), pytest.warns(RuntimeWarning, match="is passed over"):
        _model("LatentDirichletAllocation", folder, last_step=17).fit(COUNTS)
    _, resumed_at, _ = _resume(folder)
    assert resumed_at == 15


@pytest.mark.parametrize(
    ("parameters", "data", "fault"),
    [
        ({"random_state": 4}, COUNTS, "random_state"),
        ({"doc_topic_prior": 0.7}, COUNTS, "doc_topic_prior"),
        ({}, COUNTS[::-1], "data"),
    ],
)
def test_checkpoints_of_another_fit_are_not_taken_for_this_one(tmp_path, parameters, data, fault):
    _model("LatentDirichletAllocation", tmp_path).fit(COUNTS)
    with pytest.raises(ValueError, match=f"holds checkpoints of another fit, with other {fault}: give this one"):
        _model("LatentDirichletAllocation", tmp_path, **parameters).fit(data)


def test_threads_and_verbosity_are_no_other_fit(tmp_path):
    whole = _model("LatentDirichletAllocation", tmp_path).fit(COUNTS)
    again = _model("LatentDirichletAllocation", tmp_path, n_jobs=2, verbose=0).fit(COUNTS)
    np.testing.assert_array_equal(again.components_, whole.components_)


def test_a_full_disk_is_reported_and_loses_nothing(tmp_path, monkeypatch):
    whole = _model("LatentDirichletAllocation").fit(COUNTS)

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    model = _model("LatentDirichletAllocation", tmp_path, last_step=7)
    with pytest.raises(PowerCutError):
        model.fit(COUNTS)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    monkeypatch.setattr("ssvi.files.container.write_atomically", full)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        model = _model("LatentDirichletAllocation", tmp_path).fit(COUNTS)
    assert [int(re.search(r"step (\d+) could not be written", str(warning.message))[1]) for warning in seen] == [
        9,
        12,
        15,
        18,
        20,
    ]
    assert "(No space left on device): earlier ones are kept, and the fit goes on" in str(seen[0].message)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
    np.testing.assert_array_equal(model.components_, whole.components_)


def _namespaces():
    """Return the command that gives a process a view of its own of the file systems, if this user may have one."""
    for command in (["unshare", "--mount"], ["unshare", "--map-root-user", "--mount"]):
        with contextlib.suppress(OSError):
            if subprocess.run([*command, "true"], capture_output=True, check=False).returncode == 0:
                return command
    return None


@pytest.mark.skipif(_namespaces() is None, reason="no file system can be mounted here to be filled")
def test_a_file_system_that_is_really_full(tmp_path):
    script = Path(__file__).with_name("full_disk.py")
    command = [*_namespaces(), sys.executable, str(script), str(tmp_path)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")


def test_a_fit_can_be_asked_to_stop_and_save_itself(tmp_path):
    keeper = Checkpoints(tmp_path, every=1_000)

    def ask(state, info):
        if info.step == 5:
            keeper.stop_after_this_step()

    settings = {"batch_size": 20, "max_iter": 2, "random_state": 3}
    model = LatentDirichletAllocation(3, callbacks=[ask, keeper], **settings).fit(COUNTS)
    assert model.n_batch_iter_ == 5
    assert [path.name for path in keeper.files()] == ["step-000000005.ssvi"]
    model = LatentDirichletAllocation(3, callbacks=[keeper], **settings).fit(COUNTS)
    whole = LatentDirichletAllocation(3, **settings).fit(COUNTS)
    np.testing.assert_array_equal(model.components_, whole.components_)
    keeper.clear()
    assert keeper.files() == []


@pytest.mark.parametrize("every", [0, -1, 1.5])
def test_every_is_a_whole_number(tmp_path, every):
    with pytest.raises(ValueError, match="every must be an integer of 1 or more"):
        Checkpoints(tmp_path, every)


def test_a_mixture_that_sees_all_rows_at_once(tmp_path):
    """Coordinate ascent compares a step with the one before it, also across a cut."""
    data = _data("BernoulliMixture")
    settings = {"global_step": "mean_field", "local_step": "exact", "max_iter": 40, "tol": 1e-4, "random_state": 1}
    whole = BernoulliMixture(3, **settings).fit(data)

    def cut(state, info):
        if info.step == 4:
            raise PowerCutError

    with pytest.raises(PowerCutError):
        BernoulliMixture(3, callbacks=[Checkpoints(tmp_path, 3), cut], **settings).fit(data)
    model = BernoulliMixture(3, callbacks=[Checkpoints(tmp_path, 3)], **settings).fit(data)
    assert (model.n_iter_, model.converged_) == (whole.n_iter_, whole.converged_)
    np.testing.assert_array_equal(model.means_, whole.means_)
