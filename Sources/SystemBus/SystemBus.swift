// SystemBus
