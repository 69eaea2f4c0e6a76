"""What several kernels share: special functions, random streams, gamma draws and their derivatives."""
