/** Targets of rules and their addresses, as the cluster's DNS knows them. */
export const targets = {
  'ingress.web.svc.cluster.local.': { A: '10.96.0.10', AAAA: 'fd00000000000000000000000000000a' },
  'other.web.svc.cluster.local.': { A: '10.96.0.20' },
} as const;
/** The same as a Service has them. */
export const addresses: Readonly<Record<TargetName, readonly string[]>> = {
  'ingress.web.svc.cluster.local.': ['10.96.0.10', 'fd00::a'],
  'other.web.svc.cluster.local.': ['10.96.0.20'],
};
export type TargetName = keyof typeof targets;
export const ingress: TargetName = 'ingress.web.svc.cluster.local.';
export const other: TargetName = 'other.web.svc.cluster.local.';

/** What the rest of the world answers to every question for an address. */
export const upstreamAddress = '203.0.113.1';

export const clusterZone = `$ORIGIN cluster.local.
@ 5 IN SOA ns.dns hostmaster 1 7200 1800 86400 5
ingress.web.svc 5 IN A 10.96.0.10
ingress.web.svc 5 IN AAAA fd00::a
other.web.svc 5 IN A 10.96.0.20
`;

/** The rest of the world: an answer to every question, so that whatever reaches it shows. */
export function upstreamCorefile(port: number): string {
  const answers = {
    A: upstreamAddress,
    AAAA: '2001:db8::1',
    MX: '10 mail.world.test.',
    TXT: '\\"from the world\\"',
    NS: 'ns.world.test.',
    SOA: 'ns.world.test. hostmaster.world.test. 1 7200 1800 86400 5',
    HTTPS: '1 . alpn=h2',
  };
  const templates = Object.entries(answers).map(
    ([type, data]) => `    template IN ${type} {\n        answer "{{ .Question.Name }} 5 IN ${type} ${data}"\n    }\n`,
  );
  return `.:${port} {\n    bind 127.0.0.1\n    health 127.0.0.1:${port + 1}\n${templates.join('')}}\n`;
}
