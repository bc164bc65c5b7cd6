enum OpenAPIDocument { static var bytes: [UInt8] { [] } }
