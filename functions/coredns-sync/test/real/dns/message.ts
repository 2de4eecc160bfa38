/** The types of questions that suites ask, by number. */
export const types = { A: 1, NS: 2, CNAME: 5, SOA: 6, PTR: 12, MX: 15, TXT: 16, AAAA: 28, HTTPS: 65 } as const;
export type Type = keyof typeof types;

export interface DnsRecord {
  /** Without its final dot, in the case in which it came. */
  readonly name: string;
  readonly type: Type | number;
  /** An address, a name, or hexadecimal for anything else. */
  readonly data: string;
}

export interface Answer {
  readonly id: number;
  readonly code: 'NOERROR' | 'SERVFAIL' | 'NXDOMAIN' | 'REFUSED' | number;
  readonly truncated: boolean;
  readonly question: string;
  readonly records: readonly DnsRecord[];
}

const codes: Readonly<Record<number, Answer['code']>> = { 0: 'NOERROR', 2: 'SERVFAIL', 3: 'NXDOMAIN', 5: 'REFUSED' };
const typeNames = new Map<number, Type>(Object.entries(types).map(([name, number]) => [number, name as Type]));

/** A question with recursion desired. */
export function encodeQuestion(id: number, name: string, type: Type): Buffer {
  const labels = name.split('.').map((label) => Buffer.concat([Buffer.of(label.length), Buffer.from(label, 'latin1')]));
  const header = Buffer.alloc(12);
  header.writeUInt16BE(id, 0);
  header.writeUInt16BE(0x0100, 2);
  header.writeUInt16BE(1, 4);
  return Buffer.concat([header, ...labels, Buffer.of(0, 0, types[type], 0, 1)]);
}

export function decodeAnswer(packet: Buffer): Answer {
  const flags = packet.readUInt16BE(2);
  const question = readName(packet, 12);
  const records: DnsRecord[] = [];
  let at = question.end + 4;
  for (let left = packet.readUInt16BE(6); left > 0; left -= 1) {
    const { record, end } = readRecord(packet, at);
    records.push(record);
    at = end;
  }
  const code = flags & 0xf;
  return {
    id: packet.readUInt16BE(0),
    code: codes[code] ?? code,
    truncated: (flags & 0x0200) !== 0,
    question: question.name,
    records,
  };
}

function readRecord(packet: Buffer, at: number): { record: DnsRecord; end: number } {
  const { name, end } = readName(packet, at);
  const number = packet.readUInt16BE(end);
  const type = typeNames.get(number) ?? number;
  const data = end + 10;
  const next = data + packet.readUInt16BE(end + 8);
  return { record: { name, type, data: readData(packet, type, [data, next]) }, end: next };
}

function readData(packet: Buffer, type: DnsRecord['type'], [start, end]: readonly [number, number]): string {
  const bytes = packet.subarray(start, end);
  if (type === 'A') {
    return bytes.join('.');
  }
  return type === 'CNAME' || type === 'NS' ? readName(packet, start).name : bytes.toString('hex');
}

/** Names may end in a reference to an earlier one. */
function readName(packet: Buffer, start: number): { name: string; end: number } {
  const labels: string[] = [];
  let at = start;
  let end: number | undefined;
  for (let length = packet.readUInt8(at); length !== 0; length = packet.readUInt8(at)) {
    if (length >= 0xc0) {
      end ??= at + 2;
      at = packet.readUInt16BE(at) & 0x3fff;
    } else {
      labels.push(packet.toString('latin1', at + 1, at + 1 + length));
      at += 1 + length;
    }
  }
  return { name: labels.join('.'), end: end ?? at + 1 };
}
