import * as z from 'zod/mini';
import { dnsLabel, flag, oneOf, text, withDefault } from '../../../lib/function/config.ts';
import { objectName } from './object-name.ts';

/** The other extensions are those of files beside it. */
const dataKey = {
  test: /^[-_a-zA-Z0-9]{1,200}\.(?!(?:claims|hosts|zone|blocks)$)[a-zA-Z0-9]{1,20}$/,
  says: 'must be a file name with an extension, other than claims, hosts, zone or blocks',
};
const path = { test: /^\/[-_./a-zA-Z0-9]+$/, says: 'must be an absolute path' };

/** Where CoreDNS is, and how it gets the rules. */
export const dns = {
  COREDNS_AUTO_CONFIGURE: withDefault(flag({ about: 'let it edit the Corefile and the Deployment' }), false),
  INTEGRATION_MODE: withDefault(
    oneOf(['auto', 'corefile', 'custom-configmap', 'inline', 'none'], { about: 'how CoreDNS gets the rules' }),
    'auto',
  ),
  IMPORT_POSITION: withDefault(
    oneOf(['first', 'last'], { about: 'where in a server block the import stands' }),
    'first',
  ),
  COREDNS_NAMESPACE: withDefault(
    text({ about: 'where CoreDNS runs', example: 'kube-system', pattern: dnsLabel }),
    'kube-system',
  ),
  COREDNS_CONFIGMAP_NAME: withDefault(
    text({ about: 'the ConfigMap with the Corefile', example: 'coredns', pattern: objectName }),
    'coredns',
  ),
  COREDNS_DEPLOYMENT_NAME: withDefault(
    text({ about: 'the Deployment', example: 'coredns', pattern: objectName }),
    'coredns',
  ),
  DYNAMIC_CONFIGMAP_NAME: withDefault(
    text({ about: 'the ConfigMap of the rules', example: 'coredns-ingress-sync-rewrite-rules', pattern: objectName }),
    'coredns-ingress-sync-rewrite-rules',
  ),
  DYNAMIC_CONFIG_KEY: withDefault(
    text({ about: 'its key', example: 'dynamic.server', pattern: dataKey }),
    'dynamic.server',
  ),
  COREDNS_VOLUME_NAME: withDefault(
    text({ about: 'the volume', example: 'coredns-ingress-sync-volume', pattern: dnsLabel }),
    'coredns-ingress-sync-volume',
  ),
  MOUNT_PATH: z.optional(
    text({ about: 'where it is mounted', example: '/etc/coredns/custom/coredns-ingress-sync', pattern: path }),
  ),
  INSTANCE: withDefault(
    text({ about: 'tells installations in one cluster apart', example: 'coredns-ingress-sync', pattern: dnsLabel }),
    'coredns-ingress-sync',
  ),
  NODELOCAL_MODE: withDefault(
    oneOf(['report', 'stubdomains'], { about: 'what to do about NodeLocal DNSCache' }),
    'report',
  ),
};
