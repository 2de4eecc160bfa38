/** Departures from the common deployment defaults. */
export interface Scaling {
  readonly minScale?: number;
  readonly maxScale?: number;
  readonly cpu?: string;
  readonly memory?: string;
  /**
   * Megabytes that old objects may take. From 2 GB on, as V8 would allow itself, it lets the heap grow fourfold before it
   * looks for garbage; below, by half as much again: less memory, for more CPU where much is read at once.
   */
  readonly heapMb?: number;
  /** Megabytes that young objects may take, twice. Half as many spare their double, for some CPU. */
  readonly youngMb?: number;
  /**
   * Areas of memory that the threads of the process share for what is no object of JavaScript. By default each thread
   * has its own and keeps what it once took; one for all holds less, but they wait for each other: a start takes longer.
   */
  readonly mallocArenas?: number;
}

/** The deployment defaults of a function that declares nothing else. */
export const standardScaling: Required<Omit<Scaling, 'heapMb' | 'youngMb' | 'mallocArenas'>> = {
  minScale: 0,
  maxScale: 2,
  cpu: '20m',
  memory: '128Mi',
};
