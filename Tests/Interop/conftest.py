# SPDX-License-Identifier: Apache-2.0
"""What every journey stands on: a service with a sample streaming process behind it, gone when the journey ends."""

import functools
import signal
import threading

import harness
import lab as labs
import pytest
import router_lab


# A stream so quiet that a session which nobody reads for a while stays empty: a goodbye has 100 ms to find its place between
# two messages.
QUIET = "--rate", "20k", "--fps", "20"


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

    def delegated(*options, name="one"):
        service = harness.DelegatedService(f"{scratch}/{name}", *options)
        running.append(service)
        return service.start()

    starter.sample, starter.scripted, starter.directory = sample, scripted, scratch
    starter.delegated = delegated
    yield starter
    for program in reversed(running):
        getattr(program, "stop_all", program.stop)()


@pytest.fixture
def sample(start):
    return start.sample(*QUIET)


def pytest_configure(config):
    for line in (
            "relay_only: about what the service itself does with a session's bytes",
            "alone: needs the machine for itself (Scripts/journeys runs these last, one by one)",
            "waits: spends its time waiting for a deadline, so it begins early beside the others"):
        config.addinivalue_line("markers", line)
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN and threading.current_thread() is threading.main_thread():
        # A shell starts what is in its background so, and every program of a journey would take it over.
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items):
    # Stable: otherwise in the order of the files.
    items.sort(key=lambda item: item.get_closest_marker("waits") is None)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Beside each other (-n 2), the journeys of a file that is called _lab or names its SCENARIO stay together, in their
    order: their labs are made once. Any other journey is made by whoever is free."""
    from xdist.scheduler import LoadScopeScheduling

    class Together(LoadScopeScheduling):
        def _split_scope(self, nodeid):
            file = config.rootpath / nodeid.partition("::")[0]
            # Those of reachability share their labs from file to file too.
            if file.name.startswith("test_reachability"):
                return "reachability"
            return file.name if shares_labs(file) else nodeid

    return Together(config, log)


@functools.cache
def shares_labs(file):
    return file.name.endswith("_lab.py") or file.is_file() and "\nSCENARIO = " in file.read_text()


def pytest_generate_tests(metafunc):
    """A module that says BOTH_WAYS has its journeys made with the service's own doors and with a streaming process's."""
    if "service" in metafunc.fixturenames and getattr(metafunc.module, "BOTH_WAYS", False):
        alone = metafunc.definition.get_closest_marker("relay_only")
        metafunc.parametrize("service", ["relay"] if alone else ["relay", "delegated"], indirect=True)


@pytest.fixture
def service(request, start, sample):
    if getattr(request, "param", "relay") == "delegated":
        return start.delegated()
    return start(backend=sample.address)


@pytest.fixture(scope="module")
def lab(request):
    """The namespaces of the module's scenario, gone when the module is done."""
    labs.require()
    there = labs.Lab(getattr(request.module, "SCENARIO", "doors"))
    try:
        yield there.up()
    finally:
        there.down()


@pytest.fixture(scope="module")
def lab_backend():
    """A streaming process for the module's services; a Unix socket is reached from every namespace."""
    with harness.scratch() as directory:
        host = harness.SampleHost(directory, *QUIET)
        try:
            yield host.start()
        finally:
            host.stop()


@pytest.fixture(scope="module")
def lab_service(lab, lab_backend):
    """A service in the lab's namespace `host`, one for the whole module."""
    if not harness.have_programs():
        pytest.skip(f"no latchkeyd in {harness.BIN}")
    with harness.scratch() as directory:
        # The remote port is the setting: in a namespace nobody else has it.
        service = lab.service(directory, backend=lab_backend.address, remote_port=None)
        try:
            yield service.start()
        finally:
            service.stop()


def chosen(items, name):
    """The values of a parameter among tests that are to run, in their order."""
    return list(dict.fromkeys(
        item.callspec.params[name] for item in items if hasattr(item, "callspec") and name in item.callspec.params))


@pytest.fixture(scope="session")
def places(request):
    """The lab's scenarios by name, for tests with the parameter `at`: each comes up once, in the background."""
    labs.require()
    made = router_lab.Places(chosen(request.session.items, "at"))
    yield made
    made.close()


@pytest.fixture
def there(places, at):
    return places[at]
