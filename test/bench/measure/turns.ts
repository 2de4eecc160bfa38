/** Measures each variant once per round, in turns, so that a noisy minute hits all of them. The first rounds only warm up. */
export async function inTurns<Name extends string, T>(
  variants: Readonly<Record<Name, () => Promise<T>>>,
  { rounds, warmUp }: { readonly rounds: number; readonly warmUp: number },
): Promise<Readonly<Record<Name, readonly T[]>>> {
  const names = Object.keys(variants) as Name[];
  const results = Object.fromEntries(names.map((name) => [name, [] as T[]])) as Record<Name, T[]>;
  for (let round = -warmUp; round < rounds; round += 1) {
    for (const name of names) {
      const result = await variants[name]();
      if (round >= 0) {
        results[name].push(result);
      }
    }
  }
  return results;
}
