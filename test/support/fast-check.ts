import fc from '../../node_modules/fast-check/lib/fast-check.js';

/** Uses the same examples in every run, so that no run fails by chance. `SEED=7 npm run jest` uses others. */
fc.configureGlobal({ seed: Number(process.env['SEED'] ?? 20_261_116) });

export default fc;
