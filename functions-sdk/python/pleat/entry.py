"""Between the exports of the contract and the author's function. Only the build imports this: outside of a component
there is no `wit_world`."""

import importlib.util
import linecache
import logging
import os
import sys
import traceback
import types as python

# What the standard library would import only when it is first used: inside the sandbox there are no files left to
# import it from.
import _strptime  # noqa: F401
import encodings.ascii  # noqa: F401
import encodings.idna  # noqa: F401
import encodings.latin_1  # noqa: F401
import encodings.utf_16  # noqa: F401

from componentize_py_types import Err
from wit_world import exports
from wit_world.imports import call, config, conversation, http, key_value, log, output, secrets, types

from . import value
from .context import Context
from .error import Error
from .function import Function
from .outcome import Outcome

HOST = python.SimpleNamespace(
    Err=Err,
    call=call,
    config=config,
    conversation=conversation,
    http=http,
    key_value=key_value,
    log=log,
    output=output,
    secrets=secrets,
)
#: Where the author's files were at build.
PLACES = []


def load(file):
    """The class that componentize-py looks for, for the function in the author's file."""
    place = next(place for place in reversed(sys.path) if os.path.isfile(os.path.join(place, file)))
    PLACES.append(place + "/")
    run(os.path.join(place, file))
    function = Function.deployed
    if function is None:
        raise TypeError(f"{file} has no function: decorate one with `@pleat.function`")
    logging.basicConfig(handlers=[Log()], level=logging.INFO, format="%(message)s")

    class Handler(exports.Handler):
        def describe(self):
            return guarded(lambda: value.written(function.manifest, "the manifest"))

        def handle(self, input, context):
            return guarded(lambda: ended(function(value.parsed(input), Context(HOST, context))))

        def read_resource(self, uri, context):
            return guarded(lambda: value.written(function.resource(uri, Context(HOST, context))))

        def get_prompt(self, name, arguments, context):
            arguments = value.parsed(arguments)
            return guarded(lambda: value.written(function.prompt(name, arguments, Context(HOST, context))))

    return Handler


def run(path):
    """The author's file as a module. Its name may be one that an `import` could not have, or that is taken."""
    name = os.path.basename(path).rpartition(".")[0]
    name = f"function_{name}" if name in sys.modules else name
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    keep_lines()


class Log(logging.Handler):
    """The standard library's `logging`, into the function's log."""

    def emit(self, record):
        level = min(4, max(0, record.levelno // 10))
        log.write(log.Level(level), value.text(self.format(record)))


def guarded(work):
    try:
        return work()
    except Outcome as outcome:
        return ended(outcome)
    except Error as error:
        raise failure(error.code, error.message, error, error.retryable, error.details) from None
    except MemoryError as error:
        raise failure("out_of_memory", "out of memory", error) from None
    except RecursionError as error:
        raise failure("stack_overflow", str(error), error) from None
    except SystemExit as error:
        raise failure("exit", f"the function called exit ({error})", error) from None
    except Exception as error:
        named = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        raise failure("exception", named, error) from None
    finally:
        sys.stdout.flush()


def failure(code, message, error, retryable=False, details=None):
    details = dict(details) if isinstance(details, dict) else {} if details is None else {"details": details}
    details["stack"] = stack(error)
    return Err(types.Error(value.text(code), value.text(message), bool(retryable), value.written(details)))


def stack(error):
    """The traceback from the author's function on, with paths as the author knows them."""
    ours = os.path.dirname(__file__)
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if not frame.filename.startswith(ours)]
    lines = "".join(traceback.format_list(frames) + traceback.format_exception_only(error))
    for place in PLACES:
        lines = lines.replace(f'"{place}', '"')
    return value.text(lines.rstrip())


def keep_lines():
    """Tracebacks show the source, which is no file any more when they are made. An entry without a time is kept."""
    for module in list(sys.modules.values()):
        name = getattr(module, "__file__", None) or ""
        if name.startswith(tuple(PLACES)):
            lines = linecache.getlines(name)
            linecache.cache[name] = (sum(map(len, lines)), None, lines, name)


def ended(result):
    if not isinstance(result, Outcome):
        return types.Outcome_Value(value.written(result))
    fields = result.fields
    if result.kind == "reject":
        return types.Outcome_Reject(value.text(fields["reason"]))
    state = value.optional(fields.get("state"), "the state")
    if result.kind == "need_client":
        params = value.written(fields["params"], "the parameters")
        return types.Outcome_NeedClient(types.ClientRequest(fields["client"], params, state))
    if result.kind == "content":
        blocks = value.written(fields["blocks"])
        return types.Outcome_Content(types.Content(blocks, value.optional(fields["structured"], "the structured form")))
    ask = types.Ask(value.text(fields["prompt"]), value.optional(fields["schema"], "the schema"), state)
    return types.Outcome_NeedInput(ask) if result.kind == "need_input" else types.Outcome_NeedAuth(ask)
