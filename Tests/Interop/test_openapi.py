# SPDX-License-Identifier: Apache-2.0
"""The API's description, held against the OpenAPI schema and against the running service by a tool that knows neither."""

import json
import pathlib
import subprocess
import sys

import harness
from openapi_spec_validator import validate

DOCUMENT = harness.ROOT / "docs" / "openapi.json"
LIMIT = 300.0  # seconds; a run takes a tenth of it when the machine is quiet

# What would be judged, or would wait, for what it is not: the event stream never ends.
LEFT_OUT = "^/v1/events$"


def test_the_document_is_openapi():
    validate(json.loads(DOCUMENT.read_text()))


def test_every_answer_is_in_the_document(start, scratch):
    service = start()
    devices = "".join(
        json.dumps({"fingerprint": "A" * 41 + two, "name": f"Device {two}"}) + "\n" for two in ("BA", "CA", "DA"))
    connection = harness.UnixHTTP(str(service.runtime / "api.sock"))
    connection.request("POST", "/v1/devices/import", devices.encode(), {"Content-Type": "application/x-ndjson"})
    assert connection.getresponse().status == 200
    connection.close()
    token = (service.state / "admin.token").read_text().strip()
    port = json.loads((service.runtime / "endpoints.json").read_text())["api"]["tcp"][0].rpartition(":")[2]
    done = subprocess.run(
        [str(pathlib.Path(sys.executable).parent / "st"), "run", str(DOCUMENT),
         "--url", f"http://127.0.0.1:{port}", "--header", f"Authorization: Bearer {token}",
         "--exclude-path-regex", LEFT_OUT, "--max-examples", "8", "--seed", "7", "--workers", "1",
         "--phases", "examples,coverage,fuzzing", "--generation-database", "none", "--no-color",
         "--checks", "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance"],
        cwd=scratch, capture_output=True, text=True, timeout=LIMIT)
    said = done.stdout[-6000:].replace(token, "TOKEN") + done.stderr[-2000:]
    assert done.returncode == 0, said
    assert service.process.poll() is None
    assert service.get("/v1/status")["devices"] >= 0
