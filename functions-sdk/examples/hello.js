// Greets whoever is named. The smallest useful function: a description, an input schema, a handler.

export const description = "Greets a person by name";
export const tags = ["greeting", "example"];
export const input = {
  type: "object",
  properties: { name: { type: "string", minLength: 1, maxLength: 100, description: "Whom to greet" } },
  required: ["name"],
};
export const output = {
  type: "object",
  properties: { greeting: { type: "string" } },
  required: ["greeting"],
};
export const examples = [{ name: "Ada" }];
export const annotations = { readOnlyHint: true, idempotentHint: true };

export default async function (input, ctx) {
  ctx.log(`greeting ${input.name}`);
  return { greeting: `Hello, ${input.name}!` };
}
