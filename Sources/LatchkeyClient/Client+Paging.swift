// SPDX-License-Identifier: Apache-2.0

package import APITypes
package import Wire

/// A whole list, however many pages it took.
package struct ItemList<Item: APIObject>: Sendable {
    package let items: [Item]
    /// The items as they came, members included that this version does not know.
    package let json: [JSON]

    package init(items: [Item], json: [JSON]) {
        self.items = items
        self.json = json
    }
}

extension Client {
    /// The most the API gives at once (spec 07).
    static let pageSize = 1000

    /// All items of a list, page after page; at most `limit` of them when given.
    func items<Item: APIObject>(
        _ path: String, of type: Item.Type, query: [(name: String, value: String)] = [], limit: Int? = nil
    ) throws(ClientError) -> ItemList<Item> {
        var json: [JSON] = []
        var items: [Item] = []
        var after: String?
        while true {
            let left = min(Self.pageSize, (limit ?? .max) - items.count)
            if left <= 0 { break }
            var query = query + [(name: "limit", value: String(left))]
            if let after { query.append(("after", after)) }
            let answer = try send(Request(.get, path, query: query))
            let page = try answer.read(Page<Item>.self).value
            items += page.items.prefix(left)
            json += (try answer.json()["items"]?.array ?? []).prefix(left)
            guard let next = page.next, !page.items.isEmpty else { break }
            // A service that gave the same page for ever must not keep us for ever.
            if next == after { throw .broken("GET \(path) does not move on") }
            after = next
        }
        return ItemList(items: items, json: json)
    }
}
