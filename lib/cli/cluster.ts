import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import type { Environment } from '../function/config.ts';
import { clusterAccess, mergedAccess, type Access } from '../kube/access.ts';

/** The cluster that a command talks to. */
export interface Chosen {
  readonly access: Access;
  /** How it came to be this one, for whoever has several. */
  readonly origin: string;
}

/** The cluster that kubectl would talk to, for commands of people: a function and `npm start` go by what they are told. */
export function chosenCluster(flag: string | undefined, environment: Environment): Chosen {
  const files = kubeconfigFiles(flag, { environment, home: homedir() });
  if (files.length === 0) {
    return { access: clusterAccess(), origin: 'the service account of this pod' };
  }
  const { access, context } = mergedAccess(files);
  return { access, origin: `context ${context} of ${files.join(', ')}` };
}

/** Where kubectl would look, the first to be there: the flag, `KUBECONFIG`, the home directory. None: the pod itself. */
export function kubeconfigFiles(
  flag: string | undefined,
  { environment, home }: { readonly environment: Environment; readonly home: string },
): readonly string[] {
  if (flag !== undefined) {
    return [flag];
  }
  const { KUBECONFIG = '' } = environment;
  return KUBECONFIG === '' ? [join(home, '.kube', 'config')].filter(existsSync) : listedFiles(KUBECONFIG);
}

/** Some of the list may be missing, as in kubectl; whoever names none that is there has not meant another cluster. */
function listedFiles(list: string): readonly string[] {
  const files = list.split(delimiter).filter((file) => file !== '' && existsSync(file));
  if (files.length === 0) {
    throw new Error(`read KUBECONFIG: none of its files is there: ${list}`);
  }
  return files;
}
