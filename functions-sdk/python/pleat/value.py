"""Values to JSON text and back."""

import dataclasses
import datetime
import json

from .error import Error


def written(value, what="the result"):
    """JSON text. Data classes become objects, dates become text."""
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=_other)
        text.encode()
    except UnicodeEncodeError:
        raise Error("bad_result", f"{what} holds half of a surrogate pair, which is no text") from None
    except (TypeError, ValueError, RecursionError) as error:
        raise Error("bad_result", f"{what} cannot be written as JSON: {error}") from None
    return text


def optional(value, what):
    return None if value is None else written(value, what)


def parsed(text):
    return json.loads(text)


def text(value):
    """Text that can leave the interpreter: half a surrogate pair cannot."""
    return str(value).encode("utf-8", "replace").decode("utf-8")


def _other(value):
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    raise TypeError(f"a value of type `{type(value).__name__}` is no plain data")
