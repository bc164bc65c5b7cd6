# SPDX-License-Identifier: Apache-2.0
"""The pacing rule for other languages (Scripts/lib/streaming/pacing.py) against the vectors that the Swift rule passes."""

import importlib.util
import json

import harness
import pytest

VECTORS = harness.ROOT / "Tests/Vectors"
TRACES = [json.loads(line) for line in (VECTORS / "pacing.jsonl").read_text().splitlines()]


def maker():
    spec = importlib.util.spec_from_file_location("make_pacing", VECTORS / "make-pacing.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("trace", TRACES, ids=[trace["name"] for trace in TRACES])
def test_a_trace(trace):
    maker().check(trace)


def test_the_file_is_what_its_script_makes():
    assert [json.loads(json.dumps(trace)) for trace in maker().traces()] == TRACES
