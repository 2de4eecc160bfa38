// A clock that goes a minute ahead at each SIGHUP, so that a round of a bench spans as many turns of windows as it says.
const { Date: Ordinary } = globalThis;
const minuteMs = 60_000;
let aheadMs = 0;

globalThis.Date = class extends Ordinary {
  constructor(...given) {
    super(...(given.length === 0 ? [Ordinary.now() + aheadMs] : given));
  }

  static now() {
    return Ordinary.now() + aheadMs;
  }
};

process.on('SIGHUP', () => {
  aheadMs += minuteMs;
});
