"""The worker process: Microsoft's azure-functions-runtime, driven over a socket by the host process."""
