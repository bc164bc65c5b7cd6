# SPDX-License-Identifier: Apache-2.0
"""What every journey stands on: a service with a sample streaming process behind it, gone when the journey ends."""

import harness
import pytest


@pytest.fixture
def scratch():
    with harness.scratch() as directory:
        yield directory


@pytest.fixture
def start(scratch):
    """Starts services and sample hosts that end with the journey."""
    if not harness.have_programs():
        pytest.skip(f"no latchkeyd in {harness.BIN}")
    running = []

    def starter(*options, backend=None, name="one", **more):
        directory = f"{scratch}/{name}"
        service = harness.Service(directory, *options, backend=backend, **more)
        running.append(service)
        return service.start()

    def sample(*options, name="backend"):
        host = harness.SampleHost(scratch, *options, name=name)
        running.append(host)
        return host.start()

    def scripted(script, name="scripted"):
        backend = harness.ScriptedBackend(scratch, script, name)
        running.append(backend)
        return backend

    starter.sample, starter.scripted, starter.directory = sample, scripted, scratch
    yield starter
    for program in reversed(running):
        program.stop()


@pytest.fixture
def sample(start):
    return start.sample("--rate", "200k", "--fps", "20")


@pytest.fixture
def service(start, sample):
    return start(backend=sample.address)
