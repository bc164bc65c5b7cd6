// StateDirectory
