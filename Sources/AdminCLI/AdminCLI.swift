// AdminCLI
