import { Failure } from '../base/failure.ts';
import type { Request, Transport } from './transport.ts';

/**
 * The same cluster, to look at only: a request that would change something fails before it is sent. A client on such a
 * transport logs its steps in place of doing them, so a run ends as well as any other.
 */
export function readOnly(transport: Transport): Transport {
  return {
    ...transport,
    readOnly: true,
    send: (request) => (changesNothing(request) ? transport.send(request) : refuse(request)),
    stream: (request) => (changesNothing(request) ? transport.stream(request) : refuse(request)),
  };
}

/** Reads, rehearsals (`dryRun=All`), and questions that are sent like objects but never stored. */
function changesNothing({ method, path }: Request): boolean {
  const { pathname, searchParams } = new URL(path, 'https://cluster');
  return method === 'GET' || isRehearsal(searchParams) || (method === 'POST' && question.test(pathname));
}

/** The server stores the object if any value is not `All`, or refuses the request; either way it is not for a dry run. */
function isRehearsal(query: URLSearchParams): boolean {
  const given = query.getAll('dryRun');
  return given.length > 0 && given.every((value) => value === 'All');
}

/** SelfSubjectAccessReview, SubjectAccessReview, SelfSubjectRulesReview, TokenReview, … */
const question = /^\/apis\/(authorization|authentication)\.k8s\.io\/v\w+\/(namespaces\/[^/]+\/)?[a-z]+reviews$/;

function refuse({ method, path }: Request): Promise<never> {
  const message = `could not ${method} ${path.split('?', 1)[0] ?? path}: a dry run writes nothing; run without --dry-run`;
  return Promise.reject(new Failure('impossible', message));
}
