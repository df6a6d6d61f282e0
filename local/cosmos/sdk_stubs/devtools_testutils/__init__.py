"""In place of a package that exists only in the SDK's own repository; its tests import two names from it."""
