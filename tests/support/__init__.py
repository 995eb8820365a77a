"""What several tests share."""

import pytest

pytest.register_assert_rewrite("support.cli", "support.memory")
