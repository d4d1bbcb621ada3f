// How `console.log` and `ctx.log` write a value: like other JavaScript consoles, but always on one line and
// bounded. Never throws, whatever the value does.
(function (kit) {
  const MOST_DEPTH = 4;
  const MOST_ITEMS = 100;
  const MOST_STRING = 8192;

  const quote = (text) => `'${clip(text).replace(/\\/g, '\\\\').replace(/'/g, "\\'").replace(/\n/g, '\\n')}'`;
  const clip = (text) => (text.length > MOST_STRING ? `${text.slice(0, MOST_STRING)}…` : text);
  const isPlainKey = (key) => /^[A-Za-z_$][\w$]*$/.test(key);

  function inspect(value, depth, seen) {
    switch (typeof value) {
      case 'string':
        return depth === 0 ? value : quote(value);
      case 'number':
        return Object.is(value, -0) ? '-0' : String(value);
      case 'bigint':
        return `${value}n`;
      case 'symbol':
        return value.toString();
      case 'function':
        return nameOfFunction(value);
      case 'object':
        return value === null ? 'null' : inspectObject(value, depth, seen);
      default:
        return String(value);
    }
  }

  function nameOfFunction(value) {
    const kind = /^class\b/.test(Function.prototype.toString.call(value)) ? 'class' : 'Function';
    return `[${kind}${value.name ? `: ${value.name}` : ' (anonymous)'}]`;
  }

  function inspectObject(value, depth, seen) {
    if (value instanceof Error) return inspectError(value);
    if (seen.includes(value)) return '[Circular]';
    if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'Invalid Date' : value.toISOString();
    if (value instanceof RegExp) return String(value);
    if (value instanceof Promise) return 'Promise {}';
    const name = value.constructor?.name ?? '';
    if (depth > MOST_DEPTH) return Array.isArray(value) ? '[Array]' : `[${name || 'Object'}]`;
    const inner = [...seen, value];
    const show = (item) => inspect(item, depth + 1, inner);
    if (Array.isArray(value)) return wrap('[', items(value, show), ']', '');
    if (ArrayBuffer.isView(value) && !(value instanceof DataView)) {
      return wrap('[', items(value, show), ']', `${name}(${value.length}) `);
    }
    if (value instanceof Map) {
      return wrap('{', items(value, ([key, item]) => `${show(key)} => ${show(item)}`), '}', `Map(${value.size}) `);
    }
    if (value instanceof Set) return wrap('{', items(value, show), '}', `Set(${value.size}) `);
    return wrap('{', fields(value, show), '}', name === 'Object' ? '' : `${name || '[Object: null prototype]'} `);
  }

  function items(values, show) {
    const shown = [];
    for (const value of values) {
      if (shown.length === MOST_ITEMS) return [...shown, '…'];
      shown.push(show(value));
    }
    return shown;
  }

  function fields(value, show) {
    return items(Object.keys(value), (key) => {
      const property = Object.getOwnPropertyDescriptor(value, key);
      const name = isPlainKey(key) ? key : quote(key);
      return `${name}: ${property && property.get ? '[Getter]' : show(property ? property.value : value[key])}`;
    });
  }

  const wrap = (open, parts, close, prefix) =>
    parts.length === 0 ? `${prefix}${open}${close}` : `${prefix}${open} ${parts.join(', ')} ${close}`;

  function inspectError(error) {
    const head = String(error);
    const stack = typeof error.stack === 'string' ? withoutEngine(error.stack) : '';
    return stack === '' ? head : `${head}\n${stack}`;
  }

  // Frames of the engine itself say nothing to an author.
  const withoutEngine = (stack) =>
    stack
      .split('\n')
      .filter((line) => line !== '' && !line.includes('pleat:engine'))
      .join('\n');

  function safely(value, depth) {
    try {
      return inspect(value, depth, []);
    } catch {
      return '[unprintable]';
    }
  }

  // `%s %d %i %f %j %o %O %c %%`, as consoles have them; what remains is joined with spaces.
  function format(values) {
    const [first, ...rest] = values;
    if (typeof first !== 'string' || rest.length === 0 || !first.includes('%')) {
      return values.map((value) => safely(value, 0)).join(' ');
    }
    const head = first.replace(/%([sdifjoOc%])/g, (match, kind) => {
      if (kind === '%') return '%';
      if (rest.length === 0) return match;
      const value = rest.shift();
      if (kind === 's') return safely(value, 0);
      if (kind === 'c') return '';
      if (kind === 'd' || kind === 'i' || kind === 'f') return number(kind, value);
      return safely(value, 1);
    });
    return [head, ...rest.map((value) => safely(value, 0))].join(' ');
  }

  function number(kind, value) {
    if (typeof value === 'bigint') return `${value}n`;
    if (typeof value === 'symbol') return 'NaN';
    if (kind === 'i') return String(Number.parseInt(value, 10));
    return String(kind === 'f' ? Number.parseFloat(value) : Number(value));
  }

  kit.format = format;
  kit.withoutEngine = withoutEngine;
})
