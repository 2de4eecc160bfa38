import type { ConfigMap, Deployment } from '../../../lib/kube/model/resource.ts';
import type { KnownFiles, ServerBlock } from '../corefile/parse.ts';
import { resolvePath } from '../corefile/path.ts';
import { corednsContainer, trimmed } from './mount.ts';

/** Where managed clusters let their users add to the Corefile. */
export const customConfigMap = 'coredns-custom';

const usualDirectory = '/etc/coredns/custom';

/** The directory at which CoreDNS sees `coredns-custom`. Without the Deployment, where everybody mounts it. */
export function customDirectory(deployment: Deployment | undefined): string | undefined {
  if (deployment === undefined) {
    return usualDirectory;
  }
  const names = (deployment.spec?.template.spec?.volumes ?? [])
    .filter(
      ({ configMap, projected }) =>
        configMap?.name === customConfigMap ||
        projected?.sources?.some((source) => source.configMap?.name === customConfigMap),
    )
    .map(({ name }) => name);
  const mount = corednsContainer(deployment)?.volumeMounts?.find(({ name }) => names.includes(name));
  return mount === undefined ? undefined : trimmed(mount.mountPath);
}

/** The texts that the Corefile may import, as far as we can read them. */
export function knownFiles(custom: ConfigMap | undefined, deployment: Deployment | undefined): KnownFiles {
  const directory = customDirectory(deployment);
  return new Map(
    directory === undefined
      ? []
      : Object.entries(custom?.data ?? {}).map(([key, text]) => [`${directory}/${key}`, text] as const),
  );
}

/**
 * The key of `coredns-custom` whose text the block imports among its directives: `*.override` on most platforms, `*.include`
 * on some. Never `*.server`: that is imported beside the blocks, where a rule would become the name of a zone.
 */
export function customKey(block: ServerBlock, directory: string): string | undefined {
  const extension = ['override', 'include'].find((candidate) =>
    block.imports.some(({ argument }) => resolvePath(argument.text, argument.file) === `${directory}/*.${candidate}`),
  );
  return extension === undefined ? undefined : `coredns-sync.${extension}`;
}

/** `1.14.7` of `registry.k8s.io/coredns/coredns:v1.14.7-build.2`. */
export function corednsVersion(deployment: Deployment | undefined): string | undefined {
  const image = deployment === undefined ? undefined : corednsContainer(deployment)?.image;
  return /:v?(\d+\.\d+\.\d+)[^/]*$/.exec(image ?? '')?.[1];
}
