"""Stores to index, in memory and on disk."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from shelf import Shelf


@pytest.fixture
def shelf():
    """A store indexed in memory."""
    return Shelf(None)


@pytest.fixture
def disk(tmp_path):
    """A store indexed on disk."""
    return Shelf(tmp_path / "index")
