import type { OnResolveArgs, Plugin } from 'esbuild';

/** A module that never runs in a cluster, with the names that its importer asks for. */
interface Absent {
  /** The package whose import is cut. */
  readonly importer: string;
  readonly path: string;
  /** Names that an ES module imports; absent for a module that is `require`d. */
  readonly names?: readonly string[];
  /** A program that sends events needs it. */
  readonly unlessSending?: boolean;
}

/**
 * What the packages load at start and a function never calls. Each is replaced by functions that say so when they are
 * called. A name that a new version of a package asks for in addition fails the build.
 */
const absent: readonly Absent[] = [
  // Calls go over our own transport: no models, no proxies, no second HTTP client, no logins of desktop clouds.
  {
    importer: '@kubernetes/client-node',
    path: './gen/index.js',
    names: ['createConfiguration', 'ServerConfiguration'],
  },
  { importer: '@kubernetes/client-node', path: 'undici', names: ['Agent', 'ProxyAgent'] },
  { importer: '@kubernetes/client-node', path: 'socks', names: ['SocksClient'] },
  { importer: '@kubernetes/client-node', path: 'socks-proxy-agent', names: ['SocksProxyAgent'] },
  { importer: '@kubernetes/client-node', path: 'hpagent', names: ['HttpProxyAgent', 'HttpsProxyAgent'] },
  { importer: '@kubernetes/client-node', path: 'jsonpath-plus', names: ['JSONPath'] },
  {
    importer: '@kubernetes/client-node',
    path: 'openid-client',
    names: ['Configuration', 'customFetch', 'discovery', 'refreshTokenGrant'],
  },
  // The registry, counters, gauges and histograms are all that is used.
  { importer: 'prom-client', path: './lib/cluster' },
  { importer: 'prom-client', path: './lib/defaultMetrics' },
  { importer: 'prom-client', path: './lib/pushgateway' },
  { importer: 'prom-client', path: './lib/summary' },
  // A function never sends an event. Each has its id, and is checked by lib/http/attributes.ts.
  { importer: 'cloudevents', path: './message', unlessSending: true },
  { importer: 'cloudevents', path: '../schema/v1' },
  { importer: 'cloudevents', path: './transport/emitter' },
  { importer: 'cloudevents', path: './transport/http' },
  { importer: 'cloudevents', path: 'uuid' },
  // Lines go to the standard output, not to worker threads.
  { importer: 'pino', path: './transport' },
  { importer: 'pino', path: './lib/transport' },
  { importer: 'pino', path: './lib/multistream' },
  { importer: 'pino', path: 'on-exit-leak-free' },
  { importer: 'pino', path: 'sonic-boom' },
  { importer: 'pino', path: 'worker_threads' },
  // Bodies and queries are read by lib/http, and no files are served.
  { importer: 'express', path: 'body-parser' },
  { importer: 'express', path: 'qs' },
  { importer: 'express', path: 'send' },
  { importer: 'express', path: 'serve-static' },
  // Taken if it happens to be installed; a bundle must not depend on that.
  { importer: 'debug', path: 'supports-color' },
];

/** Keeps out of a bundle what never runs in a cluster. */
export function leaveAbsent({ sends }: { readonly sends: boolean }): Plugin {
  const left = absent.filter(({ unlessSending = false }) => !(sends && unlessSending));
  return {
    name: 'leave-absent',
    setup(build) {
      build.onResolve({ filter: /^[\w@.]/ }, (args) => {
        const found = left.find(({ importer, path }) => path === args.path && importer === packageOf(args));
        return found === undefined ? undefined : { path: args.path, namespace: 'absent', pluginData: found };
      });
      build.onLoad({ filter: /.*/, namespace: 'absent' }, ({ pluginData }) => ({
        contents: stub(pluginData as Absent),
      }));
    },
  };
}

function packageOf({ importer }: OnResolveArgs): string | undefined {
  return /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(importer)?.[1];
}

function stub({ path, names }: Absent): string {
  const refuse = `throw new Error(${JSON.stringify(`${path} is not part of this bundle`)})`;
  return names === undefined
    ? `module.exports = function () { ${refuse}; };`
    : names.map((name) => `export function ${name}() { ${refuse}; }`).join('\n');
}
