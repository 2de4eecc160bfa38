// Loaded into every measured process, the bare ones too: tells what it has used when asked by a signal.
const { writeSync } = require('node:fs');

process.on('SIGUSR2', () => {
  const { user, system } = process.cpuUsage();
  const usage = {
    cpuMs: (user + system) / 1000,
    residentMb: process.memoryUsage.rss() / 2 ** 20,
    peakMb: process.resourceUsage().maxRSS / 2 ** 10,
  };
  writeSync(1, `${JSON.stringify({ usage })}\n`);
});
