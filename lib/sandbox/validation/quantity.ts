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

/** The number that a quantity stands for: `500m` → 0.5; good enough to compare two. */
export function quantityValue(quantity: unknown): number {
  const [, number = '', suffix = ''] = /^([+-]?[0-9.]+)([A-Za-z]*)$/.exec(String(quantity)) ?? [];
  const factor = suffixes[suffix];
  return factor === undefined ? Number(quantity) : Number(number) * factor;
}
