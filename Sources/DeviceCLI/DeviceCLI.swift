// DeviceCLI
