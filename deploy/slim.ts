import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Plugin } from 'esbuild';

/** The client's index loads all of it; its configuration is the one module that is used. */
export const onlyKubeConfig: Plugin = {
  name: 'only-kube-config',
  setup(build) {
    build.onResolve({ filter: /^@kubernetes\/client-node$/ }, async ({ path, kind, resolveDir, pluginData }) => {
      if (pluginData === onlyKubeConfig) {
        return undefined;
      }
      const index = await build.resolve(path, { kind, resolveDir, pluginData: onlyKubeConfig });
      return { path: join(dirname(index.path), 'config.js') };
    });
  },
};

/**
 * What the client imports at once and a pod does not need: it finds its cluster by mounted files. Only a kubeconfig that
 * is not JSON needs the YAML parser, only one that names a command needs processes.
 */
const late: Readonly<Record<string, string>> = {
  'js-yaml': String.raw`
    export function load(text) {
      return /^\s*\{/.test(text) ? JSON.parse(text) : require('js-yaml').load(text);
    }`,
  'node:child_process': `
    export default {
      spawn: (...given) => require('node:child_process').spawn(...given),
      spawnSync: (...given) => require('node:child_process').spawnSync(...given),
      execSync: (...given) => require('node:child_process').execSync(...given),
    };`,
};

export const loadLate: Plugin = {
  name: 'load-late',
  setup(build) {
    build.onResolve({ filter: /^(js-yaml|node:child_process)$/ }, ({ path, kind, resolveDir }) =>
      kind === 'require-call' ? undefined : { path, namespace: 'late', pluginData: resolveDir },
    );
    build.onLoad({ filter: /.*/, namespace: 'late' }, ({ path, pluginData }) => ({
      contents: late[path] ?? '',
      resolveDir: pluginData as string,
    }));
  },
};

/** Of a package.json only its version is ever read. */
export const onlyVersion: Plugin = {
  name: 'only-version',
  setup(build) {
    build.onLoad({ filter: /[/\\]package\.json$/ }, async ({ path }) => {
      const { version } = JSON.parse(await readFile(path, 'utf8')) as { readonly version: string };
      return { contents: JSON.stringify({ version }), loader: 'json' };
    });
  },
};

/** What few starts need: a file of its own beside the bundles, so that all others need not read it. */
export const parts: Readonly<Record<string, string>> = {
  'parts/doctor': 'lib/runtime/doctor/route.ts',
  'parts/x509': 'lib/base/x509.ts',
  'parts/yaml': 'yaml',
};

export const leaveApart: Plugin = {
  name: 'leave-apart',
  setup(build) {
    build.onResolve({ filter: /^yaml$|\/x509\.ts$|\/doctor\/route\.ts$/ }, ({ path }) => {
      const apart = Object.entries(parts).find(([, file]) => file.endsWith(path.replace(/^(\.\/|(\.\.\/)+)/, '')));
      return apart === undefined ? undefined : { path: `./${apart[0]}.cjs`, external: true };
    });
  },
};
