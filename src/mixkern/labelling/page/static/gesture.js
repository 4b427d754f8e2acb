// Pointer, wheel and touch on the map: pan, zoom, click, hover and lasso.

/** Translate pointers into calls of `map`: pan, zoom, click, hover, and of its selection. */
export function listen(box, map) {
  const pointers = new Map();
  let travelled = 0;
  let isLasso = false;
  let spread = 0;

  /** Return the place of an event within the box. */
  const place = (event) => {
    const frame = box.getBoundingClientRect();
    return [event.clientX - frame.left, event.clientY - frame.top];
  };

  /** Return the distance and the middle of two fingers. */
  const pinch = () => {
    const [[ax, ay], [bx, by]] = [...pointers.values()];
    return { distance: Math.hypot(ax - bx, ay - by), x: (ax + bx) / 2, y: (ay + by) / 2 };
  };

  box.addEventListener('pointerdown', (event) => {
    if (event.button !== 0) return;
    box.setPointerCapture(event.pointerId);
    pointers.set(event.pointerId, place(event));
    if (pointers.size === 1) {
      travelled = 0;
      isLasso = event.shiftKey || map.selection.isOn;
      if (isLasso) map.selection.start(...place(event));
    } else {
      if (isLasso) map.selection.end(false);
      isLasso = false;
      travelled = Infinity;
      spread = pinch().distance;
    }
  });

  box.addEventListener('pointermove', (event) => {
    const [x, y] = place(event);
    const before = pointers.get(event.pointerId);
    if (!before) {
      if (event.pointerType === 'mouse') map.hover(x, y);
      return;
    }
    const middle = pointers.size === 2 ? pinch() : null;
    pointers.set(event.pointerId, [x, y]);
    if (isLasso) map.selection.move(x, y);
    else if (middle) {
      const now = pinch();
      map.pan(now.x - middle.x, now.y - middle.y);
      if (spread > 0) map.zoom(now.distance / spread, now.x, now.y);
      spread = now.distance;
    } else {
      travelled += Math.hypot(x - before[0], y - before[1]);
      map.pan(x - before[0], y - before[1]);
    }
  });

  /** A pointer has left: a short way was a click. */
  const up = (event) => {
    if (!pointers.delete(event.pointerId)) return;
    const isTouch = event.pointerType !== 'mouse';
    if (isLasso) map.selection.end(event.type === 'pointerup');
    else if (event.type === 'pointerup' && travelled < (isTouch ? 10 : 4))
      map.click(...place(event), isTouch ? 22 : 12);
    isLasso = false;
  };
  box.addEventListener('pointerup', up);
  box.addEventListener('pointercancel', up);
  box.addEventListener('pointerleave', () => map.hover(-1, -1));
  box.addEventListener(
    'wheel',
    (event) => {
      event.preventDefault();
      const lines = event.deltaMode === 1 ? 30 : 1; // Firefox counts in lines
      map.zoom(Math.exp(-event.deltaY * lines * 0.0015), ...place(event));
    },
    { passive: false },
  );
}
