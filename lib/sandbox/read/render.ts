import type { KubeObject } from '../../kube/model/wire.ts';
import { inVersion, isStoredAs } from '../model/convert.ts';
import { apiVersionOf, type Kind } from '../model/kinds.ts';
import type { Page } from './list.ts';
import type { Representation } from '../http/negotiate.ts';
import { body, bodyOf, type Stored } from '../store/stored.ts';
import { type IncludedObject, tableOf } from './table.ts';

/** How to write answers about one kind for one client. */
export interface Rendering {
  readonly kind: Kind;
  readonly as: Representation['as'];
  /** What a table's rows carry of their object. */
  readonly include: IncludedObject;
  /** For ages in tables. */
  readonly now: Date;
}

const metadataHead = '"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1"';

export function renderObject(rendering: Rendering, object: KubeObject): string {
  return renderText(rendering, object, () => bodyOf(object));
}

/** The same for a stored object, whose JSON is kept. */
export function renderStored(rendering: Rendering, stored: Stored): string {
  const { kind } = rendering;
  return renderText(rendering, inVersion(kind, stored.object), () => bodyIn(kind, stored));
}

function bodyIn(kind: Kind, stored: Stored): string {
  return isStoredAs(kind, stored.object) ? body(stored) : bodyOf(inVersion(kind, stored.object));
}

export function renderPage(rendering: Rendering, page: Page): string {
  const { kind, as, include, now } = rendering;
  const metadata = {
    resourceVersion: String(page.revision),
    ...(page.continueAt !== undefined && { continue: page.continueAt }),
    ...(page.remaining !== undefined && { remainingItemCount: page.remaining }),
  };
  switch (as) {
    case 'table':
      return JSON.stringify(tableOf({ kind, objects: objectsOf(kind, page), metadata, include, now }));
    case 'metadata': {
      const items = page.items.map(({ object }) => metadataOnly(object)).join(',');
      return listText('PartialObjectMetadataList', 'meta.k8s.io/v1', metadata, items);
    }
    case 'object': {
      const items = page.items.map((stored) => itemText(kind, stored)).join(',');
      return listText(kind.listKind, apiVersionOf(kind), metadata, items);
    }
  }
}

function renderText(rendering: Rendering, object: KubeObject, text: () => string): string {
  const { kind, as, include, now } = rendering;
  switch (as) {
    case 'table': {
      const resourceVersion = object.metadata?.resourceVersion ?? '';
      return JSON.stringify(tableOf({ kind, objects: [object], metadata: { resourceVersion }, include, now }));
    }
    case 'metadata':
      return metadataOnly(object);
    case 'object':
      return `{${head(kind)},${text()}`;
  }
}

function head(kind: Kind): string {
  return `"kind":${JSON.stringify(kind.kind)},"apiVersion":${JSON.stringify(apiVersionOf(kind))}`;
}

/** Items of built-in lists do not repeat what the list already says; custom ones do. */
function itemText(kind: Kind, stored: Stored): string {
  return kind.isCustom ? `{${head(kind)},${body(stored)}` : `{${bodyIn(kind, stored)}`;
}

function metadataOnly({ metadata }: KubeObject): string {
  return `{${metadataHead},"metadata":${JSON.stringify(metadata)}}`;
}

function listText(kind: string, apiVersion: string, metadata: object, items: string): string {
  const start = `{"kind":${JSON.stringify(kind)},"apiVersion":${JSON.stringify(apiVersion)}`;
  return `${start},"metadata":${JSON.stringify(metadata)},"items":[${items}]}`;
}

function objectsOf(kind: Kind, { items }: Page): readonly KubeObject[] {
  return items.map(({ object }) => inVersion(kind, object));
}
