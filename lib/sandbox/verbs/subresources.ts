import type { KubeObject } from '../../kube/model/wire.ts';
import { bodyOf, type Call, userAgentOf, writeOf } from './call.ts';
import type { Answer } from '../http/respond.ts';
import { parseBody } from '../decode/decode.ts';
import { modify } from '../write/modify.ts';
import { answerTokenRequest } from '../access/token-request.ts';
import { listAt, objectAt } from '../schema/value.ts';
import { answer } from './write-verbs.ts';
import { parseWriteOptions } from '../decode/write-options.ts';

const tokenBody = { kind: 'TokenRequest', definition: 'io.k8s.api.authentication.v1.TokenRequest' };
const namespaceBody = { kind: 'Namespace', definition: 'io.k8s.api.core.v1.Namespace' };

/** Issues a token for a ServiceAccount. */
export async function serveToken(call: Call): Promise<Answer> {
  const { cluster, kind, request } = call;
  const { name = '', namespace } = request;
  const sent = await parseBody(cluster, await bodyOf(call), tokenBody);
  const account = cluster.store.get(kind, name, namespace)?.object;
  const issued = answerTokenRequest(sent, account, { name, tokens: cluster.tokens });
  return { code: 201, text: JSON.stringify(issued) };
}

/** Changes the finalizers in a Namespace's spec, and nothing else of it. */
export async function serveFinalize(call: Call): Promise<Answer> {
  const sent = await parseBody(call.cluster, await bodyOf(call), namespaceBody);
  const options = parseWriteOptions(call.query, 'UpdateOptions', { userAgent: userAgentOf(call) });
  const finalizers = listAt(sent, 'spec', 'finalizers');
  const object = await modify(call.cluster, writeOf(call, options), (live) => withFinalizers(live, finalizers));
  return answer(call, 200, object);
}

function withFinalizers(namespace: KubeObject, finalizers: readonly unknown[]): KubeObject {
  const { finalizers: _finalizers, ...spec } = objectAt(namespace, 'spec');
  return { ...namespace, ...{ spec: finalizers.length === 0 ? spec : { ...spec, finalizers } } };
}
