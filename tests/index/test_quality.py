"""The labelled developer facts of the repository are found as well as they were measured to be."""

import importlib.util
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def scores():
    spec = importlib.util.spec_from_file_location("quality", TESTS / "bench" / "quality.py")
    quality = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(quality)
    found = quality.measure(TESTS / "data" / "devfacts")
    return {category: quality.mean(rows) for category, rows in found.items()}


@pytest.mark.parametrize(
    ("category", "least"),
    [("en-lexical", 1.0), ("identifier", 1.0), ("zh", 0.95), ("ja-ko", 1.0), ("en-paraphrase", 0.42)],
)
def test_recall_at_5(scores, category, least):
    assert scores[category][1] >= least
