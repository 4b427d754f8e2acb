// Requests to the server, with its errors as sentences.

const TIME_LIMIT = 20000; // milliseconds

/** A request that failed: `status` is 0 when the server could not be reached. */
export class RequestError extends Error {
  constructor(message, status) {
    super(message);
    this.status = status;
  }

  /** Whether the same request may succeed later. */
  get isTemporary() {
    return this.status === 0 || this.status === 401 || this.status === 408 || this.status === 429 || this.status >= 500;
  }

  /** Whether it is about a row that the table does not have, perhaps not any more. */
  get isGone() {
    return this.status === 410;
  }
}

/** Send a request and return the response, or throw a RequestError. */
async function send(path, options = {}) {
  const stop = new AbortController();
  const timer = setTimeout(() => stop.abort(), TIME_LIMIT);
  let response;
  try {
    response = await fetch(path, { credentials: 'same-origin', ...options, signal: stop.signal });
  } catch {
    throw new RequestError('The server cannot be reached.', 0);
  } finally {
    clearTimeout(timer);
  }
  if (response.ok) return response;
  let message = `The server answered with error ${response.status}.`;
  try {
    message = (await response.json()).error ?? message;
  } catch {
    // The body is not JSON, for example from a proxy: the number of the error has to do.
  }
  throw new RequestError(message, response.status);
}

/** Return the JSON of a response; a connection that breaks midway counts as a server that cannot be reached. */
async function json(response) {
  try {
    return await response.json();
  } catch {
    throw new RequestError('The answer of the server is incomplete.', 0);
  }
}

/** Return the JSON of an address. */
export async function get(path) {
  return json(await send(path));
}

/** Return the bytes of an address and a header that numbers their version. */
export async function getBytes(path, header) {
  const response = await send(path);
  try {
    return { bytes: await response.arrayBuffer(), version: Number(response.headers.get(header)) };
  } catch {
    throw new RequestError('The answer of the server is incomplete.', 0);
  }
}

/** Post JSON and return the JSON of the answer. */
export async function post(path, body) {
  const headers = { 'Content-Type': 'application/json' };
  return json(await send(path, { method: 'POST', headers, body: JSON.stringify(body) }));
}

/** Return a random id; `crypto.randomUUID` is missing on pages that are served without https. */
export function randomId() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
