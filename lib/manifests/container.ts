import { parseConfig } from '../function/config.ts';
import { ProcessSettings, type FunctionSettings } from '../settings.ts';
import type { Site } from './manifest.ts';

/** What a part of a function is told by its environment. */
export interface Told {
  readonly name: string;
  readonly role: FunctionSettings['ROLE'];
  /** Settings without a default, each with its example. */
  readonly placeholders: Readonly<Record<string, string>>;
}

/** The ports that the process opens when nobody says otherwise. */
export function standardPorts(): { readonly http: number; readonly https: number } {
  const { PORT, TLS_PORT } = parseConfig(ProcessSettings, {});
  return { http: PORT, https: TLS_PORT };
}

/** Knative's queue-proxy passes requests on for so many seconds after it was told to end. */
const queueProxyDrain = '30';

/** What every container of a function has in common: the image, its environment and the narrowest security context. */
export function containerOf({ name, role, placeholders }: Told, { image }: Site): ContainerBase {
  const drain = role === 'events' ? { DRAIN_SECONDS: queueProxyDrain } : {};
  const variables = { FUNCTION: name, ROLE: role, ...drain, ...placeholders };
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
  };
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
}
