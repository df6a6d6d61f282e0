"""The Functions host's stand-in: runs an app folder with Microsoft's own Python worker library.

Start reading at `host.py`. Command line: `python -m local.host --app . --port 7071`. Nothing here is deployed.
"""
