import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import type { Environment } from '../function/config.ts';
import { clusterAccess, mergedAccess, type Access } from '../kube/access.ts';
import { createTransport, type Transport } from '../kube/transport.ts';
import { CommandError } from './framework/errors.ts';
import { whyUnreachable } from './unreachable.ts';

/** Which cluster a command is about. */
export interface Wanted {
  readonly kubeconfig: string | undefined;
  readonly environment: Environment;
}

export interface Reached {
  readonly transport: Transport;
  /** Its address and why it is this one, for somebody who has several. */
  readonly description: string;
}

/**
 * Works on the cluster that kubectl would talk to, once it answers: one that does not is no finding about a function.
 * A function and `npm start` use only what they are given.
 */
export async function withCluster<T>(wanted: Wanted, work: (reached: Reached) => Promise<T>): Promise<T> {
  const { access, origin } = chosenCluster(wanted);
  const transport = createTransport(access);
  try {
    const { href } = await transport.server();
    await transport.send({ method: 'GET', path: '/version' }).catch((error: unknown) => {
      const message = `could not reach ${href} (${origin}): ${whyUnreachable(error)}; choose another with --kubeconfig`;
      throw new CommandError(1, message, { cause: error });
    });
    return await work({ transport, description: `${href} (${origin})` });
  } finally {
    transport.close();
  }
}

interface Chosen {
  readonly access: Access;
  readonly origin: string;
}

function chosenCluster({ kubeconfig, environment }: Wanted): Chosen {
  try {
    return clusterBy(kubeconfig, environment);
  } catch (error) {
    throw new CommandError(2, (error as Error).message, { cause: error });
  }
}

function clusterBy(flag: string | undefined, environment: Environment): Chosen {
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

/** Some of the list may be missing, as in kubectl. If all are missing, another cluster would be a guess. */
function listedFiles(list: string): readonly string[] {
  const files = list.split(delimiter).filter((file) => file !== '' && existsSync(file));
  if (files.length === 0) {
    throw new Error(`read KUBECONFIG: none of its files is there: ${list}`);
  }
  return files;
}
