import pytest

from ssvi.schedules import ConstantSchedule, PowerSchedule, whole_step_schedule


def test_power_schedule():
    schedule = PowerSchedule(decay=0.75, offset=10.0, scale=2.0)
    assert schedule(6) == pytest.approx(2.0 * 16**-0.75)
    assert PowerSchedule(decay=0.5, offset=0.0, scale=10.0)(4) == 1.0


@pytest.mark.parametrize(
    ("name", "value"), [("decay", -0.1), ("offset", -1.0), ("scale", 0.0), ("decay", float("nan"))]
)
def test_bad_schedules_are_refused_by_name(name, value):
    with pytest.raises(ValueError, match=name):
        PowerSchedule(**{name: value})


@pytest.mark.parametrize("value", [0.0, 1.1, -1.0])
def test_constant_steps_lie_in_the_unit_interval(value):
    assert ConstantSchedule(0.5)(17) == 0.5
    with pytest.raises(ValueError, match=r"in \(0, 1\]"):
        ConstantSchedule(value)


def test_the_first_third_of_whole_steps_is_whole():
    schedule = whole_step_schedule(300)
    assert [schedule(step) for step in (1, 100)] == pytest.approx([1.0, 1.0])
    assert schedule(200) == pytest.approx(0.5**0.75)
    assert whole_step_schedule(1)(1) == 1.0
