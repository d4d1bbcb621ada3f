// A conversation: the task waits for an answer, and a later message with the task's id continues it.
export const title = 'Ask for a name';
export const description = 'Greets you; asks for your name when you did not give it.';
export const tags = ['example', 'conversation'];
export const examples = [{}, { name: 'Ada' }];

export const input = {
  type: ['object', 'string'],
  properties: { name: { type: 'string', minLength: 1, maxLength: 100 } },
};

export const output = { type: 'object', properties: { greeting: { type: 'string' } }, required: ['greeting'] };

const MOST_QUESTIONS = 3;
const ANSWER = { type: 'object', properties: { name: { type: 'string', minLength: 1 } }, required: ['name'] };

// The answer to the question comes as the input of the next turn: as an object, or as bare text.
const nameIn = (input) => (typeof input === 'string' ? input : (input?.name ?? '')).trim();

export default function (input, ctx) {
  const name = nameIn(input);
  if (name !== '') return { greeting: `Nice to meet you, ${name}!` };
  const asked = ctx.state?.asked ?? 0;
  if (asked === MOST_QUESTIONS) return ctx.reject('no name was given');
  return ctx.needInput('What is your name?', { schema: ANSWER, state: { asked: asked + 1 } });
}
