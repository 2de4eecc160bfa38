import type { KubeObject } from '../../kube/model/wire.ts';
import { mediaType } from '../http/body.ts';
import { bodyOf, type Call, renderingOf, userAgentOf, writeOf } from './call.ts';
import type { Answer } from '../http/respond.ts';
import { create } from '../write/create.ts';
import { decode, parseBody } from '../decode/decode.ts';
import { listPage } from '../read/list.ts';
import { parseListQuery } from '../read/list-options.ts';
import { assertNamesRevision, modify } from '../write/modify.ts';
import { isApply, parsePatch } from '../patch/patch.ts';
import { present } from '../model/present.ts';
import { forbidden } from '../access/rbac.ts';
import { remove, removalAnswer } from '../write/remove.ts';
import { renderObject, renderPage } from '../read/render.ts';
import { apiVersionOf } from '../model/kinds.ts';
import { badRequest, conflict, methodNotAllowed, notFound } from '../model/status.ts';
import { mayBeCreatedByUpdate } from '../write/strategy.ts';
import { type Json, stringAt } from '../schema/value.ts';
import { subjectOf, type Write } from '../write/write.ts';
import { readObject } from '../decode/strict-decode.ts';
import { parseDeleteOptions, parseWriteOptions, type WriteOptions } from '../decode/write-options.ts';

const optionsBody = { kind: 'DeleteOptions', definition: 'io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions' };

export async function createObject(call: Call): Promise<Answer> {
  const { cluster, kind, request, query } = call;
  if (kind.namespaced !== (request.namespace !== undefined)) {
    throw methodNotAllowed();
  }
  const options = parseWriteOptions(query, 'CreateOptions', { userAgent: userAgentOf(call) });
  const sent = await decodeBody(call, options);
  assertPlace(sent, request);
  if ((sent.metadata?.resourceVersion ?? '') !== '') {
    throw badRequest('resourceVersion should not be set on objects to be created');
  }
  return answer(call, 201, await create(cluster, writeOf(call, options), sent));
}

export async function updateObject(call: Call): Promise<Answer> {
  const { cluster, kind, request, query } = call;
  const options = parseWriteOptions(query, 'UpdateOptions', { userAgent: userAgentOf(call) });
  const sent = await decodeBody(call, options);
  assertNamed(sent, request);
  const write = writeOf(call, options);
  const live = cluster.store.get(kind, request.name ?? '', request.namespace);
  if (live === undefined && mayBeCreatedByUpdate(kind) && request.subresource === undefined) {
    return answer(call, 201, await create(cluster, write, sent));
  }
  return answer(call, 200, await modify(cluster, write, (object) => replaced(write, object, sent)));
}

export async function patchObject(call: Call): Promise<Answer> {
  const { cluster, kind, query } = call;
  const body = await bodyOf(call);
  const isAnApply = isApply(body.contentType);
  const options = parseWriteOptions(query, 'PatchOptions', { isApply: isAnApply, userAgent: userAgentOf(call) });
  const patch = await parsePatch(kind, body);
  if (patch.type === 'apply') {
    return applyObject(call, patch.applied, options);
  }
  const write = writeOf(call, options);
  const object = await modify(cluster, write, (live) => inspected(call, patch.change(live), options));
  return answer(call, 200, object);
}

export async function deleteObject(call: Call): Promise<Answer> {
  const { cluster, kind, query } = call;
  const options = parseDeleteOptions(query, await optionalBody(call));
  const removal = await remove(cluster, writeOf(call, { ...options, manager: '' }), options);
  const body = removalAnswer(kind, removal);
  const isAccepted = !removal.isGone && options.propagationPolicy === 'Background' && query.has('orphanDependents');
  return { code: isAccepted ? 202 : 200, text: body.kind === 'Status' ? JSON.stringify(body) : rendered(call, body) };
}

/** Deletes what the selectors select, one by one. */
export async function deleteObjects(call: Call): Promise<Answer> {
  const { cluster, kind, request, query } = call;
  const options = parseDeleteOptions(query, await optionalBody(call));
  const page = listPage(cluster.store, kind, parseListQuery(kind, request, query));
  const write = writeOf(call, { ...options, manager: '' });
  for (const { object } of page.items) {
    const { name = '', namespace } = object.metadata ?? {};
    await removeListed(call, { ...write, name, ...(namespace !== undefined && { namespace }) }, options);
  }
  return { code: 200, text: renderPage(renderingOf(call), { ...page, revision: cluster.store.revision }) };
}

export function answer(call: Call, code: number, object: KubeObject): Answer {
  return { code, text: rendered(call, object) };
}

function rendered(call: Call, object: KubeObject): string {
  return renderObject(renderingOf(call), object);
}

async function removeListed(call: Call, write: Write, options: Parameters<typeof remove>[2]): Promise<void> {
  if (call.cluster.store.get(write.kind, write.name ?? '', write.namespace) !== undefined) {
    await remove(call.cluster, write, options);
  }
}

async function decodeBody(call: Call, { fieldValidation }: WriteOptions): Promise<KubeObject> {
  const { cluster, kind } = call;
  return decode(cluster, await bodyOf(call), { kind, fieldValidation, warn: (text) => call.warn(text) });
}

async function optionalBody(call: Call): Promise<Json | undefined> {
  const body = await bodyOf(call);
  if (body.bytes.length === 0) {
    return undefined;
  }
  const contentType = mediaType(body.contentType) === '' ? 'application/json' : body.contentType;
  return parseBody(call.cluster, { ...body, contentType }, optionsBody);
}

async function applyObject(call: Call, applied: Json, options: WriteOptions): Promise<Answer> {
  const { cluster, kind, request } = call;
  const { subresource } = request;
  const write = writeOf(call, options);
  const application = {
    kind,
    applied,
    manager: options.manager,
    force: options.force,
    now: cluster.clock.now(),
    ...(subresource !== undefined && { subresource }),
  };
  assertAppliedName(applied, request);
  if (cluster.store.get(kind, request.name ?? '', request.namespace) === undefined) {
    if (subresource !== undefined) {
      throw notFound(subjectOf(write));
    }
    assertMayCreate(call);
    const sent = inspected(call, cluster.rules.apply(application), options);
    const created = { ...write, options: { ...write.options, kind: 'CreateOptions' } };
    const object = await create(cluster, created, sent, { isApplied: true });
    return answer(call, 201, object);
  }
  const object = await modify(
    cluster,
    write,
    (live) => inspected(call, cluster.rules.apply({ ...application, live }), options),
    { isApplied: true },
  );
  return answer(call, 200, object);
}

/** The name of what is applied, which nobody has looked at yet. */
function assertAppliedName(applied: Json, request: Call['request']): void {
  const name = stringAt(applied, 'metadata', 'name');
  const namespace = stringAt(applied, 'metadata', 'namespace');
  const metadata = { ...(name !== undefined && { name }), ...(namespace !== undefined && { namespace }) };
  if (name !== undefined) {
    assertNamed({ metadata }, request);
  }
}

/** To create by an apply takes the right to create as well. */
function assertMayCreate({ cluster, caller, kind, request }: Call): void {
  const { name, namespace } = request;
  const access = { verb: 'create', group: kind.group, resource: kind.plural, ...present({ name, namespace }) };
  const { allowed, reason } = cluster.authorizer.decide(caller, access);
  if (!allowed) {
    throw forbidden(caller, access, reason);
  }
}

/** The outcome of a patch is checked as a body would be. */
function inspected(call: Call, object: Json | KubeObject, { fieldValidation }: WriteOptions): KubeObject {
  const { kind, request } = call;
  const checked = readObject({
    kind,
    object: { kind: kind.kind, apiVersion: apiVersionOf(kind), ...object },
    patched: JSON.stringify(object),
    fieldValidation,
    warn: (text) => call.warn(text),
  });
  assertNamed(checked, request);
  return checked;
}

/** An update may name the uid of the object that it means. */
function replaced(write: Write, live: KubeObject, sent: KubeObject): KubeObject {
  const { uid } = sent.metadata ?? {};
  assertNamesRevision(write, sent);
  if (uid !== undefined && uid !== live.metadata?.uid) {
    const had = live.metadata?.uid ?? '';
    throw conflict(subjectOf(write), `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${had}`);
  }
  return sent;
}

function assertNamed(sent: KubeObject, { name = '', namespace }: { name?: string; namespace?: string }): void {
  const given = sent.metadata?.name ?? '';
  if (given === '') {
    throw badRequest(`the name of the object (${name} based on URL) was undeterminable: name must be provided`);
  }
  if (given !== name) {
    throw badRequest(`the name of the object (${given}) does not match the name on the URL (${name})`);
  }
  assertPlace(sent, { ...(namespace !== undefined && { namespace }) });
}

function assertPlace(sent: KubeObject, { namespace = '' }: { namespace?: string }): void {
  const given = sent.metadata?.namespace ?? '';
  if (given !== '' && given !== namespace) {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
  }
}
