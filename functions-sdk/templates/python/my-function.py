"""What the decorator is told says what the function is: it becomes the agent card and the check of every input."""

import pleat


@pleat.function(
    description="Greets a person by name",
    input={
        "type": "object",
        "properties": {"name": {"type": "string", "minLength": 1, "description": "Whom to greet"}},
        "required": ["name"],
    },
    examples=[{"name": "Ada"}],
)
def handle(input, ctx):
    ctx.log("greeting", input["name"])
    return {"greeting": f"Hello, {input['name']}!"}
