"""The decorator: what the function says of itself, and what it does."""

import functools
import inspect

from .error import Error


class Function:
    """A decorated function. It can be called like the plain one, for example by a test."""

    #: The last one that was made: a file has one.
    deployed = None

    def __init__(self, handle, manifest):
        if inspect.iscoroutinefunction(handle):
            raise TypeError(f"`{handle.__name__}` is async: write `def`, and start several calls with `ctx.http.start`")
        if Function.deployed is not None:
            raise TypeError(f"`{handle.__name__}` is the second function of this file: a file has one")
        functools.update_wrapper(self, handle)
        self._handle = handle
        self.manifest = manifest
        self._read_resource = None
        self._get_prompt = None
        Function.deployed = self

    def __call__(self, input, ctx=None):
        return self._handle(input, ctx)

    def read_resource(self, serve):
        """Decorates what serves the offered resources: `serve(uri, ctx)` gives the result of MCP's `resources/read`."""
        self._read_resource = serve
        return serve

    def get_prompt(self, serve):
        """Decorates what serves the offered prompts: `serve(name, arguments, ctx)` gives the result of MCP's
        `prompts/get`."""
        self._get_prompt = serve
        return serve

    def resource(self, uri, ctx):
        if self._read_resource is None:
            raise Error("not_found", f"there is no resource `{uri}`")
        return self._read_resource(uri, ctx)

    def prompt(self, name, arguments, ctx):
        if self._get_prompt is None:
            raise Error("not_found", f"there is no prompt `{name}`")
        return self._get_prompt(name, arguments, ctx)


def function(
    handle=None,
    *,
    name=None,
    title=None,
    description=None,
    input=None,
    output=None,
    tags=None,
    examples=None,
    annotations=None,
    visibility=None,
    capabilities=None,
    limits=None,
    resources=None,
    resource_templates=None,
    prompts=None,
    **more,
):
    """Makes a function of `handle(input, ctx)`. All arguments are optional; without a description the first paragraph
    of the function's own documentation is taken. `input` and `output` are JSON Schemas."""

    def decorate(handle):
        documented = (inspect.getdoc(handle) or "").split("\n\n")[0].replace("\n", " ")
        fields = {
            "name": name,
            "title": title,
            "description": description or documented or None,
            "input": input,
            "output": output,
            "tags": tags,
            "examples": examples,
            "annotations": annotations,
            "visibility": visibility,
            "capabilities": capabilities,
            "limits": limits,
            "resources": resources,
            "resourceTemplates": resource_templates,
            "prompts": prompts,
            **more,
        }
        return Function(handle, {field: value for field, value in fields.items() if value is not None})

    return decorate if handle is None else decorate(handle)
