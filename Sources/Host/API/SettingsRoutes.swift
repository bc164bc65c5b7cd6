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
                services.propose(request, responder, making: { change(json, &$0) }) { outcome in
                    guard case .settings(let settings) = outcome else { return nil }
                    return .object(services.core.enter { core, _ in body(core, settings) })
                }
            },
        ]
    }

    private static func change(_ json: JSON, _ core: inout Core) -> Result<Change, Problem> {
        for field in core.overridden where json[field] != nil {
            return .failure(APIProblems.overridden(field))
        }
        do throws(SettingRefusal) {
            return .success(
                try core.settingsChange { (settings) throws(SettingRefusal) in
                    settings = try Settings.patch(json, on: settings)
                })
        } catch {
            return .failure(APIProblems.invalidSetting(error))
        }
    }

    private static func body(_ core: Core, _ settings: Settings) -> SettingsBody {
        SettingsBody(settings, fallbackName: core.hostName, overridden: core.overridden)
    }
}
