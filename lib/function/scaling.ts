/** Departures from the common deployment defaults. */
export interface Scaling {
  readonly minScale?: number;
  readonly maxScale?: number;
  readonly cpu?: string;
  readonly memory?: string;
  /**
   * The limit of V8's old generation, in MB. With a limit of 2 GB or more (V8's default), V8 lets the heap grow
   * fourfold before a collection; with less, by half. A limit saves memory and costs CPU when much is read at once.
   */
  readonly heapMb?: number;
  /** The limit of V8's young generation, in MB; it takes twice that. A smaller one saves memory and costs some CPU. */
  readonly youngMb?: number;
  /**
   * The number of malloc arenas for memory outside the JavaScript heap. By default each thread has its own and keeps
   * what it once allocated. A single arena holds less, but threads wait for each other and a start takes longer.
   */
  readonly mallocArenas?: number;
}

/** The deployment defaults. */
export const standardScaling: Required<Omit<Scaling, 'heapMb' | 'youngMb' | 'mallocArenas'>> = {
  minScale: 0,
  maxScale: 2,
  cpu: '20m',
  memory: '128Mi',
};
