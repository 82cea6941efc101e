"""Tables of npu-smi: other widths, missing fields, busy cards, a program that hangs."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest
from backproof.core.errors import DeviceError, ExitCode
from backproof.devices.ascend import health, npu_smi, table
from hypothesis import given
from hypothesis import strategies as st

if TYPE_CHECKING:
    from npu_host import FakeHost

A2 = """
+------------------------------------------------------------------------------------------------+
| npu-smi 24.1.rc3                 Version: 24.1.rc3                                             |
+---------------------------+---------------+----------------------------------------------------+
| NPU   Name                | Health        | Power(W)    Temp(C)           Hugepages-Usage(page)|
| Chip                      | Bus-Id        | AICore(%)   Memory-Usage(MB)  HBM-Usage(MB)        |
+===========================+===============+====================================================+
| 6     910B3               | OK            | 91.0        36                0    / 0             |
| 0                         | 0000:41:00.0  | 0           0    / 0          3401 / 65536         |
+===========================+===============+====================================================+
| 7     910B3               | Alarm         | 95.4        37                0    / 0             |
| 0                         | 0000:42:00.0  | 12          0    / 0          50128/ 65536         |
+===========================+===============+====================================================+
| NPU     Chip              | Process id    | Process name             | Process memory(MB)      |
+===========================+===============+====================================================+
| No running processes found in NPU 6                                                            |
| 7       0                 | 1333928       |                          | 37709                   |
+===========================+===============+====================================================+
"""
A3 = """
| npu-smi 26.0.rc2                            Version: 26.0.rc2                                                    |
| NPU   Name                | Health        | Power(W)             Temp(C)                 Hugepages-Usage(page)   |
| Chip  Phy-ID              | Bus-Id        | AICore(%)            Memory-Usage(MB)        HBM-Usage(MB)           |
| 0     Ascend910  | OK           | 160.0  35   0 / 0            |
| 0     0          | 0000:XX:00.0 | 0      0/0  3100 / 65536     |
| 0     Ascend910  | OK           | -      35   0 / 0            |
| 1     1          | 0000:XX:00.0 | 0      0/0  2900 / 65536     |
"""
EMPTY = """
| 3     Ascend910           |               | -           -                 - / -                |
| 1     7                   | NA            | -           - / -             - / -                |
| 4     Ascend910           | UNKNOWN       |
| 5     Ascend910           | OK            | 1           2                 3 / 4                |
"""


def test_a_narrow_table_without_phy_id() -> None:
    parsed = table.parse_table(A2)
    assert (parsed.tool, parsed.driver) == ("24.1.rc3", "24.1.rc3")
    assert [(chip.device, chip.health, chip.memory_used) for chip in parsed.chips] == [
        (6, "OK", 3401),
        (7, "Alarm", 50128),
    ]
    assert [(holder.npu, holder.chip, holder.pid, holder.memory) for holder in parsed.holders] == [
        (7, 0, 1333928, 37709)
    ]
    assert not parsed.stand_in


def test_a_chip_whose_physical_number_is_not_told_is_still_a_chip() -> None:
    parsed = table.parse_table(A3.replace("| 1     1          |", "| 1     NA         |"))
    assert [(chip.npu, chip.chip, chip.physical) for chip in parsed.chips] == [(0, 0, 0), (0, 1, None)]
    assert parsed.unread == ()


@pytest.mark.parametrize(
    ("states", "usable"), [("Alarm Alarm", True), ("Alarm OK", False), ("Critical Critical", False)]
)
def test_an_alarm_on_every_chip_is_overruled_by_a_person_only(
    monkeypatch: pytest.MonkeyPatch, states: str, usable: bool
) -> None:
    first, second = states.split()
    text = A3.replace("| OK           | 160.0", f"| {first} | 160.0").replace(
        "| OK           | -  ", f"| {second} | -  "
    )
    parsed = table.parse_table(text)
    assert [chip.health for chip in parsed.chips] == [first, second]
    with pytest.raises(DeviceError):
        health.require_usable(parsed, parsed.chips)
    monkeypatch.setenv(health.ACCEPT, "1")
    if usable:
        health.require_usable(parsed, parsed.chips)
        assert health.compare_health(parsed.chips, parsed) == ""
        worse = table.parse_table(text.replace("Alarm | 160.0", "Critical | 160.0"))
        assert "went bad" in health.compare_health(parsed.chips, worse)
    else:
        with pytest.raises(DeviceError):
            health.require_usable(parsed, parsed.chips)


def test_a_wide_table_with_two_chips_a_card() -> None:
    parsed = table.parse_table(A3)
    assert parsed.driver == "26.0.rc2"
    assert [(chip.npu, chip.chip, chip.physical) for chip in parsed.chips] == [(0, 0, 0), (0, 1, 1)]
    assert [chip.power_watts for chip in parsed.chips] == [160.0, None]
    assert parsed.chips[1].memory_total == 65536


def test_missing_fields_are_none_and_lost_rows_are_told() -> None:
    parsed = table.parse_table(EMPTY)
    (chip,) = parsed.chips
    assert (chip.label, chip.health, chip.temperature, chip.memory_used, chip.bus) == (
        "NPU 3 chip 1",
        None,
        None,
        None,
        None,
    )
    assert parsed.unread == ("NPU 5: its chip row is missing",)
    assert health.find_unwell(parsed.chips) == ("NPU 3 chip 1: health is not told",)


@given(st.text(alphabet="|+-= 019AaNPU:./\n%Version", max_size=400))
def test_no_table_can_make_it_fail(text: str) -> None:
    for chip in table.parse_table(text).chips:
        assert chip.label


@pytest.mark.parametrize("wide", [True, False])
@pytest.mark.parametrize("per_card", [1, 2])
def test_every_chip_of_both_widths_is_found(fake_host: FakeHost, wide: bool, per_card: int) -> None:
    fake_host.set(wide=wide, cards=8, chips=per_card)
    parsed, _ = npu_smi.read_table()
    assert [chip.device for chip in parsed.chips] == list(range(8 * per_card))
    assert {chip.health for chip in parsed.chips} == {"OK"}
    assert parsed.stand_in


def test_a_hung_program_is_an_error_in_time(fake_host: FakeHost) -> None:
    fake_host.set(hang=30)
    started = time.monotonic()
    with pytest.raises(DeviceError, match="no NPU") as caught:
        npu_smi.read_table(timeout=0.5)
    assert time.monotonic() - started < 10
    assert "gave no answer" in caught.value.why
    assert caught.value.exit_code is ExitCode.ERROR


def test_a_table_without_chips_is_an_error(fake_host: FakeHost) -> None:
    fake_host.set(cards=0)
    with pytest.raises(DeviceError, match="names no chip"):
        npu_smi.read_table()
