"""What can go wrong between the host, its settings and its worker; each says what happens next."""


class HostError(Exception):
    """The host cannot run this app as it stands; the message says which file, function or setting to change."""


class IndexingError(HostError):
    """The worker could not load the app. The message is the worker library's own, with its traceback."""


class WorkerLost(Exception):
    """The worker process died while it had the invocation; nobody knows how far the function got.

    The host starts another worker by itself. The message of the lost invocation is not settled: it comes again when
    its lock expires.
    """
