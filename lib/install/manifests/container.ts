import { parseConfig } from '../../function/config.ts';
import type { Mount } from '../../function/definition.ts';
import type { Scaling } from '../../function/scaling.ts';
import { ProcessSettings, type FunctionSettings } from '../../function/settings.ts';
import type { Installation } from './installation.ts';

/** What the manifests set for a container of a function: its environment, files and memory. */
export interface ContainerSpec {
  readonly name: string;
  readonly role: FunctionSettings['ROLE'];
  readonly settings: Readonly<Record<string, string>>;
  readonly mounts?: readonly Mounted[];
  readonly scaling?: Scaling | undefined;
}

/** Files in a container. A Secret must exist before the container starts, a ConfigMap need not. */
export type Mounted = Mount | { readonly secret: string; readonly path: string };

/** The volumes of a pod whose container has these mounts. */
export function volumesOf(mounts: readonly Mounted[] = []): { readonly volumes?: Volume[] } {
  const volumes = mounts.map((mount) => ({ name: nameOf(mount), ...sourceOf(mount) }));
  return volumes.length === 0 ? {} : { volumes };
}

function nameOf(mount: Mounted): string {
  return 'secret' in mount ? mount.secret : mount.configMap;
}

function sourceOf(mount: Mounted): Omit<Volume, 'name'> {
  return 'secret' in mount
    ? { secret: { secretName: mount.secret } }
    : { configMap: { name: mount.configMap, optional: true } };
}

interface Volume {
  readonly name: string;
  readonly configMap?: { readonly name: string; readonly optional: boolean };
  readonly secret?: { readonly secretName: string };
}

/** The default ports of the process. */
export function standardPorts(): { readonly http: number; readonly https: number } {
  const { PORT, TLS_PORT } = parseConfig(ProcessSettings, {});
  return { http: PORT, https: TLS_PORT };
}

/** Knative's queue-proxy forwards requests for this many seconds after SIGTERM. */
const queueProxyDrain = '30';

/** What all containers of a function have: image, environment and a restrictive security context. */
export function containerOf(
  { name, role, settings, mounts = [], scaling }: ContainerSpec,
  { image }: Installation,
): ContainerBase {
  const drain = role === 'events' ? { DRAIN_SECONDS: queueProxyDrain } : {};
  const variables = { FUNCTION: name, ROLE: role, ...drain, ...memoryOf(scaling), ...settings };
  return {
    name: 'function',
    image,
    env: Object.entries(variables).map(([variable, value]) => ({ name: variable, value })),
    securityContext: {
      allowPrivilegeEscalation: false,
      capabilities: { drop: ['ALL'] },
      readOnlyRootFilesystem: true,
      runAsNonRoot: true,
      seccompProfile: { type: 'RuntimeDefault' },
    },
    ...(mounts.length === 0 ? {} : { volumeMounts: mounts.map(volumeMountOf) }),
  };
}

/** The default in the image. */
export const standardYoungMb = 8;

/** The environment variables that limit the memory of a process. */
export function memoryOf({ heapMb, youngMb, mallocArenas }: Scaling = {}): Readonly<Record<string, string>> {
  const heap = heapMb === undefined ? [] : [`--max-old-space-size=${heapMb}`];
  const bounds = [...heap, `--max-semi-space-size=${youngMb ?? standardYoungMb}`]; // replaces the options in the image
  return {
    ...(heapMb === undefined && youngMb === undefined ? {} : { NODE_OPTIONS: bounds.join(' ') }),
    ...(mallocArenas === undefined ? {} : { MALLOC_ARENA_MAX: String(mallocArenas) }),
  };
}

function volumeMountOf(mount: Mounted): VolumeMount {
  return { name: nameOf(mount), mountPath: mount.path, readOnly: true };
}

interface VolumeMount {
  readonly name: string;
  readonly mountPath: string;
  readonly readOnly: boolean;
}

interface ContainerBase {
  readonly name: string;
  readonly image: string;
  readonly env: { readonly name: string; readonly value: string }[];
  readonly securityContext: {
    readonly allowPrivilegeEscalation: boolean;
    readonly capabilities: { readonly drop: string[] };
    readonly readOnlyRootFilesystem: boolean;
    readonly runAsNonRoot: boolean;
    readonly seccompProfile: { readonly type: string };
  };
  readonly volumeMounts?: VolumeMount[];
}
