import { defineCommand, type Input, type Options } from '../framework/command.ts';

const options = {
  out: { value: 'DIR', about: 'where to write (default: this checkout)', complete: 'folder' },
  set: {
    value: 'FUNCTION.NAME=VALUE',
    about: 'a setting: rights, sources, webhooks and workloads are for that value; only with --out',
    repeatable: true,
  },
  check: { about: 'write nothing, name the files that differ' },
} as const satisfies Options;

export type ManifestsInput = Input<typeof options>;

export const manifests = defineCommand({
  name: 'manifests',
  summary: 'write knative/ and parts of deploy/ from the definitions of the functions',
  options,
  positionals: [
    { name: 'FOLDER', about: 'of a function beside those in functions/', repeatable: true, complete: 'folder' },
  ],
  examples: [
    { args: '--check', about: 'exit code 1 if a file of this checkout differs' },
    { args: '--out ../platform --set coredns-sync.TOUCH_PODS=true', about: 'for your settings, into your repository' },
  ],
  reports: true,
  load: () => import('./manifests-run.ts'),
});
