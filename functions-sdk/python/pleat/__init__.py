"""Write a Pleat function in Python: decorate one `handle(input, ctx)` with `pleat.function` and deploy the file.

    import pleat

    @pleat.function(description="Greets someone")
    def handle(input, ctx):
        return f"Hello, {input['name']}!"
"""

from .context import Context
from .error import Error
from .function import Function, function
from .outcome import Outcome, content, need_auth, need_client, need_input, reject

__all__ = [
    "Context",
    "Error",
    "Function",
    "Outcome",
    "content",
    "function",
    "need_auth",
    "need_client",
    "need_input",
    "reject",
]
