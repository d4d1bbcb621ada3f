// Counts down, saying each number as it goes: shows chunks, progress and a final result on one stream.

export const description = "Counts down to zero, one chunk for each number";
export const tags = ["streaming", "example"];
export const input = {
  type: "object",
  properties: { from: { type: "integer", minimum: 1, maximum: 100, default: 3 } },
};
export const examples = [{ from: 3 }];

export default async function (input, ctx) {
  const from = input.from ?? 3;
  for (let left = from; left > 0; left--) {
    ctx.progress(from - left, from, `${left} to go`);
    ctx.emit(`${left}\n`);
  }
  ctx.progress(from, from, "done");
  return { liftoff: true, counted: from };
}
