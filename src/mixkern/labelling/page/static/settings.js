// Values kept in the browser. Everything also works where localStorage is missing or full.

/** Return the stored text under a key, or null. */
export function read(key) {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

/** Store a text under a key; returns whether that worked. */
export function write(key, text) {
  try {
    localStorage.setItem(key, text);
    return true;
  } catch {
    return false;
  }
}

/** Remove a key. */
export function remove(key) {
  try {
    localStorage.removeItem(key);
  } catch {
    // Nothing is stored, so nothing is left.
  }
}

/** Return all pairs of key and text whose key starts with a prefix. */
export function readAll(prefix) {
  try {
    const keys = Array.from({ length: localStorage.length }, (_, i) => localStorage.key(i));
    return keys.filter((key) => key.startsWith(prefix)).map((key) => [key, localStorage.getItem(key)]);
  } catch {
    return [];
  }
}

/** A value kept for one tab of the browser, until it is closed. */
export class Kept {
  constructor(name) {
    this.key = `mixkern-label/tab/${name}`;
  }

  /** Return the value, or null where there is none. */
  read() {
    try {
      return JSON.parse(sessionStorage.getItem(this.key));
    } catch {
      return null;
    }
  }

  /** Keep a value; null removes it. */
  write(value) {
    try {
      sessionStorage.setItem(this.key, JSON.stringify(value));
    } catch {
      // It is missing after the page was loaded again, and the page works without it.
    }
  }
}

/** A yes-or-no setting that is kept in the browser. */
export class Switch {
  constructor(name, preset) {
    this.key = `mixkern-label/setting/${name}`;
    this.isOn = (read(this.key) ?? String(preset)) === 'true';
  }

  /** Change the setting to its opposite, or to a value. */
  set(isOn = !this.isOn) {
    this.isOn = isOn;
    write(this.key, String(isOn));
  }
}
