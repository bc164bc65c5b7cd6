// LatchkeyDevice
