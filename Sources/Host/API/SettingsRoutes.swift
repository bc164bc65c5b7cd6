// SPDX-License-Identifier: Apache-2.0

internal import APITypes
internal import Core
internal import LocalAPI
internal import Policy
internal import Wire

/// The settings: show, change (spec 09.16, 09.18).
enum SettingsRoutes {
    static func routes(_ services: APIServices) -> [APIRoute] {
        [
            APIRoute(.get, "/v1/settings", .host) { _, responder in
                responder.send(services.core.enter { core, _ in body(core, core.settings) })
            },
            APIRoute(.patch, "/v1/settings", .admin) { request, responder in
                let json = try request.json()
                let (stored, overridden) = services.core.enter { core, _ in
                    (core.storedSettings, core.overridden)
                }
                for field in overridden where json[field] != nil { throw APIProblems.overridden(field) }
                let wanted: Settings
                do throws(SettingRefusal) { wanted = try Settings.patch(json, on: stored) } catch {
                    throw APIProblems.invalidSetting(error)
                }
                services.propose(.settings(wanted), request, responder) { outcome in
                    guard case .settings(let settings) = outcome else { return nil }
                    return .object(services.core.enter { core, _ in body(core, settings) })
                }
            },
        ]
    }

    private static func body(_ core: Core, _ settings: Settings) -> SettingsBody {
        SettingsBody(settings, fallbackName: core.hostName, overridden: core.overridden)
    }
}
