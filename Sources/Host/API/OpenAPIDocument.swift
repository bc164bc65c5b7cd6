// SPDX-License-Identifier: Apache-2.0
// swift-format-ignore-file

/// docs/openapi.json, written here by Scripts/embed-openapi.
enum OpenAPIDocument {
    /// The document, the same bytes.
    static var bytes: [UInt8] { Array(text.utf8) }

    private static let text = #"""
{
  "openapi": "3.1.0",
  "info": {
    "title": "Latchkey local API",
    "version": "1",
    "summary": "Pairing and remote-access identity of a streaming host.",
    "description": "HTTP/1.1 with JSON on the host only. Over the Unix socket the caller's user decides; over TCP a bearer token from the state directory. Changes are additive. Unknown members are ignored. See docs/api.md.",
    "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"}
  },
  "servers": [
    {
      "url": "http://127.0.0.1:{port}",
      "description": "Loopback TCP; the Unix socket serves the same.",
      "variables": {"port": {"default": "7456"}}
    }
  ],
  "security": [{"token": []}],
  "tags": [
    {"name": "Service", "description": "The service itself."},
    {"name": "Identity", "description": "The host's key and name."},
    {"name": "Devices", "description": "Who may connect."},
    {"name": "Pairing", "description": "Letting a device in."},
    {"name": "Admission", "description": "Decisions for delegated mode."},
    {"name": "Sessions", "description": "Who is connected."},
    {"name": "Quality", "description": "What the stream runs with, and what each link carries."},
    {"name": "Settings", "description": "What an admin decides."},
    {"name": "Reachability", "description": "How devices away from home get in."},
    {"name": "Audit", "description": "What was done."}
  ],
  "paths": {
    "/healthz": {
      "get": {
        "operationId": "getHealth",
        "tags": ["Service"],
        "summary": "Whether the service does its job",
        "x-role": "open",
        "security": [],
        "responses": {
          "200": {
            "description": "It does.",
            "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Health"}}}
          },
          "401": {"$ref": "#/components/responses/Unauthorized"},
          "403": {"$ref": "#/components/responses/Forbidden"},
          "405": {"$ref": "#/components/responses/MethodNotAllowed"},
          "413": {"$ref": "#/components/responses/TooLarge"},
          "431": {"$ref": "#/components/responses/HeadersTooLarge"},
          "500": {"$ref": "#/components/responses/Internal"},
          "503": {
            "description": "Degraded: the database cannot be written, or a door that should be open is not. Or the service is stopping.",
            "content": {
              "application/json": {"schema": {"$ref": "#/components/schemas/Health"}},
              "application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}
            }
          }
        }
      }
    },
    "/metrics": {
      "get": {
        "operationId": "getMetrics",
        "tags": ["Service"],
        "summary": "Counters and histograms",
        "description": "Needs no token when the service runs with --metrics-open.",
        "x-role": "admin",
        "security": [{"token": ["admin"]}],
        "responses": {
          "200": {
            "description": "Prometheus text.",
            "content": {"text/plain": {"schema": {"type": "string"}}}
          },
          "401": {"$ref": "#/components/responses/Unauthorized"},
          "403": {"$ref": "#/components/responses/Forbidden"},
          "405": {"$ref": "#/components/responses/MethodNotAllowed"},
          "413": {"$ref": "#/components/responses/TooLarge"},
          "431": {"$ref": "#/components/responses/HeadersTooLarge"},
          "500": {"$ref": "#/components/responses/Internal"},
          "503": {"$ref": "#/components/responses/Unavailable"}
        }
      }
    },
    "/v1/openapi.json": {
      "get": {
        "operationId": "getDescription",
        "tags": ["Service"],
        "summary": "This document",
        "x-role": "open",
        "security": [],
        "responses": {
          "200": {
            "description": "OpenAPI 3.1.",
            "content": {"application/json": {"schema": {"type": "object"}}}
          },
          "401": {"$ref": "#/components/responses/Unauthorized"},
          "403": {"$ref": "#/components/responses/Forbidden"},
          "405": {"$ref": "#/components/responses/MethodNotAllowed"},
          "413": {"$ref": "#/components/responses/TooLarge"},
          "431": {"$ref": "#/components/responses/HeadersTooLarge"},
          "500": {"$ref": "#/components/responses/Internal"},
          "503": {"$ref": "#/components/responses/Unavailable"}
        }
      }
    },
    "/v1/status": {
      "get": {
        "operationId": "getStatus",
        "tags": ["Service"],
        "summary": "One screen about the service",
        "x-role": "host",
        "security": [{"token": ["host"]}],
        "responses": {
          "200": {
            "description": "The status.",
            "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Status"}}}
          },
          "401": {"$ref": "#/components/responses/Unauthorized"},
          "403": {"$ref": "#/components/responses/Forbidden"},
          "405": {"$ref": "#/components/responses/MethodNotAllowed"},
          "413": {"$ref": "#/components/responses/TooLarge"},
          "431": {"$ref": "#/components/responses/HeadersTooLarge"},
          "500": {"$ref": "#/components/responses/Internal"},
          "503": {"$ref": "#/components/responses/Unavailable"}
        }
      }
    },
    "/v1/events": {
      "get": {
        "operationId": "streamEvents",
        "tags": ["Service"],
        "summary": "Server-sent events",
        "description": "data is the changed object plus at. After an ID the service does not have any more, or never had, an event reset comes first: read again what matters. A comment every 15 s keeps the stream alive. Types: pairing.opened, pairing.closed, pairing.requested, device.paired, device.renamed, device.removed, device.seen, session.opened, session.closing, session.closed, quality.changed, link.changed, reachability.changed, settings.changed, door.changed, lock.changed, identity.rotated (in place of a device.removed for each device).",
        "x-role": "host",
        "security": [{"token": ["host"]}],
        "parameters": [
          {
            "name": "Last-Event-ID",
            "in": "header",
            "description": "The last event the client has; without it: new events only.",
            "schema": {"type": "string"}
          }
        ],
        "responses": {
          "200": {
            "description": "A stream that does not end by itself.",
            "content": {"text/event-stream": {}}
          },
          "400": {"$ref": "#/components/responses/BadRequest"},
          "401": {"$ref": "#/components/responses/Unauthorized"},
          "403": {"$ref": "#/components/responses/Forbidden"},
          "405": {"$ref": "#/components/responses/MethodNotAllowed"},
          "413": {"$ref": "#/components/responses/TooLarge"},
          "431": {"$ref": "#/components/responses/HeadersTooLarge"},
          "500": {"$ref": "#/components/responses/Internal"},
          "503": {"$ref": "#/components/responses/Unavailable"}
        }
      }
    },
    "/v1/lock": {
      "put": {
        "operationId": "setLock",
        "tags": ["Service"],
        "summary": "Say whether the host is locked",
        "description": "For desktops without logind.",
        "x-role": "host",
        "security": [{"token": ["host"]}],
        "requestBody": {
          "required": true,
          "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Lock"}}}
        },
        "responses": {
          "200": {
            "description": "The lock that results.",
            "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Lock"}}}
          },
          "400": {"$ref": "#/components/responses/BadRequest"},
          "401": {"$ref": "#/components/responses/Unauthorized"},
          "403": {"$ref": "#/components/responses/Forbidden"},
          "405": {"$ref": "#/components/responses/MethodNotAllowed"},
          "413": {"$ref": "#/components/responses/TooLarge"},
          "431": {"$ref": "#/components/responses/HeadersTooLarge"},
          "500": {"$ref": "#/components/responses/Internal"},
          "503": {"$ref": "#/components/responses/Unavailable"}
        }
      }
    },
    "/v1/identity": {
      "get": {
        "operationId": "getIdentity",
        "tags": ["Identity"],
        "summary": "Who this host is",
        "x-role": "host",
        "security": [{"token": ["host"]}],
        "responses": {
          "200": {
            "description": "The identity; nothing in it is secret.",
            "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Identity"}}}
          },
          "401": {"$ref": "#/components/responses/Unauthorized"},
          "403": {"$ref": "#/components/responses/Forbidden"},
          "405": {"$ref": "#/components/responses/MethodNotAllowed"},
          "413": {"$ref": "#/components/responses/TooLarge"},
          "431": {"$ref": "#/components/responses/HeadersTooLarge"},
          "500": {"$ref": "#/components/responses/Internal"},
          "503": {"$ref": "#/components/responses/Unavailable"}
        }
      }
    },
    "/v1/identity/host-info": {
      "get": {
        "operationId": "getHostInfo",
        "tags": ["Identity"],
        "summary": "The signed host info",
        "x-role": "host",
        "security": [{"token": ["host"]}],
        "responses": {
          "200": {
            "description": "The current kind 18 payload.",
            "content": {"application/json": {"schema": {"$ref": "#/components/schemas/SignedHostInfo"}}}
          },
          "401": {"$ref": "#/components/responses/Unauthorized"},
          "403": {"$ref": "#/components/responses/Forbidden"},
          "405": {"$ref": "#/components/responses/MethodNotAllowed"},
          "413": {"$ref": "#/components/responses/TooLarge"},
          "431": {"$ref": "#/components/responses/HeadersTooLarge"},
          "500": {"$ref": "#/components/responses/Internal"},
          "503": {"$ref": "#/components/responses/Unavailable"}
        }
      }
    },
    "/v1/identity/signatures": {
      "post": {
        "operationId": "sign",
        "tags": ["Identity"],
        "summary": "Sign a handshake",
        "description": "For streaming processes that end TLS themselves: what their TLS library asks of the private key. At most 200 a second.",
        "x-role": "host",
        "security": [{"token": ["host"]}],
        "requestBody": {
          "required": true,
          "content": {"application/json": {"schema": {"$ref": "#/components/schemas/SignatureRequest"}}}
        },
        "responses": {
          "200": {
            "description": "The signature.",
            "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Signature"}}}
          },
          "400": {"$ref": "#/components/responses/BadRequest"},
          "401": {"$ref": "#/components/responses/Unauthorized"},
          "403": {"$ref": "#/components/responses/Forbidden"},
          "405": {"$ref": "#/components/responses/MethodNotAllowed"},
          "413": {"$ref": "#/components/responses/TooLarge"},
          "429": {
            "description": "More than 200 a second (rateLimited). Try again after Retry-After.",
            "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
          },
          "431": {"$ref": "#/components/responses/HeadersTooLarge"},
          "500": {"$ref": "#/components/responses/Internal"},
          "503": {"$ref": "#/components/responses/Unavailable"}
        }
      }
    },
    "/v1/identity/rotate": {
      "post": {
        "operationId": "rotateIdentity",
        "tags": ["Identity"],
        "summary": "Give the host another key",
        "description": "Every device is unpaired, with a tombstone, and must pair again; every session gets goodbye removed. An open pairing window closes as cancelled. Settings stay. While it is on its way other changes are refused with rotationInProgress, and pairing attempts are answered busy.",
        "x-role": "admin",
        "security": [{"token": ["admin"]}],
        "requestBody": {
          "required": true,
          "content": {"application/json": {"schema": {"$ref": "#/components/schemas/RotateRequest"}}}
        },
        "responses": {
          "200": {
            "description": "The new identity is on disk and in force.",
            "content": {"application/json": {"schema": {"$ref": "#/components/schemas/IdentityRotated"}}}
          },
          "400": {"$ref": "#/components/responses/BadRequest"},
          "401": {"$ref": "#/components/responses/Unauthorized"},
          "403": {"$ref": "#/components/responses/Forbidden"},
          "405": {"$ref": "#/components/responses/MethodNotAllowed"},
          "409": {"$ref": "#/components/responses/Conflict"},
          "413": {"$ref": "#/components/responses/TooLarge"},
          "431": {"$ref": "#/components/responses/HeadersTooLarge"},
          "500": {"$ref": "#/components/responses/Internal"},
          "503": {"$ref": "#/components/responses/Unavailable"}
        }
      }
    },
    "/v1/devices": {
      "get": {
        "operationId": "listDevices",
        "tags": ["Devices"],
        "summary": "Paired devices",
        "x-role": "host",
        "security": [{"token": ["host"]}],
        "parameters": [
          {
            "name": "limit",
            "in": "query",
            "description": "Items on a page.",
            "schema": {"type": "integer", "minimum": 1, "maximum": 1000, "default": 100}
          },
          {
            "name": "after",
            "in": "query",
            "description": "The last page's next.",
            "schema": {"type": "string"}
          },
          {
            "name": "q",
            "in": "query",
            "description": "Keeps names that contain this, in any case.",
            "schema": {"type": "string"}
          },
          {
            "name": "sort",
            "in": "query",
            "schema": {"type": "string", "enum": ["name", "pairedAt", "lastSeenAt"], "default": "name"}
          }
        ],
        "responses": {
          "200": {
            "description": "A page.",
            "content": {"application/json": {"schema": {"$ref": "#/components/schemas/DevicePage"}}}
          },
          "400": {"$ref": "#/components/responses/BadRequest"},
          "401": {"$ref": "#/components/responses/Unauthorized"},
          "403": {"$ref": "#/components/responses/Forbidden"},
          "405": {"$ref": "#/components/responses/MethodNotAllowed"},
          "413": {"$ref": "#/components/responses/TooLarge"},
          "431": {"$ref": "#/components/responses/HeadersTooLarge"},
          "500": {"$ref": "#/components/responses/Internal"},
          "503": {"$ref": "#/components/responses/Unavailable"}
        }
      }
    },
    "/v1/devices/{id}": {
      "get": {
        "operationId": "getDevice",
        "tags": ["Devices"],
        "summary": "One device",
        "x-role": "host",
        "security": [{"token": ["host"]}],
        "parameters": [
          {
            "name": "id",
            "in": "path",
            "required": true,
            "description": "The device's ID, or any unambiguous beginning of at least 4 characters.",
            "schema": {"type": "string", "minLength": 1}
          }
        ],
        "responses": {
          "200": {
            "description": "The device.",
            "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Device"}}}
          },
          "400": {"$ref": "#/components/responses/BadRequest"},
          "401": {"$ref": "#/components/responses/Unauthorized"},
          "403": {"$ref": "#/components/responses/Forbidden"},
          "404": {"$ref": "#/components/responses/NotFound"},
          "405": {"$ref": "#/components/responses/MethodNotAllowed"},
          "409": {"$ref": "#/components/responses/Conflict"},
          "413": {"$ref": "#/components/responses/TooLarge"},
          "431": {"$ref": "#/components/responses/HeadersTooLarge"},
          "500": {"$ref": "#/components/responses/Internal"},
          "503": {"$ref": "#/components/responses/Unavailable"}
        }
      },
      "patch": {
        "operationId": "renameDevice",
        "tags": ["Devices"],
        "summary": "Rename a device",
        "x-role": "admin",
        "security": [{"token": ["admin"]}],
        "parameters": [
          {
            "name": "id",
            "in": "path",
            "required": true,
            "description": "The device's ID, or any unambiguous beginning of at least 4 characters.",
            "schema": {"type": "string", "minLength": 1}
          }
        ],
        "requestBody": {
          "required": true,
          "content": {"application/json": {"schema": {"$ref": "#/components/schemas/DeviceRename"}}}
        },
        "responses": {
          "200": {
            "description": "The device.",
            "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Device"}}}
          },
          "400": {"$ref": "#/components/responses/BadRequest"},
          "401": {"$ref": "#/components/responses/Unauthorized"},
          "403": {"$ref": "#/components/responses/Forbidden"},
          "404": {"$ref": "#/components/responses/NotFound"},
          "405": {"$ref": "#/components/responses/MethodNotAllowed"},
          "409": {"$ref": "#/components/responses/Conflict"},
          "413": {"$ref": "#/components/responses/TooLarge"},
          "431": {"$ref": "#/components/responses/HeadersTooLarge"},
          "500": {"$ref": "#/components/responses/Internal"},
          "503": {"$ref": "#/components/responses/Unavailable"}
        }
      },
      "delete": {
        "operationId": "removeDevice",
        "tags": ["Devices"],
        "summary": "Remove a device",
        "description": "Its sessions get goodbye removed and are closed. A tombstone keeps backups and imports from bringing it back.",
        "x-role": "admin",
        "security": [{"token": ["admin"]}],
        "parameters": [
          {
            "name": "id",
            "in": "path",
            "required": true,
            "description": "The device's ID, or any unambiguous beginning of at least 4 characters.",
            "schema": {"type": "string", "minLength": 1}
          }
        ],
        "responses": {
          "200": {
            "description": "Removed; from now on no handshake of its key succeeds.",
            "content": {"application/json": {"schema": {"$ref": "#/components/schemas/DeviceRemoved"}}}
          },
          "400": {"$ref": "#/components/responses/BadRequest"},
          "401": {"$ref": "#/components/responses/Unauthorized"},
          "403": {"$ref": "#/components/responses/Forbidden"},
          "404": {"$ref": "#/components/responses/NotFound"},
          "405": {"$ref": "#/components/responses/MethodNotAllowed"},
          "409": {"$ref": "#/components/responses/Conflict"},
          "413": {"$ref": "#/components/responses/TooLarge"},
          "431": {"$ref": "#/components/responses/HeadersTooLarge"},
          "500": {"$ref": "#/components/responses/Internal"},
          "503": {"$ref": "#/components/responses/Unavailable"}
        }
      }
    },
    "/v1/devices/import": {
      "post": {
        "operationId": "importDevices",
        "tags": ["Devices"],
        "summary": "Take devices from another machine",
        "description": "JSON Lines, one device a line, at most 64 MiB; a single device may also be sent as JSON on one line. One transaction: a bad line is 400 with its number, and nothing is applied.",
        "x-role": "admin",
        "security": [{"token": ["admin"]}],
        "parameters": [
          {
            "name": "restoreRemoved",
            "in": "query",
            "description": "Also bring back devices that were removed here.",
            "schema": {"type": "boolean", "default": false}
          }
        ],
        "requestBody": {
          "required": false,
          "content": {
            "application/x-ndjson": {
              "schema": {"type": "string", "description": "DeviceLine objects, one a line."}
            },
            "application/json": {"schema": {"$ref": "#/components/schemas/DeviceLine"}}
          }
        },
        "responses": {
          "200": {
            "description": "What was done.",
            "content": {"application/json": {"schema": {"$ref": "#/components/schemas/ImportResult"}}}
          },
          "400": {"$ref": "#/components/responses/BadRequest"},
          "401": {"$ref": "#/components/responses/Unauthorized"},
          "403": {"$ref": "#/components/responses/Forbidden"},
          "405": {"$ref": "#/components/responses/MethodNotAllowed"},
          "413": {"$ref": "#/components/responses/TooLarge"},
          "431": {"$ref": "#/components/responses/HeadersTooLarge"},
          "500": {"$ref": "#/components/responses/Internal"},
          "503": {"$ref": "#/components/responses/Unavailable"}
        }
      }
    },
    "/v1/devices/export": {
      "get": {
        "operationId": "exportDevices",
        "tags": ["Devices"],
        "summary": "All devices as JSON Lines",
        "x-role": "admin",
        "security": [{"token": ["admin"]}],
        "responses": {
          "200": {
            "description": "One device a line.",
            "content": {"application/x-ndjson": {"schema": {"type": "string"}}}
          },
          "401": {"$ref": "#/components/responses/Unauthorized"},
          "403": {"$ref": "#/components/responses/Forbidden"},
          "405": {"$ref": "#/components/responses/MethodNotAllowed"},
          "413": {"$ref": "#/components/responses/TooLarge"},
          "431": {"$ref": "#/components/responses/HeadersTooLarge"},
          "500": {"$ref": "#/components/responses/Internal"},
          "503": {"$ref": "#/components/responses/Unavailable"}
        }
      }
    },
    "/v1/pairing/window": {
      "post": {
        "operationId": "openWindow",
        "tags": ["Pairing"],
        "summary": "Open a pairing window",
        "description": "Answers when the door it needs listens and the local addresses are known, at the latest after 3 s.",
        "x-role": "host",
        "security": [{"token": ["host"]}],
        "parameters": [
          {
            "name": "replace",
            "in": "query",
            "description": "Close an open window instead of answering 409.",
            "schema": {"type": "boolean", "default": false}
          }
        ],
        "requestBody": {
          "required": false,
          "content": {"application/json": {"schema": {"$ref": "#/components/schemas/WindowRequest"}}}
        },
        "responses": {
          "200": {
            "description": "The window a device had asked for is the caller's now, with the same code.",
            "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Window"}}}
          },
          "201": {
            "description": "A fresh window.",
            "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Window"}}}
          },
          "400": {"$ref": "#/components/responses/BadRequest"},
          "401": {"$ref": "#/components/responses/Unauthorized"},
          "403": {"$ref": "#/components/responses/Forbidden"},
          "405": {"$ref": "#/components/responses/MethodNotAllowed"},
          "409": {"$ref": "#/components/responses/Conflict"},
          "413": {"$ref": "#/components/responses/TooLarge"},
          "431": {"$ref": "#/components/responses/HeadersTooLarge"},
          "500": {"$ref": "#/components/responses/Internal"},
          "503": {"$ref": "#/components/responses/Unavailable"}
        }
      },
      "get": {
        "operationId": "getWindow",
        "tags": ["Pairing"],
        "summary": "The open window with its secrets",
        "x-role": "host",
        "security": [{"token": ["host"]}],
        "responses": {
          "200": {
            "description": "The window.",
            "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Window"}}}
          },
          "401": {"$ref": "#/components/responses/Unauthorized"},
          "403": {"$ref": "#/components/responses/Forbidden"},
          "404": {"$ref": "#/components/responses/NotFound"},
          "405": {"$ref": "#/components/responses/MethodNotAllowed"},
          "413": {"$ref": "#/components/responses/TooLarge"},
          "431": {"$ref": "#/components/responses/HeadersTooLarge"},
          "500": {"$ref": "#/components/responses/Internal"},
          "503": {"$ref": "#/components/responses/Unavailable"}
        }
      },
      "delete": {
        "operationId": "cancelWindow",
        "tags": ["Pairing"],
        "summary": "Cancel the window",
        "x-role": "host",
        "security": [{"token": ["host"]}],
        "responses": {
          "200": {
            "description": "Whether there was one.",
            "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Closed"}}}
          },
          "401": {"$ref": "#/components/responses/Unauthorized"},
          "403": {"$ref": "#/components/responses/Forbidden"},
          "405": {"$ref": "#/components/responses/MethodNotAllowed"},
          "413": {"$ref": "#/components/responses/TooLarge"},
          "431": {"$ref": "#/components/responses/HeadersTooLarge"},
          "500": {"$ref": "#/components/responses/Internal"},
          "503": {"$ref": "#/components/responses/Unavailable"}
        }
      }
    },
    "/v1/pairing/window/qr.svg": {
      "get": {
        "operationId": "getWindowSVG",
        "tags": ["Pairing"],
        "summary": "The QR code as SVG",
        "x-role": "host",
        "security": [{"token": ["host"]}],
        "responses": {
          "200": {
            "description": "With viewBox, white ground and quiet zone.",
            "content": {"image/svg+xml": {"schema": {"type": "string"}}}
          },
          "401": {"$ref": "#/components/responses/Unauthorized"},
          "403": {"$ref": "#/components/responses/Forbidden"},
          "404": {"$ref": "#/components/responses/NotFound"},
          "405": {"$ref": "#/components/responses/MethodNotAllowed"},
          "413": {"$ref": "#/components/responses/TooLarge"},
          "431": {"$ref": "#/components/responses/HeadersTooLarge"},
          "500": {"$ref": "#/components/responses/Internal"},
          "503": {"$ref": "#/components/responses/Unavailable"}
        }
      }
    },
    "/v1/pairing/window/qr.txt": {
      "get": {
        "operationId": "getWindowText",
        "tags": ["Pairing"],
        "summary": "The QR code in half blocks",
        "x-role": "host",
        "security": [{"token": ["host"]}],
        "responses": {
          "200": {
            "description": "UTF-8, for a terminal.",
            "content": {"text/plain": {"schema": {"type": "string"}}}
          },
          "401": {"$ref": "#/components/responses/Unauthorized"},
          "403": {"$ref": "#/components/responses/Forbidden"},
          "404": {"$ref": "#/components/responses/NotFound"},
          "405": {"$ref": "#/components/responses/MethodNotAllowed"},
          "413": {"$ref": "#/components/responses/TooLarge"},
          "431": {"$ref": "#/components/responses/HeadersTooLarge"},
          "500": {"$ref": "#/components/responses/Internal"},
          "503": {"$ref": "#/components/responses/Unavailable"}
        }
      }
    },
    "/v1/pairing/window/qr.json": {
      "get": {
        "operationId": "getWindowModules",
        "tags": ["Pairing"],
        "summary": "The QR code's modules",
        "x-role": "host",
        "security": [{"token": ["host"]}],
        "responses": {
          "200": {
            "description": "The matrix.",
            "content": {"application/json": {"schema": {"$ref": "#/components/schemas/QRModules"}}}
          },
          "401": {"$ref": "#/components/responses/Unauthorized"},
          "403": {"$ref": "#/components/responses/Forbidden"},
          "404": {"$ref": "#/components/responses/NotFound"},
          "405": {"$ref": "#/components/responses/MethodNotAllowed"},
          "413": {"$ref": "#/components/responses/TooLarge"},
          "431": {"$ref": "#/components/responses/HeadersTooLarge"},
          "500": {"$ref": "#/components/responses/Internal"},
          "503": {"$ref": "#/components/responses/Unavailable"}
        }
      }
    },
    "/v1/pairing/quiet": {
      "delete": {
        "operationId": "clearQuiet",
        "tags": ["Pairing"],
        "summary": "Forget quiet keys and addresses",
        "x-role": "admin",
        "security": [{"token": ["admin"]}],
        "responses": {
          "200": {
            "description": "Forgotten, and the count of asked windows too.",
            "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Cleared"}}}
          },
          "401": {"$ref": "#/components/responses/Unauthorized"},
          "403": {"$ref": "#/components/responses/Forbidden"},
          "405": {"$ref": "#/components/responses/MethodNotAllowed"},
          "413": {"$ref": "#/components/responses/TooLarge"},
          "431": {"$ref": "#/components/responses/HeadersTooLarge"},
          "500": {"$ref": "#/components/responses/Internal"},
          "503": {"$ref": "#/components/responses/Unavailable"}
        }
      }
    },
    "/v1/lockouts": {
      "delete": {
        "operationId": "clearLockouts",
        "tags": ["Pairing"],
        "summary": "Let those held back try again",
        "description": "Backoffs, quiet times and the count of asked windows; a window that is open stays.",
        "x-role": "admin",
        "security": [{"token": ["admin"]}],
        "parameters": [
          {
            "name": "source",
            "in": "query",
            "description": "Only this address's.",
            "schema": {"type": "string", "anyOf": [{"format": "ipv4"}, {"format": "ipv6"}]}
          },
          {
            "name": "device",
            "in": "query",
            "description": "Only this device's.",
            "schema": {
              "type": "string",
              "description": "A whole ID; the device need not be paired.",
              "pattern": "^[0-9A-HJKMNP-TV-Z]{16}$"
            }
          }
        ],
        "responses": {
          "200": {
            "description": "Forgotten.",
            "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Cleared"}}}
          },
          "400": {"$ref": "#/components/responses/BadRequest"},
          "401": {"$ref": "#/components/responses/Unauthorized"},
          "403": {"$ref": "#/components/responses/Forbidden"},
          "405": {"$ref": "#/components/responses/MethodNotAllowed"},
          "413": {"$ref": "#/components/responses/TooLarge"},
          "431": {"$ref": "#/components/responses/HeadersTooLarge"},
          "500": {"$ref": "#/components/responses/Internal"},
          "503": {"$ref": "#/components/responses/Unavailable"}
        }
      }
    },
    "/v1/admissions": {
      "post": {
        "operationId": "admit",
        "tags": ["Admission"],
        "summary": "Decide about one connection",
        "description": "For streaming processes with listeners of their own. Without alpn and fingerprint it answers the question before TLS. null counts as absent, here and in every body of these calls.",
        "x-role": "host",
        "security": [{"token": ["host"]}],
        "requestBody": {
          "required": true,
          "content": {"application/json": {"schema": {"$ref": "#/components/schemas/AdmissionRequest"}}}
        },
        "responses": {
          "200": {
            "description": "The decision.",
            "content": {"application/json": {"schema": {"$ref": "#/components/schemas/AdmissionAnswer"}}}
          },
          "400": {"$ref": "#/components/responses/BadRequest"},
          "401": {"$ref": "#/components/responses/Unauthorized"},
          "403": {"$ref": "#/components/responses/Forbidden"},
          "405": {"$ref": "#/components/responses/MethodNotAllowed"},
          "413": {"$ref": "#/components/responses/TooLarge"},
          "431": {"$ref": "#/components/responses/HeadersTooLarge"},
          "500": {"$ref": "#/components/responses/Internal"},
          "503": {"$ref": "#/components/responses/Unavailable"}
        }
      }
    },
    "/v1/admissions/failures": {
      "post": {
        "operationId": "reportFailure",
        "tags": ["Admission"],
        "summary": "Report a handshake that failed",
        "description": "For the backoff. What an answer of this API has refused is counted already.",
        "x-role": "host",
        "security": [{"token": ["host"]}],
        "requestBody": {
          "required": true,
          "content": {"application/json": {"schema": {"$ref": "#/components/schemas/AdmissionFailure"}}}
        },
        "responses": {
          "204": {"description": "Counted."},
          "400": {"$ref": "#/components/responses/BadRequest"},
          "401": {"$ref": "#/components/responses/Unauthorized"},
          "403": {"$ref": "#/components/responses/Forbidden"},
          "405": {"$ref": "#/components/responses/MethodNotAllowed"},
          "413": {"$ref": "#/components/responses/TooLarge"},
          "431": {"$ref": "#/components/responses/HeadersTooLarge"},
          "500": {"$ref": "#/components/responses/Internal"},
          "503": {"$ref": "#/components/responses/Unavailable"}
        }
      }
    },
    "/v1/pairing/requests": {
      "post": {
        "operationId": "answerPairing",
        "tags": ["Pairing"],
        "summary": "Answer a device's pairing message",
        "description": "A connection that was not admitted for pairing is judged now. With payload null it is closed without a word.",
        "x-role": "host",
        "security": [{"token": ["host"]}],
        "requestBody": {
          "required": true,
          "content": {"application/json": {"schema": {"$ref": "#/components/schemas/PairingMessage"}}}
        },
        "responses": {
          "200": {
            "description": "What to send before closing.",
            "content": {"application/json": {"schema": {"$ref": "#/components/schemas/PairingReply"}}}
          },
          "400": {"$ref": "#/components/responses/BadRequest"},
          "401": {"$ref": "#/components/responses/Unauthorized"},
          "403": {"$ref": "#/components/responses/Forbidden"},
          "405": {"$ref": "#/components/responses/MethodNotAllowed"},
          "413": {"$ref": "#/components/responses/TooLarge"},
          "422": {
            "description": "The payload is no pairing message (badPairingMessage); one failure was counted. Close without an answer.",
            "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
          },
          "431": {"$ref": "#/components/responses/HeadersTooLarge"},
          "500": {"$ref": "#/components/responses/Internal"},
          "503": {"$ref": "#/components/responses/Unavailable"}
        }
      }
    },
    "/v1/sessions": {
      "get": {
        "operationId": "listSessions",
        "tags": ["Sessions"],
        "summary": "All sessions",
        "x-role": "host",
        "security": [{"token": ["host"]}],
        "parameters": [
          {
            "name": "limit",
            "in": "query",
            "description": "Items on a page.",
            "schema": {"type": "integer", "minimum": 1, "maximum": 1000, "default": 100}
          },
          {
            "name": "after",
            "in": "query",
            "description": "The last page's next.",
            "schema": {"type": "string"}
          }
        ],
        "responses": {
          "200": {
            "description": "A page, in the order they came.",
            "content": {"application/json": {"schema": {"$ref": "#/components/schemas/SessionPage"}}}
          },
          "400": {"$ref": "#/components/responses/BadRequest"},
          "401": {"$ref": "#/components/responses/Unauthorized"},
          "403": {"$ref": "#/components/responses/Forbidden"},
          "405": {"$ref": "#/components/responses/MethodNotAllowed"},
          "413": {"$ref": "#/components/responses/TooLarge"},
          "431": {"$ref": "#/components/responses/HeadersTooLarge"},
          "500": {"$ref": "#/components/responses/Internal"},
          "503": {"$ref": "#/components/responses/Unavailable"}
        }
      },
      "post": {
        "operationId": "registerSession",
        "tags": ["Admission"],
        "summary": "Register a session",
        "description": "For streaming processes: a connection that was admitted as a session, or one that is judged now, and again as after the device gate.",
        "x-role": "host",
        "security": [{"token": ["host"]}],
        "requestBody": {
          "required": true,
          "content": {"application/json": {"schema": {"$ref": "#/components/schemas/SessionRequest"}}}
        },
        "responses": {
          "200": {
            "description": "It is no session: send the goodbye, if there is one, and close.",
            "content": {"application/json": {"schema": {"$ref": "#/components/schemas/SessionAnswer"}}}
          },
          "201": {
            "description": "It is one.",
            "content": {"application/json": {"schema": {"$ref": "#/components/schemas/SessionAnswer"}}}
          },
          "400": {"$ref": "#/components/responses/BadRequest"},
          "401": {"$ref": "#/components/responses/Unauthorized"},
          "403": {"$ref": "#/components/responses/Forbidden"},
          "405": {"$ref": "#/components/responses/MethodNotAllowed"},
          "413": {"$ref": "#/components/responses/TooLarge"},
          "431": {"$ref": "#/components/responses/HeadersTooLarge"},
          "500": {"$ref": "#/components/responses/Internal"},
          "503": {"$ref": "#/components/responses/Unavailable"}
        }
      },
      "delete": {
        "operationId": "endSessions",
        "tags": ["Admission"],
        "summary": "End every session of a streaming process",
        "description": "For one that starts: it holds none of those that a former run registered.",
        "x-role": "host",
        "security": [{"token": ["host"]}],
        "responses": {
          "200": {
            "description": "They are over.",
            "content": {"application/json": {"schema": {"$ref": "#/components/schemas/SessionsClosed"}}}
          },
          "401": {"$ref": "#/components/responses/Unauthorized"},
          "403": {"$ref": "#/components/responses/Forbidden"},
          "405": {"$ref": "#/components/responses/MethodNotAllowed"},
          "413": {"$ref": "#/components/responses/TooLarge"},
          "431": {"$ref": "#/components/responses/HeadersTooLarge"},
          "500": {"$ref": "#/components/responses/Internal"},
          "503": {"$ref": "#/components/responses/Unavailable"}
        }
      }
    },
    "/v1/sessions/{id}": {
      "get": {
        "operationId": "getSession",
        "tags": ["Sessions"],
        "summary": "One session",
        "x-role": "host",
        "security": [{"token": ["host"]}],
        "parameters": [
          {
            "name": "id",
            "in": "path",
            "required": true,
            "description": "The session's ID.",
            "schema": {"type": "string", "minLength": 1}
          }
        ],
        "responses": {
          "200": {
            "description": "The session.",
            "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Session"}}}
          },
          "400": {"$ref": "#/components/responses/BadRequest"},
          "401": {"$ref": "#/components/responses/Unauthorized"},
          "403": {"$ref": "#/components/responses/Forbidden"},
          "404": {"$ref": "#/components/responses/NotFound"},
          "405": {"$ref": "#/components/responses/MethodNotAllowed"},
          "413": {"$ref": "#/components/responses/TooLarge"},
          "431": {"$ref": "#/components/responses/HeadersTooLarge"},
          "500": {"$ref": "#/components/responses/Internal"},
          "503": {"$ref": "#/components/responses/Unavailable"}
        }
      },
      "delete": {
        "operationId": "deleteSession",
        "tags": ["Admission"],
        "summary": "Say that a session is closed",
        "description": "Only for sessions of a streaming process.",
        "x-role": "host",
        "security": [{"token": ["host"]}],
        "parameters": [
          {
            "name": "id",
            "in": "path",
            "required": true,
            "description": "The session's ID.",
            "schema": {"type": "string", "minLength": 1}
          }
        ],
        "responses": {
          "200": {
            "description": "It is over.",
            "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Closed"}}}
          },
          "400": {"$ref": "#/components/responses/BadRequest"},
          "401": {"$ref": "#/components/responses/Unauthorized"},
          "403": {"$ref": "#/components/responses/Forbidden"},
          "404": {"$ref": "#/components/responses/NotFound"},
          "405": {"$ref": "#/components/responses/MethodNotAllowed"},
          "409": {"$ref": "#/components/responses/Conflict"},
          "413": {"$ref": "#/components/responses/TooLarge"},
          "431": {"$ref": "#/components/responses/HeadersTooLarge"},
          "500": {"$ref": "#/components/responses/Internal"},
          "503": {"$ref": "#/components/responses/Unavailable"}
        }
      }
    },
    "/v1/sessions/{id}/hello": {
      "post": {
        "operationId": "sessionHello",
        "tags": ["Admission"],
        "summary": "Hand over a device's hello",
        "description": "The first kind 23 of a session that was registered without one; a later one changes nothing.",
        "x-role": "host",
        "security": [{"token": ["host"]}],
        "parameters": [
          {
            "name": "id",
            "in": "path",
            "required": true,
            "description": "The session's ID.",
            "schema": {"type": "string", "minLength": 1}
          }
        ],
        "requestBody": {
          "required": true,
          "content": {"application/json": {"schema": {"$ref": "#/components/schemas/DeviceHello"}}}
        },
        "responses": {
          "204": {"description": "Taken."},
          "400": {"$ref": "#/components/responses/BadRequest"},
          "401": {"$ref": "#/components/responses/Unauthorized"},
          "403": {"$ref": "#/components/responses/Forbidden"},
          "404": {"$ref": "#/components/responses/NotFound"},
          "405": {"$ref": "#/components/responses/MethodNotAllowed"},
          "409": {"$ref": "#/components/responses/Conflict"},
          "413": {"$ref": "#/components/responses/TooLarge"},
          "431": {"$ref": "#/components/responses/HeadersTooLarge"},
          "500": {"$ref": "#/components/responses/Internal"},
          "503": {"$ref": "#/components/responses/Unavailable"}
        }
      }
    },
    "/v1/sessions/{id}/pairing-wanted": {
      "post": {
        "operationId": "pairingWanted",
        "tags": ["Admission"],
        "summary": "Hand over a device's kind 21",
        "description": "It wants to pair from inside its session. Nothing is answered to it.",
        "x-role": "host",
        "security": [{"token": ["host"]}],
        "parameters": [
          {
            "name": "id",
            "in": "path",
            "required": true,
            "description": "The session's ID.",
            "schema": {"type": "string", "minLength": 1}
          }
        ],
        "responses": {
          "204": {"description": "Taken."},
          "400": {"$ref": "#/components/responses/BadRequest"},
          "401": {"$ref": "#/components/responses/Unauthorized"},
          "403": {"$ref": "#/components/responses/Forbidden"},
          "404": {"$ref": "#/components/responses/NotFound"},
          "405": {"$ref": "#/components/responses/MethodNotAllowed"},
          "409": {"$ref": "#/components/responses/Conflict"},
          "413": {"$ref": "#/components/responses/TooLarge"},
          "431": {"$ref": "#/components/responses/HeadersTooLarge"},
          "500": {"$ref": "#/components/responses/Internal"},
          "503": {"$ref": "#/components/responses/Unavailable"}
        }
      }
    },
    "/v1/sessions/{id}/close": {
      "post": {
        "operationId": "closeSession",
        "tags": ["Sessions"],
        "summary": "End one session",
        "x-role": "admin",
        "security": [{"token": ["admin"]}],
        "parameters": [
          {
            "name": "id",
            "in": "path",
            "required": true,
            "description": "The session's ID.",
            "schema": {"type": "string", "minLength": 1}
          }
        ],
        "requestBody": {
          "required": false,
          "content": {"application/json": {"schema": {"$ref": "#/components/schemas/SessionClose"}}}
        },
        "responses": {
          "200": {
            "description": "It got goodbye ended and is closed.",
            "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Closed"}}}
          },
          "400": {"$ref": "#/components/responses/BadRequest"},
          "401": {"$ref": "#/components/responses/Unauthorized"},
          "403": {"$ref": "#/components/responses/Forbidden"},
          "404": {"$ref": "#/components/responses/NotFound"},
          "405": {"$ref": "#/components/responses/MethodNotAllowed"},
          "413": {"$ref": "#/components/responses/TooLarge"},
          "431": {"$ref": "#/components/responses/HeadersTooLarge"},
          "500": {"$ref": "#/components/responses/Internal"},
          "503": {"$ref": "#/components/responses/Unavailable"}
        }
      }
    },
    "/v1/whois": {
      "get": {
        "operationId": "whois",
        "tags": ["Sessions"],
        "summary": "Whose connection this is",
        "x-role": "host",
        "security": [{"token": ["host"]}],
        "parameters": [
          {
            "name": "remote",
            "in": "query",
            "required": true,
            "description": "The connection's address and port, seen from the host.",
            "schema": {"$ref": "#/components/schemas/Endpoint"}
          }
        ],
        "responses": {
          "200": {
            "description": "The session and device behind an address.",
            "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Whois"}}}
          },
          "400": {"$ref": "#/components/responses/BadRequest"},
          "401": {"$ref": "#/components/responses/Unauthorized"},
          "403": {"$ref": "#/components/responses/Forbidden"},
          "404": {"$ref": "#/components/responses/NotFound"},
          "405": {"$ref": "#/components/responses/MethodNotAllowed"},
          "413": {"$ref": "#/components/responses/TooLarge"},
          "431": {"$ref": "#/components/responses/HeadersTooLarge"},
          "500": {"$ref": "#/components/responses/Internal"},
          "503": {"$ref": "#/components/responses/Unavailable"}
        }
      }
    },
    "/v1/quality": {
      "get": {
        "operationId": "getQuality",
        "tags": ["Quality"],
        "summary": "Both qualities, which runs and why, and every session's part",
        "description": "What a streaming process needs for the away and link of kind 16. quality.changed carries the same, without sessions when there are more than 64.",
        "x-role": "host",
        "security": [{"token": ["host"]}],
        "responses": {
          "200": {
            "description": "The qualities.",
            "content": {"application/json": {"schema": {"$ref": "#/components/schemas/QualityReport"}}}
          },
          "401": {"$ref": "#/components/responses/Unauthorized"},
          "403": {"$ref": "#/components/responses/Forbidden"},
          "405": {"$ref": "#/components/responses/MethodNotAllowed"},
          "413": {"$ref": "#/components/responses/TooLarge"},
          "431": {"$ref": "#/components/responses/HeadersTooLarge"},
          "500": {"$ref": "#/components/responses/Internal"},
          "503": {"$ref": "#/components/responses/Unavailable"}
        }
      }
    },
    "/v1/sessions/{id}/settings": {
      "post": {
        "operationId": "pickQuality",
        "tags": ["Quality"],
        "summary": "A device's pick of the quality (kind 17)",
        "description": "Bitrate and scale go to the pair that the session's controls set: the away pair for a session that is away. Bitrates are the presets only, scales 1 and 2, frame rates 60 and 120; a field that is none of these is dropped and named, the rest applies. At most 4 picks a second and session.",
        "x-role": "host",
        "security": [{"token": ["host"]}],
        "parameters": [
          {
            "name": "id",
            "in": "path",
            "required": true,
            "description": "The session's ID.",
            "schema": {"type": "string", "minLength": 1}
          }
        ],
        "requestBody": {
          "required": true,
          "content": {"application/json": {"schema": {"$ref": "#/components/schemas/QualityPick"}}}
        },
        "responses": {
          "200": {
            "description": "What was taken and what was not.",
            "content": {"application/json": {"schema": {"$ref": "#/components/schemas/QualityPicked"}}}
          },
          "400": {"$ref": "#/components/responses/BadRequest"},
          "401": {"$ref": "#/components/responses/Unauthorized"},
          "403": {"$ref": "#/components/responses/Forbidden"},
          "404": {"$ref": "#/components/responses/NotFound"},
          "405": {"$ref": "#/components/responses/MethodNotAllowed"},
          "409": {"$ref": "#/components/responses/Conflict"},
          "413": {"$ref": "#/components/responses/TooLarge"},
          "431": {"$ref": "#/components/responses/HeadersTooLarge"},
          "500": {"$ref": "#/components/responses/Internal"},
          "503": {"$ref": "#/components/responses/Unavailable"}
        }
      }
    },
    "/v1/sessions/{id}/seconds": {
      "post": {
        "operationId": "postSeconds",
        "tags": ["Quality"],
        "summary": "Seconds of a session's link",
        "description": "Judges the link (a relayed session's door counts for itself: there sent and withheld replace its estimate). running that differs from the last one judges every session afresh.",
        "x-role": "host",
        "security": [{"token": ["host"]}],
        "parameters": [
          {
            "name": "id",
            "in": "path",
            "required": true,
            "description": "The session's ID.",
            "schema": {"type": "string", "minLength": 1}
          }
        ],
        "requestBody": {
          "required": true,
          "content": {"application/json": {"schema": {"$ref": "#/components/schemas/LinkSeconds"}}}
        },
        "responses": {
          "200": {
            "description": "The verdict.",
            "content": {"application/json": {"schema": {"$ref": "#/components/schemas/LinkVerdict"}}}
          },
          "400": {"$ref": "#/components/responses/BadRequest"},
          "401": {"$ref": "#/components/responses/Unauthorized"},
          "403": {"$ref": "#/components/responses/Forbidden"},
          "404": {"$ref": "#/components/responses/NotFound"},
          "405": {"$ref": "#/components/responses/MethodNotAllowed"},
          "413": {"$ref": "#/components/responses/TooLarge"},
          "431": {"$ref": "#/components/responses/HeadersTooLarge"},
          "500": {"$ref": "#/components/responses/Internal"},
          "503": {"$ref": "#/components/responses/Unavailable"}
        }
      }
    },
    "/v1/settings": {
      "get": {
        "operationId": "getSettings",
        "tags": ["Settings"],
        "summary": "The settings in force",
        "x-role": "host",
        "security": [{"token": ["host"]}],
        "responses": {
          "200": {
            "description": "The settings.",
            "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Settings"}}}
          },
          "401": {"$ref": "#/components/responses/Unauthorized"},
          "403": {"$ref": "#/components/responses/Forbidden"},
          "405": {"$ref": "#/components/responses/MethodNotAllowed"},
          "413": {"$ref": "#/components/responses/TooLarge"},
          "431": {"$ref": "#/components/responses/HeadersTooLarge"},
          "500": {"$ref": "#/components/responses/Internal"},
          "503": {"$ref": "#/components/responses/Unavailable"}
        }
      },
      "patch": {
        "operationId": "changeSettings",
        "tags": ["Settings"],
        "summary": "Change settings",
        "x-role": "admin",
        "security": [{"token": ["admin"]}],
        "requestBody": {
          "required": true,
          "content": {"application/json": {"schema": {"$ref": "#/components/schemas/SettingsPatch"}}}
        },
        "responses": {
          "200": {
            "description": "All settings, as they are now.",
            "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Settings"}}}
          },
          "400": {"$ref": "#/components/responses/BadRequest"},
          "401": {"$ref": "#/components/responses/Unauthorized"},
          "403": {"$ref": "#/components/responses/Forbidden"},
          "405": {"$ref": "#/components/responses/MethodNotAllowed"},
          "409": {"$ref": "#/components/responses/Conflict"},
          "413": {"$ref": "#/components/responses/TooLarge"},
          "431": {"$ref": "#/components/responses/HeadersTooLarge"},
          "500": {"$ref": "#/components/responses/Internal"},
          "503": {"$ref": "#/components/responses/Unavailable"}
        }
      }
    },
    "/v1/reachability": {
      "get": {
        "operationId": "getReachability",
        "tags": ["Reachability"],
        "summary": "Whether a device away from home can reach this host, and why",
        "description": "The last report at once; without one yet, a new one. Unknown facts are left out, never null.",
        "x-role": "host",
        "security": [{"token": ["host"]}],
        "parameters": [
          {
            "name": "refresh",
            "in": "query",
            "description": "Look at everything anew, the router included, and wait for it, 7 s at most. Callers share one that is being made.",
            "schema": {"type": "boolean", "default": false}
          }
        ],
        "responses": {
          "200": {
            "description": "The report.",
            "content": {
              "application/json": {"schema": {"$ref": "#/components/schemas/Reachability"}}
            }
          },
          "400": {"$ref": "#/components/responses/BadRequest"},
          "401": {"$ref": "#/components/responses/Unauthorized"},
          "403": {"$ref": "#/components/responses/Forbidden"},
          "405": {"$ref": "#/components/responses/MethodNotAllowed"},
          "413": {"$ref": "#/components/responses/TooLarge"},
          "431": {"$ref": "#/components/responses/HeadersTooLarge"},
          "500": {"$ref": "#/components/responses/Internal"},
          "503": {"$ref": "#/components/responses/Unavailable"}
        }
      }
    },
    "/v1/reachability/port-mapping": {
      "post": {
        "operationId": "mapPort",
        "tags": ["Reachability"],
        "summary": "Ask the router to forward the remote port",
        "description": "By UPnP, else NAT-PMP, for an hour that is renewed; then the setting portMapping is upnp. Refused with 409: mappingRefused, mappingPortDiffers, mappingConflict, mappingNotPossible, mappingPermanentOnly.",
        "x-role": "admin",
        "security": [{"token": ["admin"]}],
        "responses": {
          "200": {
            "description": "The router forwards the port; toThisHost when a rule of the owner's own does already, and then the setting stays.",
            "content": {
              "application/json": {"schema": {"$ref": "#/components/schemas/PortMapping"}}
            }
          },
          "202": {
            "description": "mappingPending: the router has not answered in time; the next probe tells.",
            "content": {
              "application/json": {"schema": {"$ref": "#/components/schemas/PortMapping"}}
            }
          },
          "401": {"$ref": "#/components/responses/Unauthorized"},
          "403": {"$ref": "#/components/responses/Forbidden"},
          "405": {"$ref": "#/components/responses/MethodNotAllowed"},
          "409": {"$ref": "#/components/responses/Conflict"},
          "413": {"$ref": "#/components/responses/TooLarge"},
          "431": {"$ref": "#/components/responses/HeadersTooLarge"},
          "500": {"$ref": "#/components/responses/Internal"},
          "503": {"$ref": "#/components/responses/Unavailable"}
        }
      },
      "delete": {
        "operationId": "unmapPort",
        "tags": ["Reachability"],
        "summary": "Take that forward back",
        "description": "Removes only what this service made; then the setting portMapping is off.",
        "x-role": "admin",
        "security": [{"token": ["admin"]}],
        "responses": {
          "200": {
            "description": "It is gone, or was not there.",
            "content": {
              "application/json": {"schema": {"$ref": "#/components/schemas/PortMapping"}}
            }
          },
          "202": {
            "description": "mappingPending: the router has not answered in time.",
            "content": {
              "application/json": {"schema": {"$ref": "#/components/schemas/PortMapping"}}
            }
          },
          "401": {"$ref": "#/components/responses/Unauthorized"},
          "403": {"$ref": "#/components/responses/Forbidden"},
          "405": {"$ref": "#/components/responses/MethodNotAllowed"},
          "409": {"$ref": "#/components/responses/Conflict"},
          "413": {"$ref": "#/components/responses/TooLarge"},
          "431": {"$ref": "#/components/responses/HeadersTooLarge"},
          "500": {"$ref": "#/components/responses/Internal"},
          "503": {"$ref": "#/components/responses/Unavailable"}
        }
      }
    },
    "/v1/audit": {
      "get": {
        "operationId": "listAudit",
        "tags": ["Audit"],
        "summary": "Who did what, newest first",
        "x-role": "admin",
        "security": [{"token": ["admin"]}],
        "parameters": [
          {
            "name": "limit",
            "in": "query",
            "description": "Items on a page.",
            "schema": {"type": "integer", "minimum": 1, "maximum": 1000, "default": 100}
          },
          {
            "name": "after",
            "in": "query",
            "description": "The last page's next.",
            "schema": {"type": "string"}
          }
        ],
        "responses": {
          "200": {
            "description": "A page.",
            "content": {"application/json": {"schema": {"$ref": "#/components/schemas/AuditPage"}}}
          },
          "400": {"$ref": "#/components/responses/BadRequest"},
          "401": {"$ref": "#/components/responses/Unauthorized"},
          "403": {"$ref": "#/components/responses/Forbidden"},
          "405": {"$ref": "#/components/responses/MethodNotAllowed"},
          "413": {"$ref": "#/components/responses/TooLarge"},
          "431": {"$ref": "#/components/responses/HeadersTooLarge"},
          "500": {"$ref": "#/components/responses/Internal"},
          "503": {"$ref": "#/components/responses/Unavailable"}
        }
      }
    }
  },
  "components": {
    "securitySchemes": {
      "token": {
        "type": "http",
        "scheme": "bearer",
        "description": "host.token or admin.token of the state directory. x-role of an operation says which roles may call it: open (no token), host (both), admin."
      }
    },
    "responses": {
      "BadRequest": {
        "description": "The body or the query is not valid; field names what is wrong. invalidRequest or invalidSetting.",
        "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
      },
      "Unauthorized": {
        "description": "unauthorized: no token, or not one of this host's.",
        "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}},
        "headers": {"WWW-Authenticate": {"description": "Bearer", "schema": {"type": "string"}}}
      },
      "Forbidden": {
        "description": "forbidden: the role is not enough. forbiddenHost, forbiddenOrigin: a foreign Host, Origin or Referer.",
        "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
      },
      "NotFound": {
        "description": "What the path names is not there.",
        "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
      },
      "MethodNotAllowed": {
        "description": "methodNotAllowed.",
        "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}},
        "headers": {
          "Allow": {"description": "The methods this path takes.", "schema": {"type": "string"}}
        }
      },
      "Conflict": {
        "description": "The call does not fit the state of things; code says why.",
        "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
      },
      "TooLarge": {
        "description": "bodyTooLarge: the body is above the limit.",
        "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
      },
      "HeadersTooLarge": {
        "description": "headersTooLarge: above 16 KiB. May be plain when the library answers before routing.",
        "content": {
          "application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}},
          "text/html": {"schema": {"type": "string"}}
        }
      },
      "Internal": {
        "description": "internal: a fault of the service; the log has more under the ID in detail.",
        "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
      },
      "Unavailable": {
        "description": "storeUnavailable: the database cannot be written, nothing changed. unavailable: the service is stopping.",
        "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}},
        "headers": {"Retry-After": {"description": "Seconds.", "schema": {"type": "string"}}}
      }
    },
    "schemas": {
      "Problem": {
        "type": "object",
        "description": "Every error (RFC 9457).",
        "required": ["type", "title", "status", "code", "detail"],
        "properties": {
          "type": {"type": "string", "description": "Always about:blank."},
          "title": {"type": "string", "description": "What went wrong, for people."},
          "status": {"type": "integer", "description": "The HTTP status."},
          "code": {
            "type": "string",
            "description": "Stable; what a program decides by. Listed in docs/api.md."
          },
          "detail": {"type": "string", "description": "This very case, for people."},
          "field": {"type": "string", "description": "The member of the body or the query that is wrong."},
          "candidates": {
            "type": "array",
            "items": {"$ref": "#/components/schemas/DeviceRef"},
            "description": "With ambiguousDevice: the devices that could be meant."
          },
          "last": {
            "anyOf": [{"$ref": "#/components/schemas/LastWindow"}, {"type": "null"}],
            "description": "With noWindow: how the last window ended; null before the first and after a restart."
          }
        }
      },
      "Endpoint": {
        "type": "string",
        "description": "An address and a port. An IPv6 address stands in brackets; its zone may be an interface's name.",
        "anyOf": [
          {
            "pattern": "^((25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])\\.){3}(25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9]):(6553[0-5]|655[0-2][0-9]|65[0-4][0-9]{2}|6[0-4][0-9]{3}|[1-5][0-9]{4}|[1-9]?[0-9]{1,3})$"
          },
          {
            "pattern": "^\\[(([0-9A-Fa-f]{1,4}:){7}[0-9A-Fa-f]{1,4}|([0-9A-Fa-f]{1,4}:){1,7}:|([0-9A-Fa-f]{1,4}:){1,6}:[0-9A-Fa-f]{1,4}|::([0-9A-Fa-f]{1,4}:){0,5}[0-9A-Fa-f]{1,4}|::)(%[A-Za-z0-9_.-]{1,15})?\\]:(6553[0-5]|655[0-2][0-9]|65[0-4][0-9]{2}|6[0-4][0-9]{3}|[1-5][0-9]{4}|[1-9]?[0-9]{1,3})$"
          }
        ],
        "examples": ["203.0.113.7:50122", "[fe80::1%usb0]:50122"]
      },
      "LastWindow": {
        "type": "object",
        "required": ["outcome", "at", "device"],
        "properties": {
          "outcome": {"type": "string", "enum": ["used", "expired", "stopped", "cancelled", "withdrawn"]},
          "at": {"type": "string", "description": "When it ended.", "format": "date-time"},
          "device": {
            "type": ["string", "null"],
            "description": "The device that used it.",
            "pattern": "^[0-9A-HJKMNP-TV-Z]{16}$"
          }
        }
      },
      "Health": {
        "type": "object",
        "required": ["status"],
        "properties": {
          "status": {"type": "string", "enum": ["ok", "degraded"]},
          "reasons": {"type": "array", "items": {"type": "string"}, "description": "Why it is degraded."}
        }
      },
      "DeviceRef": {
        "type": "object",
        "required": ["id", "name"],
        "properties": {
          "id": {
            "type": "string",
            "description": "The device's ID.",
            "pattern": "^[0-9A-HJKMNP-TV-Z]{16}$"
          },
          "name": {"type": "string", "description": "What people call it."}
        }
      },
      "Device": {
        "type": "object",
        "description": "A paired device.",
        "required": [
          "id",
          "name",
          "model",
          "fingerprint",
          "shortName",
          "pairedAt",
          "pairedHow",
          "lastSeenAt",
          "lastRoute",
          "connected",
          "cableBound"
        ],
        "properties": {
          "id": {
            "type": "string",
            "description": "The device's own Sill ID, stable: made from its fingerprint.",
            "pattern": "^[0-9A-HJKMNP-TV-Z]{16}$"
          },
          "name": {"type": "string", "description": "What people call it."},
          "model": {"type": ["string", "null"], "description": "What it says it is."},
          "fingerprint": {
            "type": "string",
            "description": "SHA-256 of its SubjectPublicKeyInfo, base64url.",
            "pattern": "^[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$"
          },
          "shortName": {"type": "string", "description": "The characters people compare."},
          "pairedAt": {"type": "string", "description": "When it was paired.", "format": "date-time"},
          "pairedHow": {
            "type": "string",
            "description": "How it was paired.",
            "enum": ["qr", "code", "cable", "import"]
          },
          "lastSeenAt": {
            "type": ["string", "null"],
            "description": "When it was last in a session; null: never.",
            "format": "date-time"
          },
          "lastRoute": {"type": ["string", "null"], "description": "How it came then, for people."},
          "connected": {"type": "integer", "description": "Its sessions now.", "minimum": 0},
          "cableBound": {"type": "boolean", "description": "Whether a USB device is remembered for it."}
        }
      },
      "DevicePage": {
        "type": "object",
        "required": ["items", "next"],
        "properties": {
          "items": {"type": "array", "items": {"$ref": "#/components/schemas/Device"}},
          "next": {
            "type": ["string", "null"],
            "description": "What the next call gives as after; null on the last page."
          }
        }
      },
      "DeviceLine": {
        "type": "object",
        "description": "One line of an export or import.",
        "required": ["fingerprint", "name"],
        "properties": {
          "fingerprint": {
            "type": "string",
            "description": "SHA-256 of its SubjectPublicKeyInfo, base64url.",
            "pattern": "^[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$"
          },
          "name": {"type": "string", "description": "What people call it.", "pattern": "\\S"},
          "model": {"type": ["string", "null"]},
          "pairedAt": {
            "type": ["string", "null"],
            "description": "RFC 3339; now when absent.",
            "pattern": "^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-9]|3[01])[Tt]([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\\.[0-9]{1,9})?([Zz]|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$"
          },
          "pairedHow": {
            "type": ["string", "null"],
            "description": "Written by an export; an import always says import."
          },
          "lastSeenAt": {
            "type": ["string", "null"],
            "description": "RFC 3339; when it was last in a session.",
            "pattern": "^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-9]|3[01])[Tt]([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\\.[0-9]{1,9})?([Zz]|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$"
          },
          "lastRoute": {"type": ["string", "null"]}
        }
      },
      "DeviceRename": {
        "type": "object",
        "required": ["name"],
        "properties": {
          "name": {
            "type": "string",
            "description": "Cleaned by the service; at least one visible character must stay.",
            "pattern": "\\S"
          }
        }
      },
      "DeviceRemoved": {
        "type": "object",
        "required": ["closedSessions"],
        "properties": {
          "closedSessions": {
            "type": "integer",
            "description": "Sessions that were ended with it.",
            "minimum": 0
          }
        }
      },
      "ImportResult": {
        "type": "object",
        "required": ["imported", "updated", "removedSkipped"],
        "properties": {
          "imported": {"type": "integer", "description": "Devices that were new."},
          "updated": {"type": "integer", "description": "Devices that were known."},
          "removedSkipped": {
            "type": "array",
            "items": {"type": "string", "pattern": "^[0-9A-HJKMNP-TV-Z]{16}$"},
            "description": "Removed devices that were left out."
          }
        }
      },
      "DoorStatus": {
        "type": "object",
        "required": ["state", "port"],
        "properties": {
          "state": {"type": "string", "enum": ["open", "closed", "failed"]},
          "port": {
            "type": ["integer", "null"],
            "description": "The port it listens on, or the one it wants."
          },
          "problem": {"type": "string", "description": "Why it failed, for people."}
        }
      },
      "WindowSummary": {
        "type": "object",
        "description": "The pairing window without its secrets.",
        "required": ["open"],
        "properties": {
          "open": {"type": "boolean", "description": "Whether a window is open."},
          "remote": {"type": "boolean", "description": "Whether the remote door pairs with it too."},
          "expiresAt": {
            "type": "string",
            "description": "When it closes by itself.",
            "format": "date-time"
          },
          "triesLeft": {"type": "integer", "description": "Wrong proofs it still takes."},
          "openedBy": {"type": "string", "enum": ["admin", "host", "device"]}
        }
      },
      "PairingRequest": {
        "type": "object",
        "description": "A device that wants to pair.",
        "required": ["name", "place", "at", "state"],
        "properties": {
          "name": {"type": "string", "description": "The device's name, cleaned."},
          "place": {"type": "string", "description": "Where it asked from."},
          "at": {"type": "string", "description": "When it asked.", "format": "date-time"},
          "state": {"type": "string", "enum": ["showing", "locked", "limit"]}
        }
      },
      "Notice": {
        "type": "object",
        "required": ["kind", "place", "until"],
        "properties": {
          "kind": {"type": "string", "description": "olderDevice; later services may have more."},
          "place": {"type": "string", "description": "Where it was seen."},
          "until": {"type": "string", "description": "When it ends by itself.", "format": "date-time"}
        }
      },
      "Status": {
        "type": "object",
        "required": [
          "version",
          "hostID",
          "name",
          "startedAt",
          "uptime",
          "lock",
          "doors",
          "window",
          "sessions",
          "devices",
          "quality",
          "advertising",
          "reachability",
          "request",
          "notices"
        ],
        "properties": {
          "version": {"type": "string"},
          "hostID": {
            "type": "string",
            "description": "The host's Sill ID.",
            "pattern": "^[0-9A-HJKMNP-TV-Z]{16}$"
          },
          "name": {"type": "string", "description": "The name devices show."},
          "startedAt": {
            "type": "string",
            "description": "When the service started.",
            "format": "date-time"
          },
          "uptime": {"type": "number", "description": "Seconds since then."},
          "lock": {
            "type": "string",
            "description": "Whether asks may pair or open a window.",
            "enum": ["locked", "unlocked"]
          },
          "doors": {
            "type": "object",
            "required": ["home", "remote"],
            "properties": {
              "home": {"$ref": "#/components/schemas/DoorStatus"},
              "remote": {"$ref": "#/components/schemas/DoorStatus"}
            }
          },
          "window": {"$ref": "#/components/schemas/WindowSummary"},
          "sessions": {"type": "integer", "description": "Sessions now."},
          "devices": {"type": "integer", "description": "Paired devices."},
          "quality": {
            "type": "object",
            "required": ["runs"],
            "properties": {
              "runs": {"type": "string", "description": "Which pair runs.", "enum": ["home", "away"]}
            }
          },
          "advertising": {"type": "string", "enum": ["on", "off", "unavailable"]},
          "reachability": {
            "anyOf": [
              {
                "type": "object",
                "required": ["verdict", "at"],
                "properties": {
                  "verdict": {"type": "string"},
                  "at": {
                    "type": "string",
                    "description": "When the report was made.",
                    "format": "date-time"
                  }
                }
              },
              {"type": "null"}
            ]
          },
          "request": {"anyOf": [{"$ref": "#/components/schemas/PairingRequest"}, {"type": "null"}]},
          "notices": {"type": "array", "items": {"$ref": "#/components/schemas/Notice"}}
        }
      },
      "Identity": {
        "type": "object",
        "required": [
          "hostID",
          "fingerprint",
          "shortName",
          "publicKey",
          "certificate",
          "name",
          "createdAt",
          "keyStorage"
        ],
        "properties": {
          "hostID": {
            "type": "string",
            "description": "The host's Sill ID.",
            "pattern": "^[0-9A-HJKMNP-TV-Z]{16}$"
          },
          "fingerprint": {
            "type": "string",
            "description": "SHA-256 of its SubjectPublicKeyInfo, base64url; what devices pin.",
            "pattern": "^[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$"
          },
          "shortName": {"type": "string", "description": "The characters people compare."},
          "publicKey": {"type": "string", "description": "X9.63, 65 bytes, base64url."},
          "certificate": {"type": "string", "description": "DER, base64url."},
          "name": {"type": "string", "description": "The name devices show."},
          "createdAt": {"type": "string", "description": "When the key was made.", "format": "date-time"},
          "keyStorage": {"type": "string", "description": "Where the private key lives."}
        }
      },
      "RotateRequest": {
        "type": "object",
        "required": ["confirm"],
        "properties": {
          "confirm": {
            "type": "string",
            "description": "The ID of the host that is to be no more: this one's.",
            "examples": ["B9X7HK54M3T21PDW"]
          }
        }
      },
      "IdentityRotated": {
        "allOf": [
          {"$ref": "#/components/schemas/Identity"},
          {
            "type": "object",
            "required": ["closedSessions"],
            "properties": {
              "closedSessions": {
                "type": "integer",
                "description": "Sessions that were ended with the old identity.",
                "minimum": 0
              }
            }
          }
        ]
      },
      "SignedHostInfo": {
        "type": "object",
        "description": "A kind 18 payload, ready to send.",
        "required": ["info", "key", "sig"],
        "properties": {
          "info": {"type": "string", "description": "The signed bytes, base64 with padding."},
          "key": {"type": "string", "description": "The host's public key, base64 with padding."},
          "sig": {"type": "string", "description": "ECDSA over info, DER, base64 with padding."}
        }
      },
      "HostAddress": {
        "type": "object",
        "required": ["host", "kind", "via"],
        "properties": {
          "host": {"type": "string", "description": "An address or a name."},
          "port": {"type": "integer", "description": "Absent: the remote port."},
          "kind": {"type": "string"},
          "via": {"type": "string", "description": "For people."}
        }
      },
      "WindowRequest": {
        "type": "object",
        "properties": {
          "requestedBy": {"type": ["string", "null"], "description": "Who wants it, for people."},
          "lifetime": {
            "type": ["number", "null"],
            "minimum": 30,
            "maximum": 600,
            "description": "Seconds; 300 when absent."
          },
          "remote": {
            "type": ["boolean", "null"],
            "description": "Whether the remote door pairs with it too; yes when absent."
          }
        }
      },
      "Window": {
        "type": "object",
        "description": "An open pairing window with its secrets. Never log or keep it.",
        "required": [
          "id",
          "url",
          "code",
          "groupedCode",
          "expiresAt",
          "triesLeft",
          "openedBy",
          "requestedBy",
          "remote",
          "addresses"
        ],
        "properties": {
          "id": {"type": "string", "description": "Names the window in events."},
          "url": {"type": "string", "description": "The pairing link: what the QR code says."},
          "code": {"type": "string", "description": "The typed code.", "pattern": "^[0-9]{12}$"},
          "groupedCode": {"type": "string", "description": "The same in groups of four."},
          "expiresAt": {
            "type": "string",
            "description": "When it closes by itself.",
            "format": "date-time"
          },
          "triesLeft": {"type": "integer", "description": "Wrong proofs it still takes."},
          "openedBy": {"type": "string", "enum": ["admin", "host", "device"]},
          "askedBy": {"$ref": "#/components/schemas/DeviceRef"},
          "requestedBy": {"type": ["string", "null"]},
          "remote": {"type": "boolean", "description": "Whether the remote door pairs with it too."},
          "addresses": {
            "type": "array",
            "items": {"$ref": "#/components/schemas/HostAddress"},
            "description": "Where devices can reach the host, as in kind 18."
          }
        }
      },
      "QRModules": {
        "type": "object",
        "required": ["size", "quiet", "level", "rows"],
        "properties": {
          "size": {"type": "integer", "description": "Modules along one edge."},
          "quiet": {"type": "integer", "description": "Light modules around it."},
          "level": {"type": "string", "description": "Error correction."},
          "rows": {
            "type": "array",
            "items": {"type": "string", "pattern": "^[01]+$"},
            "description": "1 dark, 0 light."
          }
        }
      },
      "Closed": {
        "type": "object",
        "required": ["closed"],
        "properties": {"closed": {"type": "boolean", "description": "Whether there was one to close."}}
      },
      "Cleared": {
        "type": "object",
        "required": ["cleared"],
        "properties": {"cleared": {"type": "boolean", "description": "Always true."}}
      },
      "Goodbye": {
        "type": "object",
        "required": ["reason"],
        "properties": {
          "reason": {"type": "string", "description": "Why the session ends."},
          "message": {"type": "string", "description": "For the person at the device."},
          "minimumVersion": {"type": "string", "description": "The least app version let in."},
          "reconnect": {
            "type": "boolean",
            "description": "Whether the device should try again by itself."
          }
        }
      },
      "AdmissionRequest": {
        "type": "object",
        "required": ["door", "remote"],
        "properties": {
          "door": {"type": "string", "description": "Which door.", "enum": ["home", "remote"]},
          "remote": {"$ref": "#/components/schemas/Endpoint"},
          "local": {
            "anyOf": [{"$ref": "#/components/schemas/Endpoint"}, {"type": "null"}],
            "description": "The door's own."
          },
          "interface": {"type": ["string", "null"], "description": "The interface it came in on."},
          "alpn": {
            "type": ["string", "null"],
            "description": "What was negotiated; empty: none. Only with fingerprint."
          },
          "fingerprint": {
            "type": ["string", "null"],
            "description": "The key's fingerprint, base64url; empty: no P-256 key. Only with alpn.",
            "pattern": "^([A-Za-z0-9_-]{42}[AEIMQUYcgkosw048])?$"
          }
        },
        "anyOf": [
          {"properties": {"alpn": {"type": "null"}, "fingerprint": {"type": "null"}}},
          {
            "required": ["alpn", "fingerprint"],
            "properties": {"alpn": {"type": "string"}, "fingerprint": {"type": "string"}}
          }
        ]
      },
      "AdmissionAnswer": {
        "type": "object",
        "required": ["decision", "origin", "cable", "device", "route", "away"],
        "properties": {
          "decision": {"type": "string", "enum": ["continue", "session", "pairing", "goodbye", "refuse"]},
          "origin": {
            "type": "string",
            "description": "Where the connection comes from.",
            "enum": ["loopback", "direct", "lan", "vpn", "internet"]
          },
          "cable": {"type": "boolean", "description": "Whether it is proven to come over the cable."},
          "reason": {
            "type": "string",
            "description": "With refuse.",
            "enum": ["unpaired", "vpn", "internet", "older", "limit", "direct"]
          },
          "goodbye": {"$ref": "#/components/schemas/Goodbye"},
          "device": {"anyOf": [{"$ref": "#/components/schemas/DeviceRef"}, {"type": "null"}]},
          "route": {"type": "string", "description": "How it comes, for people."},
          "away": {"type": "boolean", "description": "Whether it counts as away from home."}
        }
      },
      "AdmissionFailure": {
        "type": "object",
        "required": ["door", "remote", "failure"],
        "properties": {
          "door": {"type": "string", "description": "Which door.", "enum": ["home", "remote"]},
          "remote": {"$ref": "#/components/schemas/Endpoint"},
          "local": {
            "anyOf": [{"$ref": "#/components/schemas/Endpoint"}, {"type": "null"}],
            "description": "The door's own."
          },
          "interface": {"type": ["string", "null"], "description": "The interface it came in on."},
          "failure": {
            "type": "string",
            "enum": ["untrusted", "noCertificate", "alpn", "http", "notTLS13", "deadline", "badMessage", "peerLeft"]
          },
          "fingerprint": {
            "type": ["string", "null"],
            "description": "The key it showed, when it got so far.",
            "pattern": "^([A-Za-z0-9_-]{42}[AEIMQUYcgkosw048])?$"
          }
        }
      },
      "PairingMessage": {
        "type": "object",
        "required": ["door", "remote", "fingerprint", "payload"],
        "properties": {
          "door": {"type": "string", "description": "Which door.", "enum": ["home", "remote"]},
          "remote": {"$ref": "#/components/schemas/Endpoint"},
          "local": {
            "anyOf": [{"$ref": "#/components/schemas/Endpoint"}, {"type": "null"}],
            "description": "The door's own."
          },
          "interface": {"type": ["string", "null"], "description": "The interface it came in on."},
          "alpn": {"type": ["string", "null"], "description": "What was negotiated.", "enum": ["sill-pair/1", null]},
          "fingerprint": {
            "type": "string",
            "description": "The key's fingerprint, base64url; empty: no P-256 key.",
            "pattern": "^([A-Za-z0-9_-]{42}[AEIMQUYcgkosw048])?$"
          },
          "payload": {"type": "object", "description": "The payload of its kind 19, as it came."}
        }
      },
      "PairingReply": {
        "type": "object",
        "required": ["payload", "close"],
        "properties": {
          "payload": {
            "type": ["object", "null"],
            "description": "The payload of the kind 20 to send, as it is. null: close without a word."
          },
          "close": {"type": "boolean", "description": "Whether the connection ends then: always."},
          "reason": {
            "type": "string",
            "description": "With payload null.",
            "enum": ["unpaired", "vpn", "internet", "limit", "direct"]
          }
        }
      },
      "SessionRequest": {
        "type": "object",
        "required": ["door", "remote", "fingerprint"],
        "properties": {
          "door": {"type": "string", "description": "Which door.", "enum": ["home", "remote"]},
          "remote": {"$ref": "#/components/schemas/Endpoint"},
          "local": {
            "anyOf": [{"$ref": "#/components/schemas/Endpoint"}, {"type": "null"}],
            "description": "The door's own."
          },
          "interface": {"type": ["string", "null"], "description": "The interface it came in on."},
          "alpn": {"type": ["string", "null"], "description": "What was negotiated.", "enum": ["sill/1", null]},
          "fingerprint": {
            "type": "string",
            "description": "The key's fingerprint, base64url; empty: no P-256 key.",
            "pattern": "^([A-Za-z0-9_-]{42}[AEIMQUYcgkosw048])?$"
          },
          "hello": {"type": ["object", "null"], "description": "The payload of its kind 23, as it came."}
        }
      },
      "SessionAnswer": {
        "type": "object",
        "required": ["id", "goodbye"],
        "properties": {
          "id": {"type": ["string", "null"], "description": "The session's ID; null: it is none."},
          "session": {"$ref": "#/components/schemas/Session"},
          "hostInfo": {"$ref": "#/components/schemas/SignedHostInfo"},
          "quality": {"$ref": "#/components/schemas/QualityReport"},
          "goodbye": {"anyOf": [{"$ref": "#/components/schemas/Goodbye"}, {"type": "null"}]},
          "delay": {"type": "number", "description": "How many seconds late the goodbye goes out; absent: at once."},
          "reason": {
            "type": "string",
            "description": "Without a session and a goodbye: why it is closed without a word.",
            "enum": ["unpaired", "vpn", "internet", "limit", "direct"]
          }
        }
      },
      "SessionsClosed": {
        "type": "object",
        "required": ["closedSessions"],
        "properties": {"closedSessions": {"type": "integer"}}
      },
      "DeviceHello": {
        "type": "object",
        "description": "The payload of a kind 23, as it came. Every member is optional.",
        "properties": {
          "appVersion": {"type": ["string", "null"]},
          "build": {"type": ["string", "null"]},
          "device": {"type": ["string", "null"]},
          "protocol": {"type": ["integer", "null"]},
          "audio": {"type": ["array", "null"], "items": {"type": "string"}}
        }
      },
      "SignatureRequest": {
        "type": "object",
        "required": ["algorithm", "digest"],
        "properties": {
          "algorithm": {"type": "string", "enum": ["ecdsa-p256-sha256"]},
          "digest": {
            "type": "string",
            "description": "A SHA-256, base64url.",
            "pattern": "^[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$"
          }
        }
      },
      "Signature": {
        "type": "object",
        "required": ["signature"],
        "properties": {"signature": {"type": "string", "description": "ECDSA in DER, base64url."}}
      },
      "Hello": {
        "type": "object",
        "description": "What a device's hello said.",
        "properties": {
          "appVersion": {"type": "string"},
          "build": {"type": "string"},
          "device": {"type": "string"},
          "protocolGeneration": {"type": "integer"},
          "audio": {"type": "array", "items": {"type": "string"}}
        }
      },
      "Link": {
        "type": "object",
        "required": ["state"],
        "properties": {
          "state": {"type": "string"},
          "carriedKbps": {"type": "integer"},
          "suggestion": {
            "type": "object",
            "required": ["bitrate"],
            "properties": {"bitrate": {"type": "integer"}, "captureScale": {"type": "integer"}}
          }
        }
      },
      "Session": {
        "type": "object",
        "required": [
          "id",
          "device",
          "door",
          "origin",
          "cable",
          "route",
          "away",
          "paired",
          "mode",
          "startedAt",
          "remote",
          "bytesIn",
          "bytesOut",
          "hello",
          "link"
        ],
        "properties": {
          "id": {"type": "string", "description": "The session's ID."},
          "device": {
            "anyOf": [{"$ref": "#/components/schemas/DeviceRef"}, {"type": "null"}],
            "description": "Its paired device."
          },
          "door": {"type": "string", "description": "Which door.", "enum": ["home", "remote"]},
          "origin": {
            "type": "string",
            "description": "Where the connection comes from.",
            "enum": ["loopback", "direct", "lan", "vpn", "internet"]
          },
          "cable": {"type": "boolean"},
          "route": {"type": "string", "description": "How it comes, for people."},
          "away": {"type": "boolean"},
          "paired": {"type": "boolean"},
          "mode": {"type": "string", "enum": ["relay", "delegated"]},
          "startedAt": {"type": "string", "description": "When it was registered.", "format": "date-time"},
          "remote": {"type": "string", "description": "The device's address and port."},
          "bytesIn": {"type": "integer", "description": "From the device, decrypted."},
          "bytesOut": {"type": "integer", "description": "To the device, decrypted."},
          "hello": {"anyOf": [{"$ref": "#/components/schemas/Hello"}, {"type": "null"}]},
          "link": {"$ref": "#/components/schemas/Link"},
          "goodbye": {"$ref": "#/components/schemas/Goodbye"}
        }
      },
      "SessionPage": {
        "type": "object",
        "required": ["items", "next"],
        "properties": {
          "items": {"type": "array", "items": {"$ref": "#/components/schemas/Session"}},
          "next": {"type": ["string", "null"]}
        }
      },
      "SessionClose": {
        "type": "object",
        "properties": {
          "message": {"type": ["string", "null"], "description": "For the person at the device."}
        }
      },
      "Whois": {
        "type": "object",
        "required": ["session", "device"],
        "properties": {
          "session": {"$ref": "#/components/schemas/Session"},
          "device": {"anyOf": [{"$ref": "#/components/schemas/Device"}, {"type": "null"}]}
        }
      },
      "Quality": {
        "type": "object",
        "required": ["bitrate", "captureScale"],
        "properties": {
          "bitrate": {
            "type": "integer",
            "description": "Bits per second per 60 frames a second.",
            "minimum": 1000000,
            "maximum": 200000000
          },
          "captureScale": {
            "type": "integer",
            "description": "1: points, 2: full pixels.",
            "minimum": 1,
            "maximum": 2
          }
        }
      },
      "QualityReport": {
        "type": "object",
        "required": ["runs", "home", "away", "maxFPS", "why", "running"],
        "properties": {
          "runs": {"type": "string", "description": "The pair that is wanted: away while every connected device is.", "enum": ["home", "away"]},
          "home": {"$ref": "#/components/schemas/Quality"},
          "away": {"$ref": "#/components/schemas/Quality"},
          "maxFPS": {"type": "integer"},
          "why": {
            "type": "object",
            "required": ["home", "away", "reason"],
            "properties": {
              "home": {"type": "integer", "description": "Devices at home.", "minimum": 0},
              "away": {"type": "integer", "description": "Devices away.", "minimum": 0},
              "reason": {"type": "string", "description": "In one clause, for people."}
            }
          },
          "running": {
            "anyOf": [{"$ref": "#/components/schemas/Running"}, {"type": "null"}],
            "description": "What the stream runs with as far as a streaming process said, else the wanted pair at 60 frames a second; null: it has stopped."
          },
          "sessions": {"type": "array", "items": {"$ref": "#/components/schemas/SessionQuality"}}
        }
      },
      "Running": {
        "type": "object",
        "required": ["bitrate", "fps", "captureScale"],
        "properties": {
          "bitrate": {"type": "integer", "description": "Bits per second per 60 frames a second.", "minimum": 1},
          "fps": {"type": "integer", "minimum": 1},
          "captureScale": {"type": "number", "description": "From 1.5 on 2, below it 1."}
        }
      },
      "PickedSettings": {
        "type": "object",
        "required": ["maxFPS", "bitrate", "captureScale"],
        "properties": {
          "maxFPS": {"type": "integer"},
          "bitrate": {"type": "integer", "description": "Of the pair that this session's controls set."},
          "captureScale": {"type": "integer", "description": "Of the same pair."}
        }
      },
      "SessionQuality": {
        "type": "object",
        "required": ["id", "away", "settings"],
        "properties": {
          "id": {"type": "string", "description": "The session's ID."},
          "away": {"type": "boolean"},
          "settings": {"$ref": "#/components/schemas/PickedSettings"},
          "link": {"$ref": "#/components/schemas/LinkReport"}
        }
      },
      "LinkReport": {
        "type": "object",
        "description": "Kind 16's link. Absent while the link keeps up.",
        "required": ["state", "withheldPerSecond", "bitrate"],
        "properties": {
          "state": {"type": "string", "enum": ["behind", "stalled"]},
          "withheldPerSecond": {"type": "integer", "minimum": 0},
          "bitrate": {"type": "integer", "description": "The encoder's target, in bits per second."},
          "carriedKbps": {"type": "integer", "description": "What the link carried."},
          "suggestedBitrate": {"type": "integer", "description": "What it would carry, in bits per second per 60 frames a second."},
          "suggestedCaptureScale": {"type": "integer", "description": "Goes with it; absent: keep the scale."}
        }
      },
      "QualityPick": {
        "type": "object",
        "description": "The fields of kind 17 as they came; those that are not said to change something here are the streaming process's own.",
        "properties": {
          "bitrate": {"type": ["integer", "null"], "description": "Of the session's pair."},
          "captureScale": {"type": ["number", "null"], "description": "Of the session's pair."},
          "maxFPS": {"type": ["integer", "null"], "description": "Shared."},
          "prioritizeSpeed": {"type": ["boolean", "null"]},
          "virtualDisplay": {"type": ["boolean", "null"]},
          "directWireless": {"type": ["boolean", "null"], "description": "Always refused."}
        }
      },
      "QualityPicked": {
        "type": "object",
        "required": ["applied", "refused", "pair", "settings", "limited"],
        "properties": {
          "applied": {"type": "array", "items": {"type": "string"}},
          "refused": {"type": "array", "items": {"type": "string"}},
          "pair": {"type": "string", "description": "Where bitrate and scale go.", "enum": ["home", "away"]},
          "settings": {"$ref": "#/components/schemas/PickedSettings"},
          "limited": {"type": "boolean", "description": "It came too fast, and changed nothing."}
        }
      },
      "LinkSeconds": {
        "type": "object",
        "required": ["seconds"],
        "properties": {
          "seconds": {
            "type": "array",
            "description": "Oldest first.",
            "maxItems": 10,
            "items": {
              "type": "object",
              "required": ["sent", "withheld", "taken", "waiting", "heard"],
              "properties": {
                "sent": {"type": "integer", "description": "Frames handed to the connection.", "minimum": 0},
                "withheld": {"type": "integer", "description": "Frames not sent, but for those before its first keyframe.", "minimum": 0},
                "taken": {"type": "integer", "description": "Bytes the connection took.", "minimum": 0},
                "waiting": {"type": "integer", "description": "Bytes handed over and not yet taken, at the second's end.", "minimum": 0},
                "heard": {"type": "boolean", "description": "Anything arrived from the device."}
              }
            }
          },
          "running": {
            "anyOf": [{"$ref": "#/components/schemas/Running"}, {"type": "null"}],
            "description": "What the stream runs with; null: it has stopped; absent: as before."
          }
        }
      },
      "LinkVerdict": {
        "type": "object",
        "required": ["state"],
        "properties": {
          "state": {"type": "string", "enum": ["fine", "behind", "stalled"]},
          "link": {"$ref": "#/components/schemas/LinkReport"}
        }
      },
      "Settings": {
        "type": "object",
        "description": "The values in force.",
        "required": [
          "name",
          "requirePairing",
          "remoteAccess",
          "remotePort",
          "internetAccess",
          "addressName",
          "home",
          "away",
          "maxFPS",
          "minimumDeviceVersion",
          "portMapping",
          "advertise",
          "stunServer",
          "permanentMappings",
          "ipv6Pinhole",
          "direct",
          "overridden"
        ],
        "properties": {
          "name": {"type": "string", "description": "The name devices show."},
          "requirePairing": {
            "type": "boolean",
            "description": "Whether the home door turns unpaired devices away."
          },
          "remoteAccess": {"type": "boolean", "description": "Whether the remote door is open."},
          "remotePort": {
            "type": "integer",
            "description": "The remote door's port; 0: any free one.",
            "minimum": 0,
            "maximum": 65535
          },
          "internetAccess": {
            "type": "boolean",
            "description": "Whether the remote door admits from the internet."
          },
          "addressName": {
            "type": ["string", "null"],
            "description": "A name or address that leads to this host from outside, with an optional port."
          },
          "home": {"$ref": "#/components/schemas/Quality"},
          "away": {"$ref": "#/components/schemas/Quality"},
          "maxFPS": {
            "type": "integer",
            "description": "Frames per second at most.",
            "minimum": 24,
            "maximum": 120
          },
          "minimumDeviceVersion": {
            "type": "string",
            "description": "The least app version let in; 0 for any.",
            "pattern": "^\\s*[vV]?[0-9]{1,9}(\\.[0-9]{1,9}){0,7}\\.*([^0-9.][\\s\\S]*)?$"
          },
          "portMapping": {"type": "string", "enum": ["off", "upnp"]},
          "advertise": {
            "type": "boolean",
            "description": "Whether the host announces itself on the local network."
          },
          "stunServer": {"type": ["string", "null"], "description": "host:port of a STUN server."},
          "permanentMappings": {"type": "boolean"},
          "ipv6Pinhole": {"type": "boolean"},
          "direct": {"type": "boolean"},
          "overridden": {
            "type": "array",
            "items": {"type": "string"},
            "description": "Fields the command line holds for this run."
          }
        }
      },
      "SettingsPatch": {
        "type": "object",
        "description": "Any of the settings. One call is one commit, all or nothing.",
        "properties": {
          "name": {"type": ["string", "null"], "description": "null or empty: the machine's own name."},
          "requirePairing": {
            "type": "boolean",
            "description": "Whether the home door turns unpaired devices away."
          },
          "remoteAccess": {"type": "boolean", "description": "Whether the remote door is open."},
          "remotePort": {
            "anyOf": [
              {"type": "integer", "const": 0},
              {"type": "integer", "minimum": 1024, "maximum": 65535}
            ]
          },
          "internetAccess": {
            "type": "boolean",
            "description": "Whether the remote door admits from the internet."
          },
          "addressName": {
            "type": ["string", "null"],
            "description": "A name or address that leads to this host from outside, with an optional port; null or empty: none.",
            "pattern": "^((([A-Za-z0-9]([A-Za-z0-9-]{0,30}[A-Za-z0-9])?\\.){0,4}[A-Za-z]([A-Za-z0-9-]{0,30}[A-Za-z0-9])?|((25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])\\.){3}(25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])|\\[(([0-9A-Fa-f]{1,4}:){7}[0-9A-Fa-f]{1,4}|([0-9A-Fa-f]{1,4}:){1,7}:|([0-9A-Fa-f]{1,4}:){1,6}:[0-9A-Fa-f]{1,4}|::([0-9A-Fa-f]{1,4}:){0,5}[0-9A-Fa-f]{1,4}|::)\\])(:(6553[0-5]|655[0-2][0-9]|65[0-4][0-9]{2}|6[0-4][0-9]{3}|[1-5][0-9]{4}|[1-9][0-9]{0,3}))?)?$"
          },
          "home": {
            "type": "object",
            "properties": {
              "bitrate": {"type": "integer", "minimum": 1000000, "maximum": 200000000},
              "captureScale": {"type": "integer", "minimum": 1, "maximum": 2}
            },
            "additionalProperties": false
          },
          "away": {
            "type": "object",
            "properties": {
              "bitrate": {"type": "integer", "minimum": 1000000, "maximum": 200000000},
              "captureScale": {"type": "integer", "minimum": 1, "maximum": 2}
            },
            "additionalProperties": false
          },
          "maxFPS": {
            "type": "integer",
            "description": "Frames per second at most.",
            "minimum": 24,
            "maximum": 120
          },
          "minimumDeviceVersion": {
            "type": "string",
            "description": "The least app version let in; 0 for any.",
            "pattern": "^\\s*[vV]?[0-9]{1,9}(\\.[0-9]{1,9}){0,7}\\.*([^0-9.][\\s\\S]*)?$"
          },
          "portMapping": {"type": "string", "enum": ["off", "upnp"]},
          "advertise": {
            "type": "boolean",
            "description": "Whether the host announces itself on the local network."
          },
          "stunServer": {
            "type": ["string", "null"],
            "description": "host:port of a STUN server; null or empty: none.",
            "pattern": "^((([A-Za-z0-9]([A-Za-z0-9-]{0,30}[A-Za-z0-9])?\\.){0,4}[A-Za-z]([A-Za-z0-9-]{0,30}[A-Za-z0-9])?|((25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])\\.){3}(25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])|\\[(([0-9A-Fa-f]{1,4}:){7}[0-9A-Fa-f]{1,4}|([0-9A-Fa-f]{1,4}:){1,7}:|([0-9A-Fa-f]{1,4}:){1,6}:[0-9A-Fa-f]{1,4}|::([0-9A-Fa-f]{1,4}:){0,5}[0-9A-Fa-f]{1,4}|::)\\]):(6553[0-5]|655[0-2][0-9]|65[0-4][0-9]{2}|6[0-4][0-9]{3}|[1-5][0-9]{4}|[1-9][0-9]{0,3}))?$"
          },
          "permanentMappings": {"type": "boolean"},
          "ipv6Pinhole": {"type": "boolean"},
          "direct": {"type": "boolean"}
        },
        "additionalProperties": false
      },
      "Reachability": {
        "type": "object",
        "required": [
          "version",
          "at",
          "tookMs",
          "verdict",
          "severity",
          "basis",
          "advice",
          "summary",
          "remoteAccess",
          "internet",
          "port",
          "listener",
          "addresses",
          "vpns",
          "router",
          "ipv6",
          "notes",
          "facts"
        ],
        "properties": {
          "version": {"type": "integer", "description": "1."},
          "at": {"type": "string", "description": "When it was made.", "format": "date-time"},
          "tookMs": {"type": "integer", "description": "How long the making took."},
          "verdict": {
            "type": "string",
            "description": "identityMissing, remoteOff, doorPortInUse, doorFailed, firewallDrops, awayVPN, awayInternet, awayMaybe, asking, awayBlocked or awayNone."
          },
          "severity": {"type": "string", "enum": ["ok", "maybe", "blocked"]},
          "basis": {
            "type": "string",
            "enum": ["verified", "inferred"],
            "description": "Whether whoever knows said so (this machine, a VPN's daemon, the router), or the verdict follows from what was seen."
          },
          "advice": {"type": "string", "description": "What to do, in a sentence or two."},
          "summary": {"type": "string", "description": "One line for a status screen."},
          "remoteAccess": {"type": "boolean"},
          "internet": {"type": "boolean", "description": "Remote access and internet access are on."},
          "port": {"type": "integer", "description": "The remote port."},
          "listener": {
            "type": "object",
            "required": ["state"],
            "properties": {
              "state": {"type": "string", "enum": ["open", "closed", "failed"]},
              "port": {"type": "integer", "description": "Open or asked for."}
            }
          },
          "addresses": {
            "type": "array",
            "description": "As devices get them, in dial order.",
            "items": {"$ref": "#/components/schemas/HostAddress"}
          },
          "vpns": {
            "type": "array",
            "description": "Those that are down included.",
            "items": {
              "type": "object",
              "required": ["name", "product", "code", "notes"],
              "properties": {
                "name": {"type": "string"},
                "product": {"type": "string"},
                "interface": {"type": "string"},
                "code": {
                  "type": "string",
                  "description": "vpnUp, vpnUserspace, vpnShieldsUp, vpnDown, vpnNeedsLogin, vpnDaemonDown or vpnOffline."
                },
                "notes": {"type": "array", "items": {"type": "string"}}
              }
            }
          },
          "lanAddress": {"type": "string", "description": "The primary LAN address."},
          "gateway": {"type": "string", "description": "The router that was asked."},
          "router": {
            "type": "object",
            "required": ["code", "mapping"],
            "properties": {
              "code": {
                "type": "string",
                "description": "What IPv4 from the internet finds: off, asking, directPublic, publicMapped, publicUnmapped, publicMappedElsewhere, publicMappingDisabled, publicMappingUnknown, carrierNAT, carrierNATDSLite, doubleNAT, natAboveRouter, directCarrier, wanHidden, routerMappingOff, noAnswer, noWAN or noLAN."
              },
              "ifOn": {"type": "string", "description": "What it would be with internet access on."},
              "address": {
                "type": "string",
                "description": "The router's internet address, never a carrier's."
              },
              "masked": {"type": "string", "description": "A carrier's address, its last two octets hidden."},
              "natpmp": {
                "type": "object",
                "description": "Absent: not asked.",
                "required": ["state"],
                "properties": {
                  "state": {
                    "type": "string",
                    "enum": ["answered", "withheld", "refused", "unsupported", "silent"]
                  },
                  "address": {
                    "type": "string",
                    "description": "The internet address it tells; a carrier's masked."
                  }
                }
              },
              "igd": {
                "type": "object",
                "description": "UPnP. Absent: not asked.",
                "required": ["state"],
                "properties": {
                  "state": {
                    "type": "string",
                    "enum": ["connected", "disconnected", "withheld", "error", "none"]
                  },
                  "type": {"type": "string", "description": "The connection type it tells."},
                  "address": {
                    "type": "string",
                    "description": "The internet address it tells; a carrier's masked."
                  }
                }
              },
              "stun": {"type": "string", "description": "The address the owner's STUN server saw."},
              "mapping": {
                "type": "object",
                "required": ["state"],
                "properties": {
                  "state": {
                    "type": "string",
                    "enum": ["none", "ours", "toThisHost", "elsewhere", "disabled", "unreadable"]
                  },
                  "target": {"type": "string", "description": "Where the router leads the port."},
                  "expiresAt": {
                    "type": "string",
                    "description": "When it ends by itself.",
                    "format": "date-time"
                  }
                }
              },
              "request": {
                "description": "The mapping that is kept for the owner. Absent: none is wanted and none is left.",
                "allOf": [{"$ref": "#/components/schemas/RouterRequest"}]
              }
            }
          },
          "ipv6": {
            "type": "object",
            "required": ["code"],
            "properties": {
              "code": {
                "type": "string",
                "description": "v6None, v6TemporaryOnly, v6Open, v6PinholePossible, v6PinholeActive, v6Blocked or v6Unknown."
              },
              "address": {"type": "string", "description": "The address that is listed."},
              "request": {
                "description": "The pinhole that is kept for the owner. Absent: none is wanted and none is left.",
                "allOf": [{"$ref": "#/components/schemas/RouterRequest"}]
              }
            }
          },
          "addressName": {
            "type": "object",
            "required": ["text"],
            "properties": {
              "text": {"type": "string", "description": "As it is set."},
              "code": {
                "type": "string",
                "enum": ["nameUnresolved", "nameMatches", "nameStale", "namePrivate"]
              }
            }
          },
          "notes": {
            "type": "array",
            "description": "Codes of things worth a line.",
            "items": {"type": "string"}
          },
          "facts": {
            "type": "array",
            "description": "Where each fact came from.",
            "items": {
              "type": "object",
              "required": ["fact", "source", "state", "ageMs", "tookMs"],
              "properties": {
                "fact": {"type": "string", "description": "interfaces, vpn.*, router.*, name or firewall."},
                "source": {"type": "string", "description": "In words."},
                "state": {
                  "type": "string",
                  "enum": ["answered", "silent", "refused", "unreadable", "notAsked"]
                },
                "ageMs": {"type": "integer", "description": "How old it was when the report was made."},
                "tookMs": {"type": "integer", "description": "How long its reading took."}
              }
            }
          }
        }
      },
      "RouterRequest": {
        "type": "object",
        "description": "How something stands that the owner asked the router for.",
        "required": ["code", "seen"],
        "properties": {
          "code": {
            "type": "string",
            "description": "mappingActive, mappingPending, mappingRefused, mappingPortDiffers, mappingConflict, mappingNotPossible, mappingPermanentOnly or toThisHost; pinholeOpen, pinholePending, pinholeRefused or pinholeNotPossible."
          },
          "detail": {
            "type": "string",
            "description": "The router's error in words, or why it was not asked."
          },
          "seen": {"type": "boolean", "description": "The router was asked again, and shows it."},
          "expiresAt": {
            "type": "string",
            "description": "When it ends unless it is renewed; absent: not granted, or without an end.",
            "format": "date-time"
          }
        }
      },
      "PortMapping": {
        "type": "object",
        "required": ["code"],
        "properties": {
          "code": {"type": "string", "description": "mappingActive, mappingPending, toThisHost or off."},
          "state": {
            "type": "string",
            "description": "ours, toThisHost or none, as in a report's router.mapping; absent while the router has not said."
          },
          "target": {"type": "string", "description": "Where the router leads the port."},
          "expiresAt": {
            "type": "string",
            "description": "When it ends by itself; it is renewed before.",
            "format": "date-time"
          },
          "detail": {"type": "string", "description": "More for people, such as the router's own words."}
        }
      },
      "Lock": {
        "type": "object",
        "required": ["locked"],
        "properties": {
          "locked": {
            "type": "boolean",
            "description": "Whether the host counts as locked: asks neither pair nor open a window."
          }
        }
      },
      "AuditItem": {
        "type": "object",
        "required": ["id", "at", "actor", "action", "outcome"],
        "properties": {
          "id": {"type": "integer"},
          "at": {"type": "string", "description": "When.", "format": "date-time"},
          "actor": {
            "type": "string",
            "description": "unix:UID, token:admin, token:host, door:home, door:remote or service."
          },
          "action": {"type": "string", "description": "What was done."},
          "device": {"type": "string", "description": "The device it was about."},
          "remote": {"type": "string", "description": "Where it came from."},
          "outcome": {"type": "string"},
          "detail": {"type": "string", "description": "For people."}
        }
      },
      "AuditPage": {
        "type": "object",
        "required": ["items", "next"],
        "properties": {
          "items": {"type": "array", "items": {"$ref": "#/components/schemas/AuditItem"}},
          "next": {"type": ["string", "null"]}
        }
      }
    }
  }
}

"""#
}
