/// <reference path="pleat.d.ts" />
// What is exported beside the function says what it is: it becomes the agent card and the check of every input.

export const description = "Greets a person by name";
export const input = {
  type: "object",
  properties: { name: { type: "string", minLength: 1, description: "Whom to greet" } },
  required: ["name"],
};
export const examples = [{ name: "Ada" }];

interface Input {
  name: string;
}

export default async function (input: Input, ctx: Pleat.Context): Promise<{ greeting: string }> {
  ctx.log(`greeting ${input.name}`);
  return { greeting: `Hello, ${input.name}!` };
}
