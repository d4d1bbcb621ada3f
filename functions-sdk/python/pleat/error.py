"""A failure that the function reports itself."""

import re


class Error(Exception):
    """`code` is for machines, `message` for people. Any other exception that leaves the function has the code
    `exception`."""

    def __init__(self, code, message, *, retryable=False, details=None):
        super().__init__(message)
        self.code = code
        self.message = message
        #: The same call may succeed later.
        self.retryable = retryable
        #: Anything that JSON can carry; callers see it.
        self.details = details


# As tracebacks name it, and as authors write it.
Error.__module__ = "pleat"


def refused(what, case):
    """The platform's refusal (one case of a variant of the contract) as an exception: `KvError_TooLarge` has the code
    `too_large`."""
    name = type(case).__name__.rpartition("_")[2]
    code = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()
    value = getattr(case, "value", None)
    # A skill that was called failed in its own words.
    if code == "failed" and hasattr(value, "message"):
        from .value import parsed

        details = None if value.details is None else parsed(value.details)
        return Error(value.code, value.message, retryable=value.retryable, details=details)
    words = code.replace("_", " ")
    return Error(code, f"{what}: {words}" + (f": {value}" if value else ""), retryable=code in ("unavailable", "timeout"))
