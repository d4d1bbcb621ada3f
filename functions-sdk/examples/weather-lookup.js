export const description = 'x'; export default async function (input, ctx) { return input; }
