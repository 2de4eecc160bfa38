const suffixes: Readonly<Record<string, number>> = {
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  '': 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
  Ei: 2 ** 60,
};

/** The value of a quantity such as `100m` or `1Gi`: the API server rewrites its text. */
export function quantityValue(text: string): number {
  const [, number = '', suffix = ''] = /^([-+]?[0-9.]+(?:[eE][-+]?\d+)?)([A-Za-z]*)$/.exec(text) ?? [];
  return Number((Number(number) * (suffixes[suffix] ?? Number.NaN)).toPrecision(12));
}
