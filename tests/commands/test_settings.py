"""config: the settings of this machine."""

from __future__ import annotations

import pytest

from cofferctl.commands.settings import DamagedSettings, get_setting, list_settings, set_setting
from cofferctl.config import BadSetting, NoSuchSetting


def test_defaults(memory):
    found = {item.key: (item.value, item.source) for item in list_settings(memory.coffer).settings}
    assert found["top_k"] == (5, "default")
    assert found["default_mode"] == ("keyword", "default")


@pytest.mark.parametrize(
    ("key", "text", "value"),
    [("top_k", "7", 7), ("default_mode", "grep", "grep"), ("retrieval_modes", "grep, keyword", ["grep", "keyword"])],
)
def test_a_setting_is_kept_and_says_where_it_is_from(memory, tmp_path, key, text, value):
    made = set_setting(memory.coffer, key, text)
    found = get_setting(memory.coffer, key)
    assert made == found
    assert (found.value, found.source) == (value, str(tmp_path / "coffer/config.toml"))
    assert (tmp_path / "coffer/config.toml").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("top_k", "0"),
        ("top_k", "21"),
        ("top_k", "many"),
        ("max_fact_chars", "1"),
        ("default_mode", "x"),
        ("retrieval_modes", ","),
    ],
)
def test_a_value_that_cannot_be_is_refused(memory, tmp_path, key, text):
    with pytest.raises(BadSetting):
        set_setting(memory.coffer, key, text)
    assert not (tmp_path / "coffer/config.toml").exists()


@pytest.mark.parametrize("key", ["", "topk", "llm", "a.b", "TOP_K"])
def test_a_setting_that_is_none(memory, key):
    for call in (lambda: get_setting(memory.coffer, key), lambda: set_setting(memory.coffer, key, "1")):
        with pytest.raises(NoSuchSetting):
            call()


def test_everything_else_in_the_file_stays(memory, tmp_path):
    path = tmp_path / "coffer/config.toml"
    path.parent.mkdir()
    path.write_text('# mine\nname = "x" # why\n\n[table]\nk = 1\n')
    set_setting(memory.coffer, "top_k", "9")
    text = path.read_text()
    assert '# mine\nname = "x" # why\n' in text
    assert "[table]\nk = 1\n" in text
    assert get_setting(memory.coffer, "top_k").value == 9


def test_a_second_setting_replaces_the_first(memory, tmp_path):
    set_setting(memory.coffer, "top_k", "9")
    set_setting(memory.coffer, "top_k", "3")
    assert (tmp_path / "coffer/config.toml").read_text().count("top_k") == 1


@pytest.mark.parametrize("junk", [b"top_k = = 3", b"\xff\xfe", b"[[[", b"top_k"])
def test_a_damaged_file_counts_as_empty_and_is_never_overwritten(memory, tmp_path, junk):
    path = tmp_path / "coffer/config.toml"
    path.parent.mkdir()
    path.write_bytes(junk)
    answer = list_settings(memory.coffer)
    assert {item.source for item in answer.settings} == {"default"}
    assert "not valid TOML" in answer.notices[0]
    with pytest.raises(DamagedSettings):
        set_setting(memory.coffer, "top_k", "9")
    assert path.read_bytes() == junk


@pytest.mark.parametrize("value", ["-4", '"five"', "[1]", "true", "3.5", "2026-01-01"])
def test_a_value_of_the_wrong_kind_counts_as_none(memory, tmp_path, value):
    path = tmp_path / "coffer/config.toml"
    path.parent.mkdir()
    path.write_text(f"top_k = {value}\n")
    assert get_setting(memory.coffer, "top_k").value in (5, 1)
    memory.remember("The swan")
    assert memory.texts("swan") == ["The swan"]


def test_a_setting_below_a_table_of_its_own(memory, tmp_path):
    path = tmp_path / "coffer/config.toml"
    path.parent.mkdir()
    path.write_text("[other]\ntop_k = 9\n")
    assert get_setting(memory.coffer, "top_k").value == 5
    set_setting(memory.coffer, "top_k", "4")
    assert get_setting(memory.coffer, "top_k").value == 4
