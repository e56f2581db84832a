// Loaded into a store emulator (`node --require`): its clock is TAU_SKEW_SECONDS ahead of the machine's.
const http = require("http");

const skew = Number(process.env.TAU_SKEW_SECONDS) * 1000;
const Real = Date;
globalThis.Date = class Date extends Real {
  constructor(...parts) {
    super(...(parts.length ? parts : [Real.now() + skew]));
  }
  static now() {
    return Real.now() + skew;
  }
};

// The `Date` of an answer is node's own, which does not ask the class above.
const writeHead = http.ServerResponse.prototype.writeHead;
http.ServerResponse.prototype.writeHead = function (...parts) {
  this.setHeader("Date", new Date().toUTCString());
  return writeHead.apply(this, parts);
};
