import { createWebhookClient } from '../webhook-client/call.ts';
import { createWebhookAdmission } from './admission/admission.ts';
import { admitPod } from './admission/admission-pods.ts';
import type { Admission } from './model/attributes.ts';
import type { Cluster } from './write/cluster.ts';
import type { Clock, InternalApi, KindRef } from './model/internal.ts';
import { createInternalApi } from './write/internal-api.ts';
import { builtInKinds, createKinds, type Kind, type Kinds } from './model/kinds.ts';
import { isLeftOut } from './discovery/left-out.ts';
import { createMatchConditions } from './cel/match-condition.ts';
import { assertNamespaceAccepts } from './admission/namespace-lifecycle.ts';
import { createObjectRules } from './write/object-rules.ts';
import type { Definitions } from './discovery/openapi.ts';
import { allowAll, createAuthorizer } from './access/rbac.ts';
import { createSchemas } from './schema/schema.ts';
import { readDefinitionTable, readKindTable } from './schema/tables.ts';
import { createStore, type StoreOptions } from './store/store.ts';
import { createTokens } from './access/tokens.ts';

export interface AssembleOptions extends StoreOptions {
  readonly clock: Clock;
  readonly rbac: boolean;
}

/** A cluster without listeners and controllers. */
export interface Assembled {
  readonly cluster: Cluster;
  readonly api: InternalApi;
  readonly definitions: Definitions;
  /** Ends open connections to webhooks. */
  close(): void;
}

const serviceAccounts: KindRef = { group: '', plural: 'serviceaccounts' };

/** Puts the parts together that every request works on. */
export function assemble({ clock, rbac, ...storeOptions }: AssembleOptions): Assembled {
  const definitions = readDefinitionTable();
  const schemas = createSchemas(definitions);
  const kinds = createKinds(builtInKinds(readKindTable(), schemas).filter((kind) => !isLeftOut(kind)));
  const store = createStore(storeOptions);
  const api = createInternalApi({ kinds, store, clock }, () => cluster);
  const rules = createObjectRules();
  const client = createWebhookClient();
  const holds = createMatchConditions();
  const webhooks = createWebhookAdmission({
    api,
    client,
    complete: (kind, object) => rules.complete(kind, object),
    evaluate: (expression, { object, oldObject, request }) => holds(expression, { object, oldObject, request }),
    equivalents: (kind) => versionsOf(kinds, kind),
  });
  const authorizer = rbac ? createAuthorizer(api) : allowAll;
  const cluster: Cluster = {
    kinds,
    store,
    schemas,
    clock,
    rules,
    tokens: createTokens({
      now: () => clock.now(),
      accountUid: (namespace, name) => api.get(serviceAccounts, name, namespace)?.metadata?.uid,
    }),
    authorizer,
    admission: withBuiltIn(api, webhooks),
  };
  return { cluster, api, definitions, close: () => client.close() };
}

function versionsOf(kinds: Kinds, { group, plural }: Kind): readonly Kind[] {
  return kinds.all().filter((other) => other.group === group && other.plural === plural);
}

/** Webhooks come after what the API server decides by itself. */
function withBuiltIn(api: InternalApi, webhooks: Admission): Admission {
  return {
    mutate(attributes) {
      assertNamespaceAccepts(attributes, api);
      const object = admitPod(attributes, api);
      return webhooks.mutate(object === undefined ? attributes : { ...attributes, object });
    },
    validate: (attributes) => webhooks.validate(attributes),
  };
}
