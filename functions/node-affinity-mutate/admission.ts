import type { Admission, Allowed } from '../../lib/function/admission.ts';
import type { Context } from '../../lib/function/definition.ts';
import type { Site } from '../../lib/function/names.ts';
import { memoryKey } from '../../lib/function/memory.ts';
import type { AdmissionRequest } from '../../lib/kube/model/review.ts';
import type { Config } from './config.ts';
import { decide, type Reason } from './decide.ts';
import { countDecision, countError } from './measures.ts';
import { webhookName } from './names.ts';
import { gateOf, matchConditions, namespaceSelectorOf } from './render-webhook.ts';
import { knowledgeOf } from './snapshot.ts';

/** When the API server asks, and what it is told. */
export function admissionOf(config: Config, { namespace }: Site): Admission<Config> {
  return {
    path: '/mutate--v1-pod',
    aliases: ['/mutate'],
    type: 'mutating',
    onError: 'allow',
    timeoutSeconds: config.WEBHOOK_TIMEOUT_SECONDS,
    webhooks: [
      {
        name: webhookName,
        configuration: config.WEBHOOK_CONFIG_NAME,
        rules: [
          { operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'], scope: 'Namespaced' },
        ],
        failurePolicy: config.FAILURE_POLICY,
        namespaceSelector: namespaceSelectorOf(gateOf(undefined, config), [...config.OMIT_NAMESPACES, namespace]),
        matchConditions: matchConditions(undefined, config, []),
        matchPolicy: 'Exact',
        reinvocationPolicy: config.REINVOCATION_POLICY,
      },
    ],
    decide: admit,
  };
}

/** Classes of errors whose stack was logged: at the rate of pods, each once is enough. */
const reported = memoryKey(() => new Set<string>());

/** Whatever happens here, the pod goes its way. */
function admit(request: AdmissionRequest, context: Context<Config>): Allowed {
  const dryRun = request.dryRun === true;
  try {
    const decision = decide(request, knowledgeOf(context));
    countDecision(context, decision, dryRun);
    const { reason, rules, patch } = decision;
    if (patch.length > 0) {
      const { uid, namespace, name } = request;
      const did = rules.length === 0 ? `annotated (${reason})` : `gave it the preferences of rule ${rules.join(', ')}`;
      context.log.debug({ uid, kind: 'Pod', namespace, name, did }, 'admitted');
    }
    return allowed(context.config, { patch, decision: toldOf(reason), rule: rules.join(',') });
  } catch (error) {
    const name = error instanceof Error ? error.name : 'Error';
    countError(context, name, dryRun);
    if (!context.memory(reported).has(name)) {
      context.memory(reported).add(name);
      context.log.error({ err: error, uid: request.uid }, 'could not decide; the pod is left as it is');
    }
    return allowed(context.config, { patch: [], decision: 'error', error: name });
  }
}

/** The API server complains in its log about a note that it has already, which is what a second round would bring. */
function toldOf(reason: Reason): string {
  return reason === 'already-present' ? '' : reason;
}

interface Told {
  readonly patch: NonNullable<Allowed['patch']>;
  readonly decision: string;
  readonly rule?: string;
  readonly error?: string;
}

/** With notes for the audit log of the API server, if they are wanted; one without a value is left out. */
function allowed({ EXPLAIN }: Config, { patch, decision, rule = '', error = '' }: Told): Allowed {
  if (EXPLAIN === 'off' || EXPLAIN === 'annotation') {
    return { allow: true, patch };
  }
  const auditAnnotations: Record<string, string> = {};
  if (decision !== '') {
    auditAnnotations['decision'] = decision;
  }
  if (rule !== '') {
    auditAnnotations['rule'] = rule;
  }
  if (error !== '') {
    auditAnnotations['error'] = error;
  }
  return { allow: true, patch, auditAnnotations };
}
