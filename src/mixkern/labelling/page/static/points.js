// The points of the map, drawn by WebGL 2; by canvas where WebGL is missing.

import { colour, colours, N_COLOURS } from './colour.js';
import { settled } from './dom.js';

const VERTEX = `#version 300 es
in vec2 place;
in uint predicted;
in float confidence;
uniform vec2 centre, scale;
uniform float size;
uniform vec3 palette[${N_COLOURS + 1}];
out vec4 tint;
void main() {
  gl_Position = vec4((place - centre) * scale, 0.0, 1.0);
  gl_PointSize = size;
  tint = predicted == 255u ? vec4(palette[${N_COLOURS}], 0.4)
    : vec4(palette[predicted % ${N_COLOURS}u], mix(0.12, 0.8, confidence));
}`;

const FRAGMENT = `#version 300 es
precision mediump float;
in vec4 tint;
out vec4 colour;
void main() {
  float distance = length(gl_PointCoord - 0.5);
  if (distance > 0.5) discard;
  colour = vec4(tint.rgb * tint.a, tint.a);
}`;

const SLOW = 30; // milliseconds per frame
const FAST = 18;
const PAUSE = 160; // milliseconds without movement, after which all points are drawn
const MOST_ON_CANVAS = 20000;
const MOST_STEP = 16; // a power of two; WebGL allows at most 255 bytes from one point to the next, and a place has 8

/** Return the red, green and blue of "#rrggbb", each within 0..1. */
function rgb(hex) {
  return [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16) / 255);
}

/** Return the diameter of a point in pixels: larger when fewer points are visible. */
function diameter(n, view) {
  const crowd = n / (view.width * view.height);
  const whole = Math.max(1.6, Math.min(6, 1.4 / Math.sqrt(Math.max(crowd, 1e-6))));
  return Math.min(9, whole * view.zoom ** 0.3);
}

/** Points drawn by WebGL 2. */
class GLPoints {
  constructor(canvas, gl) {
    this.canvas = canvas;
    this.gl = gl;
    this.data = null;
    this.build();
    canvas.addEventListener('webglcontextlost', (event) => event.preventDefault());
    canvas.addEventListener('webglcontextrestored', () => {
      const { data } = this;
      this.data = null;
      this.build();
      if (data) this.set(...data);
    });
  }

  /** Compile the program and make the buffers. */
  build() {
    const { gl } = this;
    this.program = gl.createProgram();
    for (const [type, source] of [
      [gl.VERTEX_SHADER, VERTEX],
      [gl.FRAGMENT_SHADER, FRAGMENT],
    ]) {
      const shader = gl.createShader(type);
      gl.shaderSource(shader, source);
      gl.compileShader(shader);
      gl.attachShader(this.program, shader);
    }
    ['place', 'predicted', 'confidence'].forEach((name, i) => gl.bindAttribLocation(this.program, i, name));
    gl.linkProgram(this.program);
    gl.useProgram(this.program);
    this.buffers = [0, 1, 2].map((i) => {
      gl.enableVertexAttribArray(i);
      return gl.createBuffer();
    });
    this.step = 0;
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
  }

  /** Set the places, predicted classes and confidences of all points. */
  set(...data) {
    const { gl } = this;
    data.forEach((array, i) => {
      if (array === this.data?.[i]) return;
      gl.bindBuffer(gl.ARRAY_BUFFER, this.buffers[i]);
      gl.bufferData(gl.ARRAY_BUFFER, array, gl.DYNAMIC_DRAW);
    });
    this.data = data;
  }

  /** Read every step-th point from the buffers. */
  stride(step) {
    const { gl } = this;
    if (step === this.step) return;
    this.step = step;
    this.buffers.forEach((buffer, i) => {
      gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
      if (i === 0) gl.vertexAttribPointer(i, 2, gl.FLOAT, false, 8 * step, 0);
      if (i === 1) gl.vertexAttribIPointer(i, 1, gl.UNSIGNED_BYTE, step, 0);
      if (i === 2) gl.vertexAttribPointer(i, 1, gl.UNSIGNED_BYTE, true, step, 0);
    });
  }

  /** Draw every step-th point. */
  draw(view, ratio, step) {
    const { gl, program } = this;
    const at = (name) => gl.getUniformLocation(program, name);
    gl.viewport(0, 0, this.canvas.width, this.canvas.height);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT);
    if (!this.data) return;
    const n = this.data[1].length;
    gl.uniform2f(at('centre'), view.x, view.y);
    gl.uniform2f(at('scale'), (2 * view.scaleX) / view.width, (2 * view.scale) / view.height);
    gl.uniform1f(at('size'), diameter(n, view) * ratio);
    gl.uniform3fv(at('palette'), [...colours(), colour(255)].flatMap(rgb));
    this.stride(step);
    gl.drawArrays(gl.POINTS, 0, Math.ceil(n / step));
  }
}

/** Points drawn on a plain canvas, at most 20,000 of them. */
class CanvasPoints {
  constructor(canvas) {
    this.canvas = canvas;
    this.context = canvas.getContext('2d');
    this.data = null;
  }

  /** Set the places, predicted classes and confidences of all points. */
  set(...data) {
    this.data = data;
  }

  /** Draw the points, or an even part of them, and of these every step-th. */
  draw(view, ratio, part) {
    const { context } = this;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, view.width, view.height);
    if (!this.data) return;
    const [xy, predicted, confidence] = this.data;
    const step = part * Math.max(1, Math.ceil(predicted.length / MOST_ON_CANVAS));
    const size = diameter(predicted.length / step, view);
    for (let i = 0; i < predicted.length; i += step) {
      const [x, y] = view.pixel(xy[2 * i], xy[2 * i + 1]);
      if (x < 0 || y < 0 || x > view.width || y > view.height) continue;
      context.globalAlpha = predicted[i] === 255 ? 0.4 : 0.12 + 0.68 * (confidence[i] / 255);
      context.fillStyle = colour(predicted[i]);
      context.fillRect(x - size / 2, y - size / 2, size, size);
    }
    context.globalAlpha = 1;
  }
}

/** Return what draws points on a canvas. */
export function pointsOn(canvas) {
  const gl = canvas.getContext('webgl2', { antialias: false, alpha: true, premultipliedAlpha: true });
  return gl ? new GLPoints(canvas, gl) : new CanvasPoints(canvas);
}

/**
 * The step between the points that are drawn: all at rest, fewer while the map moves on a machine that draws slowly.
 * `onRest` is called when all points are to be drawn again.
 */
export class Pace {
  constructor(onRest) {
    this.step = 1;
    this.moving = 1; // step of the last movement, with which the next one begins
    this.last = null;
    this.rest = settled(() => {
      this.last = null;
      this.step = 1;
      onRest();
    }, PAUSE);
  }

  /** The map has moved: measure the time between frames and adapt the step. */
  moved() {
    this.step = this.moving;
    this.rest();
    if (this.isMeasured) return;
    this.isMeasured = true;
    requestAnimationFrame((now) => {
      this.isMeasured = false;
      const time = this.last === null ? null : now - this.last;
      this.last = now;
      if (time === null || time > 6 * PAUSE) return;
      if (time > SLOW) this.moving = Math.min(MOST_STEP, 2 * this.moving);
      else if (time < FAST) this.moving = Math.max(1, this.moving / 2);
      this.step = this.moving;
    });
  }
}
