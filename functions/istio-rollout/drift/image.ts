/** The parts of `[registry[:port]/]path[:tag][@digest]`. */
export interface Image {
  readonly repository: string;
  readonly tag?: string;
  readonly digest?: string;
}

/** A colon separates the tag only after the last slash. Without tag and digest the tag is `latest`. */
export function parseImage(reference: string): Image {
  const [name = '', digest] = reference.split('@', 2);
  const colon = name.indexOf(':', name.lastIndexOf('/') + 1);
  const repository = colon < 0 ? name : name.slice(0, colon);
  const tag = colon < 0 ? undefined : name.slice(colon + 1);
  if (digest === undefined) {
    return { repository, tag: tag ?? 'latest' };
  }
  return { repository, ...(tag === undefined ? {} : { tag }), digest };
}

/** Whether two references mean the same proxy. Without `compareHub` a mirror of the registry makes no difference. */
export function isSameImage(a: string, b: string, compareHub: boolean): boolean {
  const [left, right] = [parseImage(a), parseImage(b)];
  return sameRepository(left, right, compareHub) && sameVersion(left, right);
}

function sameRepository(a: Image, b: Image, compareHub: boolean): boolean {
  return compareHub ? fullName(a) === fullName(b) : lastSegment(a) === lastSegment(b);
}

function sameVersion(a: Image, b: Image): boolean {
  if (a.digest !== undefined && b.digest !== undefined) {
    return a.digest === b.digest;
  }
  return a.tag !== undefined && a.tag === b.tag;
}

function lastSegment({ repository }: Image): string {
  return repository.slice(repository.lastIndexOf('/') + 1);
}

/** Docker Hub is what a name without a registry means; `library` is its namespace for a bare name. */
function fullName({ repository }: Image): string {
  const name = repository.replace(/^index\.docker\.io\//, 'docker.io/');
  const [first = ''] = name.split('/');
  const hasRegistry = name.includes('/') && (/[.:]/.test(first) || first === 'localhost');
  const path = hasRegistry ? name : `docker.io/${name}`;
  return /^docker\.io\/[^/]+$/.test(path) ? path.replace('docker.io/', 'docker.io/library/') : path;
}
