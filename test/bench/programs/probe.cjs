// Loaded into every measured process, the bare ones too: tells what it has used when asked by a signal.
const { readFileSync, writeSync } = require('node:fs');

process.on('SIGUSR2', () => {
  const { user, system } = process.cpuUsage();
  const usage = {
    cpuMs: (user + system) / 1000,
    residentMb: process.memoryUsage.rss() / 2 ** 20,
    peakMb: peakKilobytes() / 2 ** 10,
  };
  writeSync(1, `${JSON.stringify({ usage })}\n`);
});

/** Linux counts the memory of the parent that spawned a process into its `maxRSS`, but not into this. */
function peakKilobytes() {
  const status = process.platform === 'linux' ? readFileSync('/proc/self/status', 'utf8') : '';
  return Number(/^VmHWM:\s+(\d+)/m.exec(status)?.[1] ?? process.resourceUsage().maxRSS);
}
