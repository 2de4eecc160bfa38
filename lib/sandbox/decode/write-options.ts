import type { KubeObject } from '../../kube/model/wire.ts';
import type { PropagationPolicy, RemoveOptions } from '../model/internal.ts';
import { isTrue } from '../http/request.ts';
import { badRequest, type Cause, invalid } from '../model/status.ts';
import { isRecord } from '../../base/json.ts';
import { type Json, objectAt } from '../schema/value.ts';

export type FieldValidation = 'Ignore' | 'Warn' | 'Strict';

/** What the query of a create, update or patch asks for. */
export interface WriteOptions {
  readonly dryRun: boolean;
  readonly manager: string;
  readonly fieldValidation: FieldValidation;
  readonly force: boolean;
  /** As webhooks see them; a patch is an update to them. */
  readonly asObject: KubeObject;
}

type OptionsKind = 'CreateOptions' | 'UpdateOptions' | 'PatchOptions' | 'DeleteOptions';

const longestManager = 128;

/** Who writes when no `fieldManager` says so: the user agent up to its first slash. */
export function managerOf(userAgent: string): string {
  return userAgent.split('/', 1).join('').slice(0, longestManager);
}

export function parseWriteOptions(
  query: URLSearchParams,
  kind: Exclude<OptionsKind, 'DeleteOptions'>,
  { isApply = false, userAgent = '' } = {},
): WriteOptions {
  const dryRun = query.getAll('dryRun').filter((value) => value !== '');
  const manager = query.get('fieldManager') ?? '';
  const validation = query.get('fieldValidation') ?? '';
  const force = query.has('force') ? isTrue(query.get('force')) : undefined;
  assertNone(kind, [
    ...dryRunCauses(dryRun),
    ...managerCauses(manager, isApply),
    ...validationCauses(validation),
    ...forceCauses(force, isApply),
  ]);
  const options = { dryRun, fieldManager: manager, fieldValidation: validation };
  return {
    dryRun: dryRun.length > 0,
    manager: manager === '' ? managerOf(userAgent) : manager,
    fieldValidation: isFieldValidation(validation) ? validation : 'Warn',
    force: force === true,
    asObject: optionsObject(kind === 'PatchOptions' ? 'UpdateOptions' : kind, withoutEmpty(options)),
  };
}

function withoutEmpty(fields: Json): Json {
  const entries = Object.entries(fields).filter(([, value]) => value !== undefined && value !== '' && !isEmpty(value));
  return Object.fromEntries(entries);
}

function isEmpty(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}

export interface DeleteRequest extends RemoveOptions {
  readonly dryRun: boolean;
  readonly asObject: KubeObject;
}

/** Options of a delete may stand in the body or in the query, not in both. */
export function parseDeleteOptions(query: URLSearchParams, body: unknown): DeleteRequest {
  const sent = body === undefined ? fromQuery(query) : asOptions(body);
  const { dryRun = [], gracePeriodSeconds, propagationPolicy, orphanDependents } = sent;
  const { uid, resourceVersion } = objectAt(sent, 'preconditions');
  const asked = Array.isArray(dryRun) ? dryRun.map(String) : [];
  assertNone('DeleteOptions', [
    ...dryRunCauses(asked),
    ...propagationCauses(propagationPolicy, orphanDependents),
    ...graceCauses(gracePeriodSeconds),
  ]);
  const policy = policyFrom(propagationPolicy, orphanDependents);
  return {
    dryRun: asked.length > 0,
    asObject: optionsObject('DeleteOptions', sent),
    ...(typeof gracePeriodSeconds === 'number' && { gracePeriodSeconds }),
    ...(policy !== undefined && { propagationPolicy: policy }),
    ...(typeof uid === 'string' && { uid }),
    ...(typeof resourceVersion === 'string' && { resourceVersion }),
  };
}

function fromQuery(query: URLSearchParams): Json {
  const grace = query.get('gracePeriodSeconds');
  if (grace !== null && !/^-?\d{1,15}$/.test(grace)) {
    throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(grace)}: invalid syntax`);
  }
  const policy = query.get('propagationPolicy');
  const orphan = query.get('orphanDependents');
  const dryRun = query.getAll('dryRun').filter((value) => value !== '');
  return {
    ...(grace !== null && { gracePeriodSeconds: Number(grace) }),
    ...(policy !== null && { propagationPolicy: policy }),
    ...(orphan !== null && { orphanDependents: orphan === 'true' }),
    ...(dryRun.length > 0 && { dryRun }),
  };
}

function asOptions(body: unknown): Json {
  if (!isRecord(body)) {
    throw badRequest("couldn't get version/kind; json parse error: the options of a delete must be an object");
  }
  const { kind: _kind, apiVersion: _apiVersion, ...options } = body;
  return options;
}

function optionsObject(kind: OptionsKind, fields: Json): KubeObject {
  return { kind, apiVersion: 'meta.k8s.io/v1', ...fields };
}

function isFieldValidation(text: string): text is FieldValidation {
  return text === 'Ignore' || text === 'Warn' || text === 'Strict';
}

function policyFrom(policy: unknown, orphanDependents: unknown): PropagationPolicy | undefined {
  if (policy === 'Background' || policy === 'Foreground' || policy === 'Orphan') {
    return policy;
  }
  if (typeof orphanDependents !== 'boolean') {
    return undefined;
  }
  return orphanDependents ? 'Orphan' : 'Background';
}

function assertNone(kind: OptionsKind, causes: readonly Cause[]): void {
  if (causes.length > 0) {
    throw invalid({ group: 'meta.k8s.io', kind }, '', causes);
  }
}

function dryRunCauses(values: readonly string[]): Cause[] {
  if (values.every((value) => value === 'All')) {
    return [];
  }
  const message = `Unsupported value: ${JSON.stringify(values)}: supported values: "All"`;
  return [{ reason: 'FieldValueNotSupported', message, field: 'dryRun' }];
}

function validationCauses(value: string): Cause[] {
  if (value === '' || isFieldValidation(value)) {
    return [];
  }
  const message = `Unsupported value: ${JSON.stringify(value)}: supported values: "", "Ignore", "Strict", "Warn"`;
  return [{ reason: 'FieldValueNotSupported', message, field: 'fieldValidation' }];
}

function managerCauses(manager: string, isApply: boolean): Cause[] {
  const field = 'fieldManager';
  if (manager === '') {
    const message = 'Required value: is required for apply patch';
    return isApply ? [{ reason: 'FieldValueRequired', message, field }] : [];
  }
  if (manager.length > longestManager) {
    return [{ reason: 'FieldValueTooLong', message: `Too long: may not be more than ${longestManager} bytes`, field }];
  }
  const position = manager.search(/\p{C}/u);
  if (position < 0) {
    return [];
  }
  const code = (manager.codePointAt(position) ?? 0).toString(16).toUpperCase().padStart(4, '0');
  const message = `Invalid value: ${JSON.stringify(manager)}: invalid character U+${code} (at position ${position})`;
  return [{ reason: 'FieldValueInvalid', message, field }];
}

function forceCauses(force: boolean | undefined, isApply: boolean): Cause[] {
  if (force === undefined || isApply) {
    return [];
  }
  const message = 'Forbidden: may not be specified for non-apply patch';
  return [{ reason: 'FieldValueForbidden', message, field: 'force' }];
}

function propagationCauses(policy: unknown, orphanDependents: unknown): Cause[] {
  const field = 'propagationPolicy';
  if (policy === undefined || policy === null) {
    return [];
  }
  if (orphanDependents !== undefined && orphanDependents !== null) {
    const message = 'Invalid value: orphanDependents and deletionPropagation cannot be both set';
    return [{ reason: 'FieldValueInvalid', message, field }];
  }
  if (policyFrom(policy, undefined) !== undefined) {
    return [];
  }
  const supported = '"Foreground", "Background", "Orphan", "nil"';
  const message = `Unsupported value: ${JSON.stringify(policy)}: supported values: ${supported}`;
  return [{ reason: 'FieldValueNotSupported', message, field }];
}

function graceCauses(seconds: unknown): Cause[] {
  const isSound = seconds === undefined || seconds === null || Number.isSafeInteger(seconds);
  const message = `Invalid value: ${JSON.stringify(seconds)}: must be an integer`;
  return isSound ? [] : [{ reason: 'FieldValueInvalid', message, field: 'gracePeriodSeconds' }];
}
