// Event, EventTarget, AbortController and AbortSignal: as much of them as cancelling needs.
(function (kit) {
  class Event {
    #type;
    #prevented = false;
    #stopped = false;
    constructor(type, options) {
      if (arguments.length === 0) throw new TypeError('Event: the type is missing');
      this.#type = String(type);
      this.cancelable = options?.cancelable === true;
      this.bubbles = options?.bubbles === true;
      this.target = null;
      this.currentTarget = null;
      this.timeStamp = kit.isLive() ? kit.native.now() : 0;
    }
    get type() {
      return this.#type;
    }
    get defaultPrevented() {
      return this.#prevented;
    }
    preventDefault() {
      if (this.cancelable) this.#prevented = true;
    }
    stopPropagation() {}
    stopImmediatePropagation() {
      this.#stopped = true;
    }
    static isStopped(event) {
      return event.#stopped;
    }
  }
  const { isStopped } = Event;
  delete Event.isStopped;

  class EventTarget {
    #listeners = [];
    addEventListener(type, listener, options) {
      if (listener === null || listener === undefined) return;
      const capture = typeof options === 'boolean' ? options : options?.capture === true;
      const signal = typeof options === 'object' ? options?.signal : undefined;
      if (signal?.aborted) return;
      const name = String(type);
      const known = (entry) => entry.type === name && entry.listener === listener && entry.capture === capture;
      if (this.#listeners.some(known)) return;
      this.#listeners.push({ type: name, listener, capture, once: options?.once === true });
      signal?.addEventListener('abort', () => this.removeEventListener(name, listener, capture), { once: true });
    }
    removeEventListener(type, listener, options) {
      const capture = typeof options === 'boolean' ? options : options?.capture === true;
      const name = String(type);
      this.#listeners = this.#listeners.filter(
        (entry) => entry.type !== name || entry.listener !== listener || entry.capture !== capture,
      );
    }
    dispatchEvent(event) {
      if (!(event instanceof Event)) throw new TypeError('dispatchEvent: the argument must be an Event');
      event.target = this;
      event.currentTarget = this;
      const attribute = this[`on${event.type}`];
      if (typeof attribute === 'function') this.#run(attribute, event);
      for (const entry of this.#listeners.filter((candidate) => candidate.type === event.type)) {
        if (isStopped(event)) break;
        if (!this.#listeners.includes(entry)) continue;
        if (entry.once) this.#listeners = this.#listeners.filter((other) => other !== entry);
        this.#run(entry.listener, event);
      }
      event.currentTarget = null;
      return !event.defaultPrevented;
    }
    // What one listener throws is reported and keeps nobody else from listening.
    #run(listener, event) {
      try {
        if (typeof listener === 'function') listener.call(this, event);
        else listener.handleEvent(event);
      } catch (error) {
        kit.reportError(error);
      }
    }
  }

  const key = Symbol('made by AbortController');

  class AbortSignal extends EventTarget {
    #aborted = false;
    #reason;
    constructor(secret) {
      if (secret !== key) throw new TypeError('Illegal constructor: use `new AbortController().signal`');
      super();
      this.onabort = null;
    }
    get aborted() {
      return this.#aborted;
    }
    get reason() {
      return this.#reason;
    }
    throwIfAborted() {
      if (this.#aborted) throw this.#reason;
    }
    static fire(signal, reason) {
      if (signal.#aborted) return;
      signal.#aborted = true;
      signal.#reason = reason === undefined ? new DOMException('this operation was aborted', 'AbortError') : reason;
      signal.dispatchEvent(new Event('abort'));
    }
    static abort(reason) {
      const signal = new AbortSignal(key);
      fire(signal, reason);
      return signal;
    }
    static timeout(milliseconds) {
      const signal = new AbortSignal(key);
      const reason = () => new DOMException('the operation was aborted because it took too long', 'TimeoutError');
      setTimeout(() => fire(signal, reason()), milliseconds);
      return signal;
    }
    static any(signals) {
      const joined = new AbortSignal(key);
      const all = [...signals];
      const first = all.find((signal) => signal.aborted);
      if (first !== undefined) fire(joined, first.reason);
      else for (const signal of all) signal.addEventListener('abort', () => fire(joined, signal.reason), { once: true });
      return joined;
    }
  }
  const { fire } = AbortSignal;
  delete AbortSignal.fire;

  class AbortController {
    #signal = new AbortSignal(key);
    get signal() {
      return this.#signal;
    }
    abort(reason) {
      fire(this.#signal, reason);
    }
  }

  for (const constructor of [Event, EventTarget, AbortSignal, AbortController]) {
    kit.tag(constructor, constructor.name);
    kit.define(constructor.name, constructor);
  }
})
