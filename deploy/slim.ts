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

/** A pod finds its cluster by mounted files; only a kubeconfig that is not JSON needs the YAML parser. */
export const lateYaml: Plugin = {
  name: 'late-yaml',
  setup(build) {
    build.onResolve({ filter: /^js-yaml$/ }, ({ path, kind, resolveDir }) =>
      kind === 'require-call' ? undefined : { path, namespace: 'late-yaml', pluginData: resolveDir },
    );
    build.onLoad({ filter: /.*/, namespace: 'late-yaml' }, ({ pluginData }) => ({
      contents: String.raw`export function load(text) {
        return /^\s*\{/.test(text) ? JSON.parse(text) : require('js-yaml').load(text);
      }`,
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
