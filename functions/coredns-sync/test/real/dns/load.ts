import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { encodeQuestion } from './message.ts';

export interface Load {
  /** Answers in each second, as far as the machine let both sides run. */
  readonly perSecond: number;
  /** CPU that the server spent on one answer. */
  readonly cpuMicros: number;
}

/** Questions under way at a time: enough to keep the server busy, few enough to lose none. */
const window = 48;

/** The kernel counts CPU in ticks of 10 ms. */
const ticksPerSecond = 100;

/** Asks for the names in turns, for a while, as fast as answers come. */
export async function loadDns(port: number, pid: number, names: readonly string[], forMs: number): Promise<Load> {
  const packets = names.map((name) => encodeQuestion(0, name, 'A'));
  const socket = createSocket({ type: 'udp4', recvBufferSize: 1 << 20 });
  socket.connect(port, '127.0.0.1');
  await once(socket, 'connect');
  let sent = 0;
  let answers = 0;
  function send(): void {
    const packet = packets[sent % packets.length] ?? Buffer.alloc(0);
    sent += 1;
    socket.send(packet);
  }
  const before = cpuTicks(pid);
  const started = performance.now();
  const end = Promise.withResolvers<void>();
  socket.on('message', () => {
    answers += 1;
    if (performance.now() - started < forMs) {
      send();
    } else if (answers === sent) {
      end.resolve();
    }
  });
  for (let open = 0; open < window; open += 1) {
    send();
  }
  const patience = setTimeout(end.resolve, forMs * 2 + 2000); // a lost packet must not hold the bench
  await end.promise;
  clearTimeout(patience);
  const seconds = (performance.now() - started) / 1000;
  socket.close();
  return { perSecond: answers / seconds, cpuMicros: ((cpuTicks(pid) - before) / ticksPerSecond / answers) * 1e6 };
}

/** User and system time of all threads. */
function cpuTicks(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return Number(fields[11]) + Number(fields[12]);
}
