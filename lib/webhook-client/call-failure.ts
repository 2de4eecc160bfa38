import { isRecord } from '../base/json.ts';
import type { AdmissionReview } from '../kube/model/review.ts';

/** A webhook could not be called, or did not answer with a review. The message is that of an API server. */
export class WebhookFailure extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'WebhookFailure';
  }
}

const unknownAuthority = 'tls: failed to verify certificate: x509: certificate signed by unknown authority';

const causes: Readonly<Record<string, string>> = {
  ECONNRESET: 'EOF',
  EPIPE: 'EOF',
  DEPTH_ZERO_SELF_SIGNED_CERT: unknownAuthority,
  SELF_SIGNED_CERT_IN_CHAIN: unknownAuthority,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: unknownAuthority,
  UNABLE_TO_GET_ISSUER_CERT: unknownAuthority,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: unknownAuthority,
  CERT_SIGNATURE_FAILURE: unknownAuthority,
  CERT_HAS_EXPIRED: 'tls: failed to verify certificate: x509: certificate has expired or is not yet valid',
  CERT_NOT_YET_VALID: 'tls: failed to verify certificate: x509: certificate has expired or is not yet valid',
  ERR_SSL_WRONG_VERSION_NUMBER: 'http: server gave HTTP response to HTTPS client',
};

interface ConnectionError {
  readonly code?: string;
  readonly message?: string;
  readonly address?: string;
  readonly port?: number;
  readonly hostname?: string;
  readonly host?: string;
  readonly cert?: { readonly subjectaltname?: string };
}

/** Describes a failed connection in the words of Go's HTTP client. */
export function connectionFailure(url: string, error: unknown): WebhookFailure {
  return new WebhookFailure(`Post "${url}": ${reasonOf(firstOf(error))}`, { cause: error });
}

/** If a name has several addresses, Node reports all failures; the first one is enough. */
function firstOf(error: unknown): ConnectionError {
  const single: unknown = error instanceof AggregateError ? (error.errors as unknown[])[0] : error;
  return typeof single === 'object' && single !== null ? single : { message: String(single) };
}

function reasonOf(error: ConnectionError): string {
  const { code = '', message = 'unknown error' } = error;
  switch (code) {
    case 'ECONNREFUSED':
      return `dial tcp ${error.address ?? ''}:${error.port ?? 0}: connect: connection refused`;
    case 'ENOTFOUND':
      return `dial tcp: lookup ${error.hostname ?? ''}: no such host`;
    case 'ERR_TLS_CERT_ALTNAME_INVALID':
      return `tls: failed to verify certificate: x509: ${nameMismatch(error)}`;
    default:
      return causes[code] ?? message;
  }
}

function nameMismatch({ host = '', cert }: ConnectionError): string {
  const names = (cert?.subjectaltname ?? '').split(', ').map((name) => name.replace(/^(DNS|IP Address):/, ''));
  return names.join('') === ''
    ? 'certificate is not valid for any names'
    : `certificate is valid for ${names.join(', ')}, not ${host}`;
}

const explanations: Readonly<Record<number, string>> = {
  400: 'the server rejected our request for an unknown reason',
  401: 'the server has asked for the client to provide credentials',
  404: 'the server could not find the requested resource',
  405: 'the server does not allow this method on the requested resource',
  409: 'the server reported a conflict',
  429: 'the server has received too many requests and has asked us to try again later',
  503: 'the server is currently unable to handle the request',
  504: 'the server was unable to return a response in the time allotted, but may still be processing the request',
};

/** Describes an HTTP status in the words of the API server's client; the message of a Status body is used as it is. */
export function statusFailure(status: number, contentType: string, text: string): WebhookFailure {
  const said = statusMessage(text);
  if (said !== undefined) {
    return new WebhookFailure(said);
  }
  const detail = contentType.startsWith('text/') && text !== '' ? text.trim() : 'unknown';
  const explained = explanations[status];
  if (explained !== undefined) {
    return new WebhookFailure(explained);
  }
  if (status === 403) {
    return new WebhookFailure(detail);
  }
  return new WebhookFailure(
    status >= 500
      ? `an error on the server ("${detail}") has prevented the request from succeeding`
      : `the server responded with the status code ${status} but did not return more information`,
  );
}

function statusMessage(text: string): string | undefined {
  const body = parsed(text);
  return isRecord(body) && body['kind'] === 'Status' && typeof body['message'] === 'string'
    ? body['message']
    : undefined;
}

const envelope =
  'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }';

/** Parses an answer; the caller checks whether it matches the request. */
export function decodeReview(text: string): AdmissionReview {
  const body = parsed(text);
  if (!isRecord(body)) {
    throw new WebhookFailure(
      `couldn't get version/kind; json parse error: json: cannot unmarshal ${typeOf(body)} into Go value of type ${envelope}`,
    );
  }
  const { apiVersion = '', kind = '' } = body;
  if (kind !== '' && kind !== 'AdmissionReview') {
    throw new WebhookFailure(
      `no kind "${String(kind)}" is registered for version "${String(apiVersion)}" in scheme "pkg/runtime/scheme.go:111"`,
    );
  }
  if (apiVersion === 'admission.k8s.io/v1beta1') {
    throw new WebhookFailure('converting (v1beta1.AdmissionReview) to (v1.AdmissionReview): unknown conversion');
  }
  checkResponse(body['response']);
  return { ...body, apiVersion: String(apiVersion), kind };
}

const fieldTypes: Readonly<Record<string, string>> = {
  uid: 'string',
  allowed: 'boolean',
  patch: 'string',
  patchType: 'string',
  status: 'object',
  warnings: 'array',
};

function checkResponse(response: unknown): void {
  if (!isRecord(response)) {
    return;
  }
  for (const [field, type] of Object.entries(fieldTypes)) {
    const found = typeOf(response[field]);
    if (found !== 'undefined' && found !== 'null' && found !== type) {
      throw new WebhookFailure(
        `json: cannot unmarshal ${found} into Go struct field AdmissionResponse.response.${field} of type ${type}`,
      );
    }
  }
  checkBase64(response['patch']);
}

/** Go decodes bytes together with the rest, so invalid base64 makes the whole answer unreadable. */
function checkBase64(text: unknown): void {
  const bad = typeof text === 'string' ? /[^A-Za-z0-9+/=]/.exec(text) : null;
  if (bad !== null) {
    throw new WebhookFailure(`illegal base64 data at input byte ${bad.index}`);
  }
}

function typeOf(value: unknown): string {
  if (value === null) {
    return 'null';
  }
  return Array.isArray(value) ? 'array' : typeof value;
}

/** Text that is not JSON counts as a string, because the API server reads it as YAML. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
