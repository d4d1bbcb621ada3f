"""Counts words, and shows a schema, the log, progress and an error of the function's own."""

import re
from collections import Counter

import pleat


@pleat.function(
    title="Word count",
    description="Counts the words of a text and lists the most frequent ones",
    input={
        "type": "object",
        "required": ["text"],
        "properties": {
            "text": {"type": "string", "description": "The text to count"},
            "top": {"type": "integer", "minimum": 1, "maximum": 100, "default": 10},
        },
    },
    output={
        "type": "object",
        "required": ["words", "distinct", "top"],
        "properties": {
            "words": {"type": "integer"},
            "distinct": {"type": "integer"},
            "top": {"type": "array", "items": {"type": "object"}},
        },
    },
    tags=["example", "python", "text"],
    examples=[{"text": "to be or not to be"}],
    annotations={"readOnlyHint": True, "idempotentHint": True},
)
def handle(input, ctx):
    counts = Counter(re.findall(r"\w+", input["text"].lower()))
    if not counts:
        raise pleat.Error("no_words", "the text has no words")
    ctx.log("counted", counts.total(), "words")
    ctx.progress(1, 1, "counted")
    top = sorted(counts.items(), key=lambda entry: (-entry[1], entry[0]))[: input.get("top", 10)]
    return {
        "words": counts.total(),
        "distinct": len(counts),
        "top": [{"word": word, "count": count} for word, count in top],
    }
