import { Failure } from '../../lib/base/failure.ts';

/** Settings or a state that only a person can put right: until then no event can be served. */
export class Unusable extends Failure {
  constructor(message: string, cause?: unknown) {
    super('unavailable', message, { cause });
    this.name = 'Unusable';
  }
}
