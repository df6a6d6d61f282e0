"""The gRPC service through which a function settles its message, and the messages it may settle."""
