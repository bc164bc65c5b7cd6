// LatchkeyClient
