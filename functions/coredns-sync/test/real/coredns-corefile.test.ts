import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { checkConfiguration } from '../../render/check.ts';
import { parseCorefile } from '../../corefile/parse.ts';
import { rootBlock, withImport } from './dns/corefile.ts';
import { key, rendered } from './dns/render.ts';
import { files, outcome, rule, toIngress, toOther } from './dns/rules.ts';
import { openDnsSite, type DnsSite, type Place } from './dns/site.ts';
import { ingress, other } from './dns/world.ts';

const running = new AsyncDisposableStack();
let site: DnsSite;
beforeAll(async () => {
  site = running.use(await openDnsSite());
});
afterAll(() => running.disposeAsync());

describe('server blocks', () => {
  function threeBlocks(place: Place): string {
    const { port, common, cluster, forward } = place;
    const text = [
      `.:${port} {\n    ${common}\n    ${forward}\n}\n`,
      `cluster.local:${port} {\n    bind 127.0.0.1\n    ${cluster}\n}\n`,
      `example.com:${port} {\n    bind 127.0.0.1\n    ${forward}\n}\n`,
    ].join('');
    return withImport(text, place, ({ keys }) => keys[0]?.text !== `cluster.local:${port}`);
  }

  it('CS-31 a host is answered by the block that owns its zone', async () => {
    const rules = [rule('api.example.com'), rule('api.example.org')];
    const server = await site.start({ corefile: threeBlocks, files: files(rules, 'template') });
    const answers = await Promise.all(
      ['api.example.com', 'api.example.org', 'www.example.com'].map((name) => outcome(server, name)),
    );
    const mail = await outcome(server, 'api.example.com', 'MX');
    await server.stop();

    expect(answers).toEqual([toIngress, toIngress, 'world']);
    expect(mail).toBe('world');
  });

  it('blocks of our own leave the names of the cluster to the root, whatever is claimed above them', async () => {
    const rules = [rule('local'), rule('shop.local'), rule('arpa')];
    const server = await site.start({ corefile: rootBlock, files: rendered(rules, 'zoneblocks') });
    const names = ['local', 'shop.local', 'arpa', other.slice(0, -1), 'unclaimed.local'];
    const answers = await Promise.all(names.map((name) => outcome(server, name)));
    await server.stop();

    expect(answers).toEqual([toIngress, toIngress, toIngress, toOther, 'world']);
  });

  it('CS-32 rules under a key of coredns-custom are answered from', async () => {
    const { [key]: text = '' } = files([rule('api.example.com')], 'grouped');
    const server = await site.start({
      corefile: ({ port, common, cluster, forward, mountPath }) =>
        `.:${port} {\n    ${common}\n    import ${mountPath}/*.override\n    ${cluster}\n    ${forward}\n}\nimport ${mountPath}/*.server\n`,
      files: { 'coredns-sync.override': text },
    });
    const answer = await outcome(server, 'api.example.com');
    await server.stop();

    expect(answer).toBe(toIngress);
  });

  it('rules beside the blocks start well and break the target for the whole cluster, which our check foresees', async () => {
    const rules = files([rule('a.example.com'), rule('b.example.com')], 'exact');
    let corefile = '';
    function beside(place: Place): string {
      const { port, common, cluster, forward, mountPath } = place;
      const everywhere = common.replace('bind 127.0.0.1', ''); // as in a cluster: the wrong block asks for the same address
      corefile = `.:${port} {\n    ${everywhere}\n    ${cluster}\n    ${forward}\n}\nimport ${mountPath}/*.server\n`;
      return corefile;
    }
    const server = await site.start({ corefile: beside, files: rules });
    const answers = await Promise.all(['a.example.com', ingress.slice(0, -1)].map((name) => outcome(server, name)));
    const path = `${server.volume.directory}/${key}`;
    await server.stop();

    expect(answers).toEqual(['SERVFAIL', 'SERVFAIL']);
    expect(checkConfiguration(corefile, new Map(), new Map([[path, rules[key] ?? '']]))).toMatchObject([
      { file: path },
    ]);
  });

  it.each([
    ['. {', (place: Place) => `.:${place.port} {\n    ${place.common}\n}\n`],
    ['a comment after the brace', (place: Place) => `.:${place.port} { # main\n    ${place.common}\n}\n`],
    ['a brace on its own line', (place: Place) => `.:${place.port}\n{\n    ${place.common}\n}\n`],
    ['a scheme', (place: Place) => `dns://.:${place.port} {\n    ${place.common}\n}\n`],
    ['carriage returns', (place: Place) => `.:${place.port} {\n    ${place.common}\n}\n`.replaceAll('\n', '\r\n')],
    ['no braces', (place: Place) => `.:${place.port}\n${place.common}\n`],
    ['a comma', (place: Place) => `a.test:${place.port},\n.:${place.port} {\n    ${place.common}\n}\n`],
    ['a snippet', (place: Place) => `(s) {\n    ${place.common}\n}\n.:${place.port} {\n    import s\n}\n`],
  ])('CS-28 our edit leaves a Corefile with %s as CoreDNS wants it', async (_, corefile) => {
    function text(place: Place): string {
      return withImport(corefile(place), place, ({ keys }) => keys.some((each) => /^(dns:\/\/)?\.:/.test(each.text)));
    }

    const refusal = await site.tryStart({ corefile: text, files: files([rule('a.test')], 'exact') });

    expect(refusal).toBeUndefined();
  });

  it.each([
    ['a block that stays open', '. {\n    errors\n'],
    ['a brace too many', '. {\n    errors }\n}\n'],
    ['an import without an argument', '. {\n    import\n}\n'],
    ['an import of two things', '. {\n    import a b\n}\n'],
    ['two stars in an import', '. {\n    import /a/*/*.x\n}\n'],
    ['a snippet that is there twice', '(s) {\n    errors\n}\n(s) {\n    errors\n}\n. {\n    import s\n}\n'],
    ['a comma without another zone', '., {\n    errors\n}\n'],
  ])('CoreDNS and we refuse %s alike', async (_, text) => {
    const refusal = await site.tryStart({ corefile: () => text });

    expect(refusal).toContain('exit code 1');
    expect(() => parseCorefile(text)).toThrow();
  });
});
