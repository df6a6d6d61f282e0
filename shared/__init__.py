"""What is deployed: the library, its adapters, and the sample domain."""
