import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { parse, parseAllDocuments } from 'yaml';
import { findFunctions } from '../../lib/cli/functions.ts';
import { renderFunction } from '../../lib/install/manifests/function-manifests.ts';
import type { Manifest } from '../../lib/kube/model/manifest.ts';
import { renderShared } from '../../lib/install/manifests/shared.ts';

describe('deploy/gitops/argocd-health.yaml', () => {
  it('defines for Argo CD the health of each Knative kind that it has no check for, and nothing else', async () => {
    const definitions = (await findFunctions('functions')).map(({ definition }) => definition);
    const byHand = parseAllDocuments(readFileSync('knative/shared/broker.yaml', 'utf8'));
    const installed = [
      ...definitions.flatMap((definition) => renderFunction(definition).manifests),
      ...renderShared(definitions),
      ...byHand.map((document) => document.toJS() as Manifest),
    ];
    const kinds = installed
      .map(({ apiVersion, kind }) => `${apiVersion.split('/', 1)[0] ?? ''}_${kind}`)
      .filter((kind) => kind.includes('.knative.dev_') && kind !== 'serving.knative.dev_Service');
    const { data } = parse(readFileSync('deploy/gitops/argocd-health.yaml', 'utf8')) as {
      readonly data: Readonly<Record<string, string>>;
    };

    expect(new Set(Object.keys(data))).toEqual(new Set(kinds.map((kind) => `resource.customizations.health.${kind}`)));
    expect(new Set(Object.values(data)).size).toBe(1);
  });
});
