import type { KubeObject, Status } from './wire.ts';

/** The sender of a request, as a webhook sees it. */
export interface UserInfo {
  readonly username?: string;
  readonly uid?: string;
  readonly groups?: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

export interface GroupVersionKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

export interface GroupVersionResource {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
}

export type Operation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT';

/** The API server's request to a webhook, with the fields of admission.k8s.io/v1. */
export interface AdmissionRequest {
  readonly uid: string;
  /** The kind in the version that the webhook asked for; `requestKind` is what the client sent. */
  readonly kind: GroupVersionKind;
  readonly resource: GroupVersionResource;
  readonly subResource?: string;
  readonly requestKind?: GroupVersionKind;
  readonly requestResource?: GroupVersionResource;
  readonly requestSubResource?: string;
  /** Absent for a create with `generateName`. */
  readonly name?: string;
  readonly namespace?: string;
  readonly operation: Operation;
  readonly userInfo: UserInfo;
  readonly object: KubeObject | null;
  readonly oldObject: KubeObject | null;
  readonly dryRun?: boolean;
  readonly options: KubeObject | null;
}

export interface AdmissionResponse {
  readonly uid: string;
  readonly allowed: boolean;
  readonly status?: Partial<Status>;
  /** A JSON patch: base64 of its JSON text. */
  readonly patch?: string;
  readonly patchType?: string;
  readonly warnings?: readonly string[];
  readonly auditAnnotations?: Readonly<Record<string, string>>;
}

export interface AdmissionReview {
  readonly apiVersion: string;
  readonly kind: string;
  readonly request?: AdmissionRequest;
  readonly response?: AdmissionResponse;
}

/** Wraps a request in the envelope that webhooks expect. */
export function reviewOf(request: AdmissionRequest): AdmissionReview {
  return { kind: 'AdmissionReview', apiVersion: 'admission.k8s.io/v1', request };
}
