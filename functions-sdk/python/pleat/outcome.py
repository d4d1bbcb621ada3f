"""How a call can end well, other than with a value. Return one of these, or raise it from deeper down."""


class Outcome(Exception):
    """Made by the functions below."""

    def __init__(self, kind, **fields):
        super().__init__(f"`pleat.{kind}` takes effect when the function returns or raises it")
        self.kind = kind
        self.fields = fields


def content(blocks, structured=None):
    """Content blocks in the shape of the Model Context Protocol (a string stands for a text block), and the structured
    form of the same result."""
    return Outcome("content", blocks=as_blocks(blocks), structured=structured)


def need_input(prompt, *, schema=None, state=None):
    """The task waits; the answer calls the function again, with `ctx.state`."""
    return Outcome("need_input", prompt=prompt, schema=schema, state=state)


def need_auth(prompt, *, schema=None, state=None):
    """The same, for something that the caller must authorise elsewhere."""
    return Outcome("need_auth", prompt=prompt, schema=schema, state=state)


def need_client(kind, params, *, state=None):
    """The caller's client must do something: `elicit`, `sample` or `roots`. The answer is in `ctx.reply`."""
    return Outcome("need_client", client=kind, params=params, state=state)


def reject(reason):
    """The function will not do this, and that is no failure."""
    return Outcome("reject", reason=reason)


def as_blocks(blocks):
    listed = [blocks] if isinstance(blocks, (str, dict)) else list(blocks)
    return [{"type": "text", "text": block} if isinstance(block, str) else block for block in listed]
