// APITypes
