import { describe, expect, it } from '@jest/globals';
import { parseConfig } from '../../lib/function/config.ts';
import { Config } from './config.ts';
import { actingRights, decidingRights } from './rights.ts';
import { triggers } from './wake.ts';

function groupsFor(environment: Readonly<Record<string, string>>): readonly string[] {
  return actingRights(parseConfig(Config, environment)).flatMap(({ groups }) => groups);
}

describe('the rights of the acting half', () => {
  it.each([
    ['argocd,flux', ['argoproj.io', 'helm.toolkit.fluxcd.io', 'kustomize.toolkit.fluxcd.io']],
    ['argocd', ['argoproj.io']],
    ['flux', ['helm.toolkit.fluxcd.io', 'kustomize.toolkit.fluxcd.io']],
    ['none', []],
  ])('with GITOPS_PROVIDERS=%s reach the kinds of those providers alone', (providers, groups) => {
    expect(
      groupsFor({ GITOPS_PROVIDERS: providers })
        .filter((group) => /argoproj|flux/.test(group))
        .sort(),
    ).toEqual(groups);
  });

  it.each([
    ['argocd', ['get', 'patch', 'create']],
    ['flux', []],
  ])('with GITOPS_PROVIDERS=%s let it %j the one ConfigMap that Applications need', (providers, verbs) => {
    const rights = actingRights(parseConfig(Config, { GITOPS_PROVIDERS: providers }));
    const own = rights.filter(({ resources }) => resources.includes('configmaps'));

    expect(own.flatMap((right) => right.verbs)).toEqual(verbs);
    expect(own.every(({ scope }) => scope === 'own')).toBe(true);
    expect(own.filter((right) => !right.verbs.includes('create')).every(({ names }) => names?.length === 1)).toBe(true);
  });

  it('watch nothing, and neither create nor delete policies', () => {
    const verbs = new Set(actingRights(parseConfig(Config, {})).flatMap((right) => right.verbs));

    expect(verbs).toEqual(new Set(['get', 'list', 'patch', 'create']));
  });
});

describe('the rights of both halves', () => {
  it.each([
    [{}, ['admission']],
    [{ API_AUTH_MODE: 'rbac' }, ['both']],
    [{ BREAK_GLASS: 'off', API_AUTH_MODE: 'token' }, []],
  ])('with %j let them ask what others may do: %j', (environment, roles) => {
    const rights = decidingRights(parseConfig(Config, environment));
    const asking = rights.filter(({ resources }) => resources.includes('subjectaccessreviews'));

    expect(asking.map(({ role = 'both' }) => role)).toEqual(roles);
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
