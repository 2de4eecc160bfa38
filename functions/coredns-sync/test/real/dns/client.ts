import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { connect } from 'node:net';
import { decodeAnswer, encodeQuestion, type Answer, type Type } from './message.ts';

/** Asks one DNS server, many questions at a time. */
export interface DnsClient extends Disposable {
  /** Over UDP, and again over TCP when the answer did not fit. */
  ask(name: string, type?: Type): Promise<Answer>;
}

/** As the resolver of the C library does it by default. */
const patienceMs = 5000;
const attempts = 2;

export async function openDnsClient(port: number): Promise<DnsClient> {
  const socket = createSocket('udp4');
  const waiting = new Map<number, (answer: Answer) => void>();
  let next = 0;
  socket.on('message', (packet) => {
    const answer = decodeAnswer(packet);
    waiting.get(answer.id)?.(answer);
  });
  socket.on('error', () => undefined); // a refused packet is a question without an answer, which the timeout tells
  socket.connect(port, '127.0.0.1');
  await once(socket, 'connect');
  return {
    async ask(name, type = 'A') {
      next = (next + 1) % 0x10000;
      const packet = encodeQuestion(next, name, type);
      const answer = await overUdp(socket, packet, next, waiting);
      return answer.truncated ? overTcp(port, packet) : answer;
    },
    [Symbol.dispose]: () => socket.close(),
  };
}

/** A packet may get lost on a busy machine. */
function overUdp(
  socket: Socket,
  packet: Buffer,
  id: number,
  waiting: Map<number, (answer: Answer) => void>,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    let left = attempts;
    const timer = setInterval(() => {
      left -= 1;
      if (left > 0) {
        socket.send(packet);
      } else {
        settle();
        reject(new Error(`no answer to ${attempts} questions for ${packet.toString('latin1', 12)}`));
      }
    }, patienceMs);
    function settle(): void {
      clearInterval(timer);
      waiting.delete(id);
    }
    waiting.set(id, (answer) => {
      settle();
      resolve(answer);
    });
    socket.send(packet);
  });
}

async function overTcp(port: number, packet: Buffer): Promise<Answer> {
  const socket = connect(port, '127.0.0.1');
  const length = Buffer.alloc(2);
  length.writeUInt16BE(packet.length);
  socket.write(Buffer.concat([length, packet]));
  let received = Buffer.alloc(0);
  for await (const chunk of socket) {
    received = Buffer.concat([received, chunk as Buffer]);
    if (received.length >= 2 && received.length >= 2 + received.readUInt16BE(0)) {
      break;
    }
  }
  socket.destroy();
  return decodeAnswer(received.subarray(2));
}
