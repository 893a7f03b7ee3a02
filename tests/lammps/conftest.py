"""What the tests of this folder share."""

import pytest


@pytest.fixture
def pipe(tmp_path):
    """Writes a formula; its path."""

    def write(text):
        (tmp_path / "formula.pipe").write_text(text)
        return tmp_path / "formula.pipe"

    return write
