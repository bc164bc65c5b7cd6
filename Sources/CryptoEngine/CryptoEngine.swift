// CryptoEngine
