// Doors
