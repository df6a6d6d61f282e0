"""One module for each kind of trigger. A new kind is a new module with a `Listener` and one line in `registry.py`."""
