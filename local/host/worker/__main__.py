"""Entry point of the worker process; started by the host, never by hand.

    python -P <this file> --host 127.0.0.1 --port <settlement port> --functions-grpc-max-message-length <bytes>

The socket to the host is standard input. The working directory is the app's folder, as in production. The arguments
are those of the real worker; settlement clients read them from `sys.argv`.
"""

import os
import sys
from pathlib import Path

# Only our own modules may come from here; by the time the app is loaded, its folder has taken this place.
sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from local.host.worker import process

if __name__ == "__main__":
    sys.path[0] = os.getcwd()
    process.main()
