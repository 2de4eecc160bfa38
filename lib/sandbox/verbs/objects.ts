import { answerReview, isReview } from '../access/access-review.ts';
import { bodyOf, type Call } from './call.ts';
import type { Answer } from '../http/respond.ts';
import { decode } from '../decode/decode.ts';
import { serveEviction } from './eviction.ts';
import { subresourceOf } from '../model/kinds.ts';
import { getObject, listObjects, watchObjects } from './read-verbs.ts';
import type { Verb } from '../http/request.ts';
import { serveScale } from './scale.ts';
import { methodNotAllowed, notServed, unknownKind } from '../model/status.ts';
import { serveFinalize, serveToken } from './subresources.ts';
import { createObject, deleteObject, deleteObjects, patchObject, updateObject } from './write-verbs.ts';

type Serve = (call: Call) => Answer | undefined | Promise<Answer | undefined>;

const verbs: Readonly<Record<Verb, Serve>> = {
  get: getObject,
  list: listObjects,
  watch: watchObjects,
  create: createObject,
  update: updateObject,
  patch: patchObject,
  delete: deleteObject,
  deletecollection: deleteObjects,
};

/** Verbs on one object; the others are for collections. A watch may be for either. */
const needsName = new Set<Verb>(['get', 'update', 'patch', 'delete']);

/** Serves one request on objects or on a subresource of one. */
export async function serveObjects(call: Call): Promise<Answer | undefined> {
  const { kind, request } = call;
  const isPlaced = request.namespace === undefined ? mayBeWithoutNamespace(call) : kind.namespaced;
  if (!isPlaced) {
    throw unknownKind();
  }
  if (request.subresource !== undefined) {
    return serveSubresource(call, request.subresource);
  }
  assertAllowed(kind.verbs, request.verb);
  if (request.verb !== 'watch' && (request.name === undefined) === needsName.has(request.verb)) {
    throw methodNotAllowed();
  }
  return isReview(kind.plural) ? serveReview(call) : verbs[request.verb](call);
}

const subresources: Readonly<Record<string, Serve>> = {
  status: (call) => verbs[call.request.verb](call),
  scale: serveScale,
  token: serveToken,
  finalize: serveFinalize,
  eviction: serveEviction,
};

async function serveSubresource(call: Call, name: string): Promise<Answer | undefined> {
  const { kind, request } = call;
  const subresource = subresourceOf(kind, name);
  if (subresource === undefined) {
    throw unknownKind();
  }
  assertAllowed(subresource.verbs, request.verb);
  const serve = subresources[name];
  if (serve === undefined) {
    throw notServed(`${kind.plural}/${name}`);
  }
  return serve(call);
}

/** Kinds with namespaces can be listed over all of them; single objects need theirs in the path. */
function mayBeWithoutNamespace({ kind, request }: Call): boolean {
  return !kind.namespaced || request.name === undefined || request.verb === 'watch';
}

function assertAllowed(allowed: readonly string[], verb: Verb): void {
  if (!allowed.includes(verb)) {
    throw methodNotAllowed();
  }
}

async function serveReview(call: Call): Promise<Answer> {
  const { cluster, kind, request, caller } = call;
  const review = await decode(cluster, await bodyOf(call), {
    kind,
    fieldValidation: 'Warn',
    warn: (text) => call.warn(text),
  });
  const answer = answerReview(kind.plural, review, {
    caller,
    authorizer: cluster.authorizer,
    tokens: cluster.tokens,
    ...(request.namespace !== undefined && { namespace: request.namespace }),
  });
  return { code: 201, text: JSON.stringify(answer) };
}
