"""The examples of the documentation hold."""

import doctest
import importlib

import pytest


@pytest.mark.parametrize("name", ["", "._compounds", "._set"])
def test_examples(name: str) -> None:
    result = doctest.testmod(importlib.import_module(f"hullfield.collide{name}"))
    assert result.attempted > 3 and result.failed == 0
