"""What is known of the call, and what can be said and used while it runs."""

from . import value
from .capabilities import Config, Http, KeyValue, Secrets, start_call
from .error import Error
from .outcome import as_blocks

LEVELS = ("trace", "debug", "info", "warn", "error")


class Context:
    """Attributes: `task_id`, `context_id`, `skill`, `version`, `caller`, `door`, `attempt`, `turn`."""

    def __init__(self, host, record):
        self._host = host
        self.task_id = record.task_id
        self.context_id = record.context_id
        self.skill = record.skill
        self.version = record.version
        self.caller = record.caller
        self.door = record.door
        self.attempt = record.attempt
        self.turn = record.turn

    def log(self, *values, level="info"):
        """A line of the function's log, as `print` writes it; `level` is trace, debug, info, warn or error."""
        line = value.text(" ".join(str(part) for part in values))
        self._host.log.write(self._host.log.Level(LEVELS.index(level)), line)

    def emit(self, chunk, *, artifact=None, last=False):
        """Streams a chunk to the caller, ahead of the result: text for a string, data for anything else. Raises
        `Error` when it is too large (`emit_too_large`) or one too many (`emit_too_many`)."""
        output = self._host.output
        if isinstance(chunk, str):
            self._emit(output.Chunk_Text(value.text(chunk)), artifact, last)
        else:
            self._emit(output.Chunk_Data(value.written(chunk, "the chunk")), artifact, last)

    def emit_blocks(self, blocks, *, artifact=None, last=False):
        """Streams content blocks; a string stands for a text block."""
        text = value.written(as_blocks(blocks), "the chunk")
        self._emit(self._host.output.Chunk_Blocks(text), artifact, last)

    def _emit(self, chunk, artifact, last):
        try:
            self._host.output.emit(chunk, artifact, last)
        except self._host.Err as error:
            from .error import refused

            plain = refused("the chunk was not taken", error.value)
            raise Error(f"emit_{plain.code}", plain.message) from None

    def progress(self, done, total=None, note=None):
        """`done` out of `total`, if that is known."""
        total = None if total is None else float(total)
        self._host.output.progress(float(done), total, None if note is None else value.text(note))

    @property
    def message(self):
        """The message with all of its parts: `{"role", "messageId", "content", "metadata", "request"}`."""
        return value.parsed(self._host.conversation.message())

    @property
    def history(self):
        """Earlier messages of this task, oldest first."""
        return [value.parsed(text) for text in self._host.conversation.history()]

    @property
    def state(self):
        """What the turn before kept."""
        return self._parsed(self._host.conversation.state())

    @property
    def reply(self):
        """The client's answer to `pleat.need_client`."""
        return self._parsed(self._host.conversation.reply())

    @staticmethod
    def _parsed(text):
        return None if text is None else value.parsed(text)

    @property
    def secrets(self):
        return Secrets(self._host)

    @property
    def config(self):
        return Config(self._host)

    @property
    def kv(self):
        return KeyValue(self._host)

    @property
    def http(self):
        return Http(self._host)

    def call(self, skill, input=None):
        """Calls another skill of the tenant, as the same caller, and waits for its result."""
        return self.start_call(skill, input).result()

    def start_call(self, skill, input=None):
        """The same without waiting: several that were started run side by side. `.result()` waits."""
        return start_call(self._host, skill, input)
