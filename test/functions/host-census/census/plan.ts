import { writeConfigMap } from '../../../../lib/kube/model/config-map.ts';
import type { Plan } from '../../../../lib/kube/model/plan.ts';
import type { ConfigMap } from '../../../../lib/kube/model/resource.ts';
import { isValid, namesOf, type Host } from './hosts.ts';

export interface Observed {
  readonly census: ConfigMap | undefined;
  readonly hosts: readonly Host[];
}

export interface Wanted {
  readonly place: { readonly namespace: string; readonly name: string };
  /** How many hosts may be listed. */
  readonly most: number;
}

/** Writes every host once, sorted. Equal input gives equal text, so a repeat plans nothing. */
export function plan({ census, hosts }: Observed, { place, most }: Wanted): Plan {
  const names = namesOf(hosts).slice(0, most);
  const text = names.map((name) => `${name}\n`).join('');
  const step = writeConfigMap(census, { ...place, data: { hosts: text } }, `${names.length} hosts`);
  const skipped = hosts
    .filter((host) => !isValid(host))
    .map(({ name, from }) => `${from}: bad host ${JSON.stringify(name)}`);
  return { steps: step === undefined ? [] : [step], skipped };
}
