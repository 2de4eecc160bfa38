import { ApiError } from '../model/status.ts';

/** In which form the client wants its answer. */
export interface Representation {
  readonly as: 'object' | 'table' | 'metadata';
  readonly isYaml: boolean;
}

interface MediaRange {
  readonly type: string;
  readonly parameters: ReadonlyMap<string, string>;
}

const available =
  'application/json, application/yaml, application/json;stream=watch; tables and metadata (as=Table, as=PartialObjectMetadata) as JSON';

const forms: Readonly<Record<string, Representation['as']>> = {
  Table: 'table',
  PartialObjectMetadata: 'metadata',
  PartialObjectMetadataList: 'metadata',
};

/** The first form in `Accept` that the sandbox knows; protobuf is not among them. */
export function negotiate(accept: string | undefined): Representation {
  const ranges = parseAccept(accept ?? '');
  for (const { type, parameters } of ranges) {
    const as = parameters.get('as');
    const form = as === undefined ? 'object' : forms[as];
    if (form !== undefined && isServed(type)) {
      return { as: form, isYaml: type.endsWith('yaml') };
    }
  }
  if (ranges.length === 0) {
    return { as: 'object', isYaml: false };
  }
  throw new ApiError(406, {
    reason: 'NotAcceptable',
    message: `406: Not Acceptable\n\nAvailable representations: ${available}`,
    details: {},
  });
}

export function parseAccept(text: string): readonly MediaRange[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .map((part) => {
      const [type = '', ...rest] = part.split(';').map((piece) => piece.trim());
      const pairs = rest.map((piece) => piece.split('=')).map(([name = '', value = '']) => [name, value] as const);
      return { type: type.toLowerCase(), parameters: new Map(pairs) };
    });
}

function isServed(type: string): boolean {
  return ['application/json', 'application/yaml', 'application/*', '*/*'].includes(type);
}
