import { formatSelector, requirements } from '../../kube/model/selector.ts';
import type { KubeObject } from '../../kube/model/wire.ts';
import { bodyOf, type Call, userAgentOf, writeOf } from './call.ts';
import type { Answer } from '../http/respond.ts';
import { parseBody } from '../decode/decode.ts';
import type { Kind, ScalePaths } from '../model/kinds.ts';
import { modify } from '../write/modify.ts';
import { isApply, parsePatch } from '../patch/patch.ts';
import { present } from '../model/present.ts';
import { badRequest, type Cause, conflict, invalid, notServed } from '../model/status.ts';
import { isRecord } from '../../base/json.ts';
import { at, type Json, objectAt, stringAt } from '../schema/value.ts';
import { liveObject, subjectOf, type View, type Write } from '../write/write.ts';
import { parseWriteOptions } from '../decode/write-options.ts';

const builtInPaths: ScalePaths = {
  specReplicasPath: '.spec.replicas',
  statusReplicasPath: '.status.replicas',
  labelSelectorPath: '.spec.selector',
};

const scaleBody = { kind: 'Scale', definition: 'io.k8s.api.autoscaling.v1.Scale' };

/** Reads or changes the number of replicas of whatever has one. */
export async function serveScale(call: Call): Promise<Answer> {
  const { cluster, kind, request } = call;
  const view = scaleView(kind);
  if (request.verb === 'get') {
    const live = liveObject(cluster, { kind, ...request });
    return { code: 200, text: JSON.stringify(view.show(live.object)) };
  }
  const change = request.verb === 'update' ? await replacement(call) : await patch(call);
  const options = parseWriteOptions(call.query, request.verb === 'update' ? 'UpdateOptions' : 'PatchOptions', {
    userAgent: userAgentOf(call),
  });
  const write: Write = { ...writeOf(call, options), view };
  const object = await modify(cluster, write, (live) => rescaled(write, view, live, change));
  return { code: 200, text: JSON.stringify(view.show(object)) };
}

/** How an object looks as a Scale, and what a Scale changes about it. */
function scaleView(kind: Kind): View {
  const paths = kind.scale ?? builtInPaths;
  return {
    show: (object) => scaleOf(object, paths),
    put: (object, scale) => withValue(object, paths.specReplicasPath, numberAt(scale, 'spec', 'replicas') ?? 0),
  };
}

type ScaleChange = (scale: KubeObject) => Json;

async function replacement(call: Call): Promise<ScaleChange> {
  const sent = await parseBody(call.cluster, await bodyOf(call), scaleBody);
  return () => sent;
}

async function patch(call: Call): Promise<ScaleChange> {
  const body = await bodyOf(call);
  if (isApply(body.contentType)) {
    throw notServed('server-side apply of a Scale');
  }
  const parsed = await parsePatch(call.kind, body);
  if (parsed.type === 'apply') {
    throw notServed('server-side apply of a Scale');
  }
  return parsed.change;
}

function rescaled(write: Write, view: View, live: KubeObject, change: ScaleChange): KubeObject {
  const next = change(view.show(live));
  const name = write.name ?? '';
  assertSame(write, live, next);
  assertReplicas(next, name);
  const resourceVersion = stringAt(next, 'metadata', 'resourceVersion');
  const scaled = view.put(live, next);
  return resourceVersion === undefined ? scaled : { ...scaled, metadata: { ...scaled.metadata, resourceVersion } };
}

function assertSame(write: Write, live: KubeObject, scale: Json): void {
  const { name: urlName = '' } = write;
  const { name = urlName, uid } = objectAt(scale, 'metadata');
  if (name !== urlName) {
    throw badRequest(`the name of the object (${String(name)}) does not match the name on the URL (${urlName})`);
  }
  if (typeof uid === 'string' && uid !== live.metadata?.uid) {
    throw conflict(subjectOf(write), `Precondition failed: UID in precondition: ${uid}`);
  }
}

function assertReplicas(scale: Json, name: string): void {
  const replicas = at(scale, 'spec', 'replicas') ?? 0;
  const field = 'spec.replicas';
  if (typeof replicas !== 'number' || !Number.isInteger(replicas)) {
    throw badRequest(`Scale in version "v1" cannot be handled as a Scale: ${field} must be an integer`);
  }
  if (replicas < 0) {
    const message = `Invalid value: ${replicas}: must be greater than or equal to 0`;
    const causes: Cause[] = [{ reason: 'FieldValueInvalid', message, field }];
    throw invalid({ group: 'autoscaling', kind: 'Scale' }, name, causes);
  }
}

function scaleOf(object: KubeObject, paths: ScalePaths): KubeObject {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata ?? {};
  const selector = paths.labelSelectorPath === undefined ? undefined : at(object, ...steps(paths.labelSelectorPath));
  const replicas = numberAt(object, ...steps(paths.specReplicasPath));
  return {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: present({ name, namespace, uid, resourceVersion, creationTimestamp }),
    ...{
      spec: replicas === undefined || replicas === 0 ? {} : { replicas },
      status: {
        replicas: numberAt(object, ...steps(paths.statusReplicasPath)) ?? 0,
        ...(selector !== undefined && { selector: selectorText(selector) }),
      },
    },
  };
}

function selectorText(selector: unknown): string {
  if (typeof selector === 'string') {
    return selector;
  }
  return isRecord(selector) ? formatSelector(requirements(selector)) : '';
}

function numberAt(object: unknown, ...path: readonly string[]): number | undefined {
  const value = at(object, ...path);
  return typeof value === 'number' ? value : undefined;
}

/** `.spec.replicas` → `spec`, `replicas`. */
function steps(path: string): readonly string[] {
  return path.split('.').filter((step) => step !== '');
}

function withValue(object: KubeObject, path: string, value: unknown): KubeObject {
  return assigned(object, steps(path), value);
}

function assigned(object: Json | KubeObject, [first = '', ...rest]: readonly string[], value: unknown): Json {
  const inner = rest.length === 0 ? value : assigned(objectAt(object, first), rest, value);
  return { ...object, [first]: inner };
}
