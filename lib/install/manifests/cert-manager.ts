import { isDeepStrictEqual } from 'node:util';
import type { Environment } from '../../function/config.ts';
import type { Definition } from '../../function/definition.ts';
import type { TlsConfig } from '../../tls/settings.ts';
import { renderFunction, type Platform } from './function-manifests.ts';
import { configOf } from './installed.ts';
import { labelsOf, partName } from '../../function/names.ts';
import type { Manifest, ManifestMetadata } from '../../kube/model/manifest.ts';
import type { Installation } from './installation.ts';

/** The changes for a certificate from cert-manager instead of one that the function issues. */
export interface CertManagerVariant {
  readonly certificates: readonly Manifest[];
  /** Strategic merge patches of the standard manifests. */
  readonly patches: readonly Manifest[];
}

/** Compares the manifests in mode `cert-manager` with the standard ones. */
export function certManagerVariant(
  definition: Definition,
  site: Installation,
  { platform, settings }: { readonly platform: Platform; readonly settings: Environment },
): CertManagerVariant {
  const { name } = definition;
  const environment = { ...settings, TLS_MODE: 'cert-manager' };
  const standard = renderFunction(definition, site, { platform, environment: settings }).manifests;
  const variant = renderFunction(definition, site, { platform, environment }).manifests.map((manifest) =>
    manifest.kind.endsWith('WebhookConfiguration') ? injected(manifest, name, site) : manifest,
  );
  return {
    certificates: certificatesOf({ name, secret: (configOf(definition, environment) as TlsConfig).TLS_SECRET }, site),
    patches: standard.flatMap((manifest) => {
      const other = variant.find((candidate) => isSameObject(candidate, manifest));
      return isDeepStrictEqual(other, manifest) ? [] : [patchOf(manifest, other)];
    }),
  };
}

function isSameObject(one: Manifest, other: Manifest): boolean {
  return (
    one.apiVersion === other.apiVersion &&
    one.kind === other.kind &&
    one.metadata.name === other.metadata.name &&
    one.metadata.namespace === other.metadata.namespace
  );
}

/** cert-manager writes the bundle of a configuration that names a Certificate. */
function injected(manifest: Manifest, name: string, { namespace }: Installation): Manifest {
  const { annotations: given } = manifest.metadata;
  const annotations = { ...given, 'cert-manager.io/inject-ca-from': `${namespace}/${partName(name, 'webhook')}` };
  return { ...manifest, metadata: { ...manifest.metadata, annotations } };
}

function patchOf(standard: Manifest, variant: Manifest | undefined): Manifest {
  const { apiVersion, kind, metadata } = standard;
  const { name, namespace } = metadata;
  const identity = { apiVersion, kind, metadata: { name, ...(namespace === undefined ? {} : { namespace }) } };
  if (variant === undefined) {
    return { ...identity, $patch: 'delete' };
  }
  const differing = difference(standard, variant);
  return { ...identity, ...differing, metadata: { ...identity.metadata, ...(differing['metadata'] as object) } };
}

type Fields = Readonly<Record<string, unknown>>;

/** The fields of the variant that the standard lacks or has with another value; lists count as a whole. */
function difference(standard: Fields, variant: Fields): Fields {
  const keys = Object.keys(variant).filter((key) => !isDeepStrictEqual(standard[key], variant[key]));
  return Object.fromEntries(
    keys.map((key) => {
      const [before, after] = [standard[key], variant[key]];
      return [key, isFields(before) && isFields(after) ? difference(before, after) : after];
    }),
  );
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A separate authority issues the leaf: with a self-signed leaf every renewal would be a new root. */
function certificatesOf(
  { name, secret }: { readonly name: string; readonly secret: string },
  { namespace }: Installation,
): Manifest[] {
  const webhook = partName(name, 'webhook');
  const authority = `${webhook}-ca`;
  const common = { namespace, labels: labelsOf(name, 'webhook') };
  return [
    certManager('Issuer', { name: `${webhook}-root`, ...common }, { selfSigned: {} }),
    certManager(
      'Certificate',
      { name: authority, ...common },
      {
        isCA: true,
        commonName: authority,
        secretName: authority,
        duration: '8760h',
        privateKey: { algorithm: 'ECDSA', size: 256, rotationPolicy: 'Always' },
        issuerRef: { group: 'cert-manager.io', kind: 'Issuer', name: `${webhook}-root` },
      },
    ),
    certManager('Issuer', { name: webhook, ...common }, { ca: { secretName: authority } }),
    certManager(
      'Certificate',
      { name: webhook, ...common },
      {
        secretName: secret,
        dnsNames: [`${webhook}.${namespace}.svc`],
        duration: '2160h',
        renewBefore: '720h',
        privateKey: { algorithm: 'ECDSA', size: 256, rotationPolicy: 'Always' },
        issuerRef: { group: 'cert-manager.io', kind: 'Issuer', name: webhook },
      },
    ),
  ];
}

function certManager(kind: string, metadata: ManifestMetadata, spec: object): Manifest {
  return { apiVersion: 'cert-manager.io/v1', kind, metadata, spec };
}
