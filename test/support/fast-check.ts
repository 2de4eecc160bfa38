import fc from '../../node_modules/fast-check/lib/fast-check.js';

/** The same examples in every run, so that none turns red by chance. `SEED=7 npm run jest` looks at others. */
fc.configureGlobal({ seed: Number(process.env['SEED'] ?? 20_261_116) });

export default fc;
