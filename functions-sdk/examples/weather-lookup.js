// Looks a city's weather up in a small table of its own; cities that are not in it get weather made from their name,
// the same every time. It stands for any function that answers a question from data.

export const description = "Look up current weather for a city";
export const tags = ["weather", "example"];
export const input = {
  type: "object",
  properties: { city: { type: "string", minLength: 1, maxLength: 100, description: "The city's name" } },
  required: ["city"],
};
export const output = {
  type: "object",
  properties: {
    temp: { type: "integer", description: "Degrees Fahrenheit" },
    condition: { type: "string" },
  },
  required: ["temp", "condition"],
};
export const examples = [{ city: "San Francisco" }, { city: "Oslo" }];
export const annotations = { readOnlyHint: true, idempotentHint: true };

const known = {
  "san francisco": { temp: 62, condition: "foggy" },
  london: { temp: 55, condition: "drizzle" },
  cairo: { temp: 93, condition: "sunny" },
  oslo: { temp: 37, condition: "snow" },
  singapore: { temp: 88, condition: "thunderstorms" },
};
const conditions = ["sunny", "cloudy", "rain", "windy", "clear"];

export default function ({ city }) {
  const name = city.trim().toLowerCase();
  if (Object.hasOwn(known, name)) return known[name];
  let sum = 0;
  for (const letter of name) sum = (sum * 31 + letter.codePointAt(0)) % 100_003;
  return { temp: 20 + (sum % 80), condition: conditions[sum % conditions.length] };
}
