import { hash } from 'node:crypto';
import type { Context } from '../../../lib/function/definition.ts';
import { asFailure } from '../../../lib/base/failure.ts';
import { pods, type Pod } from '../../../lib/kube/model/resource.ts';
import { WebhookFailure } from '../../../lib/webhook-client/call-failure.ts';
import { createWebhookClient, type WebhookTarget } from '../../../lib/webhook-client/call.ts';
import { reviewOf } from '../../../lib/kube/model/review.ts';
import type { Config } from '../config.ts';
import { proxyOf, type Proxy } from '../drift/proxy.ts';
import type { Injector } from '../mesh/webhooks.ts';
import { answerOf, type Answer } from './answer.ts';
import { podOf, requestOf, type Question } from './question.ts';
import { targetOf } from './target.ts';

/** What a pod made now would carry. */
export type Expectation = { readonly proxy: Proxy | undefined } | Exclude<Answer, { readonly pod: Pod }>;

/** Asks injectors, each question once. It lives for one pass. */
export interface Prober {
  readonly ask: (injectors: readonly Injector[], question: Question) => Promise<Expectation>;
  readonly close: () => void;
}

export interface ProberOptions {
  readonly config: Config;
  /** Whether the pass has no time left for another question. */
  readonly isOver: () => boolean;
  readonly onProbe: (result: ProbeResult, seconds: number) => void;
}

export type ProbeResult = 'injected' | 'declined' | 'denied' | 'failed';

/**
 * After so many failures in a row an injector is left alone for the rest of the pass. Those at the same time are one: they
 * share a connection, and an istiod that is replaced cuts it once.
 */
const patience = 3;

/** Less than a probe may take: what cannot be reached shows sooner than what is slow. */
const mostConnectMs = 5_000;

export function createProber(
  { kube, signal, now }: Pick<Context<Config>, 'kube' | 'signal' | 'now'>,
  { config, isOver, onProbe }: ProberOptions,
): Prober {
  const client = createWebhookClient({ connectMs: Math.min(mostConnectMs, config.PROBE_TIMEOUT) });
  const known = new Map<string, Promise<Expectation>>();
  const failures = new Map<string, number>();

  async function callInjector(injector: Injector, pod: Pod): Promise<Answer> {
    const reachable = targetOf(injector);
    if ('problem' in reachable) {
      return { failed: reachable.problem };
    }
    const { target } = reachable;
    const failed = failures.get(target.url) ?? 0;
    if (failed >= patience) {
      return { failed: `not asked: the injector failed ${failed} times in a row` };
    }
    const timeoutMs = Math.min(injector.timeoutSeconds * 1000, config.PROBE_TIMEOUT);
    return callTarget(target, pod, timeoutMs);
  }

  async function callTarget(target: WebhookTarget, pod: Pod, timeoutMs: number): Promise<Answer> {
    const uid = crypto.randomUUID();
    const failed = failures.get(target.url) ?? 0;
    try {
      const review = await client.call(target, reviewOf(requestOf(pod, uid)), { timeoutMs, signal });
      failures.delete(target.url);
      return answerOf(pod, uid, review);
    } catch (error) {
      if (!(error instanceof WebhookFailure)) {
        throw error;
      }
      if ((failures.get(target.url) ?? 0) === failed) {
        failures.set(target.url, failed + 1);
      }
      return { failed: error.message };
    }
  }

  /** Each webhook sees what the one before it has made, as in the API server. */
  async function callAll(injectors: readonly Injector[], question: Question): Promise<Answer> {
    let answer: Answer = { pod: podOf(question) };
    for (const injector of injectors) {
      answer = await callInjector(injector, answer.pod);
      if (!('pod' in answer)) {
        return answer;
      }
    }
    return answer;
  }

  async function rehearse(question: Question): Promise<Answer> {
    try {
      return { pod: await kube.rehearse(pods, podOf(question)) };
    } catch (error) {
      const { kind, message } = asFailure(error);
      return kind === 'impossible' ? { denied: message } : { failed: message };
    }
  }

  async function expect(injectors: readonly Injector[], question: Question): Promise<Expectation> {
    if (isOver()) {
      return { failed: 'not asked: the pass ran out of time' };
    }
    const started = now().getTime();
    const answer = await (config.PROBE_MODE === 'dryRun' ? rehearse(question) : callAll(injectors, question));
    const expectation = 'pod' in answer ? { proxy: proxyOf(answer.pod, config.DRIFT_CHECKS) } : answer;
    onProbe(resultOf(expectation), (now().getTime() - started) / 1000);
    return expectation;
  }

  return {
    ask: (injectors, question) => {
      const key = questionKey(injectors, question, config);
      const answer = known.get(key) ?? expect(injectors, question);
      known.set(key, answer);
      return answer;
    },
    close: () => client.close(),
  };
}

/** Where the owner's name shows in what is compared, workloads with the same template need a question each. */
function questionKey(
  injectors: readonly Injector[],
  { owner, labels, ...question }: Question,
  { DRIFT_CHECKS }: Config,
): string {
  const named = DRIFT_CHECKS.includes('proxyConfig') || DRIFT_CHECKS.includes('args');
  const {
    'pod-template-hash': _hash,
    'controller-revision-hash': _revision,
    'pod-template-generation': _generation,
    ...kept
  } = labels;
  const clients = injectors.map((injector) => injector.clientConfig);
  // The API server writes fields in one order, so equal templates are equal texts.
  const text = JSON.stringify([clients, question, kept, named ? [owner.kind, owner.name] : owner.kind]);
  return hash('sha256', text, 'base64');
}

function resultOf(expectation: Expectation): ProbeResult {
  if ('proxy' in expectation) {
    return expectation.proxy === undefined ? 'declined' : 'injected';
  }
  return 'denied' in expectation ? 'denied' : 'failed';
}
