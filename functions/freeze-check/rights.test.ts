import { describe, expect, it } from '@jest/globals';
import { parseConfig } from '../../lib/function/config.ts';
import { Config } from './config.ts';
import { actingRights } from './rights.ts';
import { triggers } from './wake.ts';

function groupsFor(environment: Readonly<Record<string, string>>): readonly string[] {
  return actingRights(parseConfig(Config, environment)).flatMap(({ groups }) => groups);
}

describe('the rights of the acting half', () => {
  it('follow the providers that policies may pause, and let what another has held be given back', () => {
    expect(groupsFor({})).toEqual(
      expect.arrayContaining(['argoproj.io', 'kustomize.toolkit.fluxcd.io', 'helm.toolkit.fluxcd.io']),
    );
    expect(groupsFor({ GITOPS_PROVIDERS: 'argocd' })).toEqual(groupsFor({}));
    expect(groupsFor({ GITOPS_PROVIDERS: 'none' }).filter((group) => /argoproj|flux/.test(group))).toEqual([]);
  });

  it('watch nothing, and neither create nor delete policies', () => {
    const verbs = new Set(actingRights(parseConfig(Config, {})).flatMap((right) => right.verbs));

    expect(verbs).toEqual(new Set(['get', 'list', 'patch', 'create']));
  });
});

describe('what wakes the acting half', () => {
  it('includes GitOps objects only where they are said to be installed', () => {
    function kindsFor(environment: Readonly<Record<string, string>>): string[] {
      const watches = triggers(parseConfig(Config, environment)).filter((trigger) => 'resource' in trigger);
      return watches.map(({ resource }) => resource.kind);
    }

    expect(kindsFor({})).toEqual(['ChangeFreeze', 'MaintenanceWindow', 'FreezeException', 'Namespace', 'CronJob']);
    expect(kindsFor({ GITOPS_EVENTS: 'flux' })).toEqual(expect.arrayContaining(['Kustomization', 'HelmRelease']));
  });
});
