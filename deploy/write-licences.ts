import { writeFile } from 'node:fs/promises';
import { findFunctions } from '../lib/cli/functions.ts';
import { licenceList, shippedPackages } from './licences.ts';

/** `npm run licences`: lists what is in the image, and under which licence. */
const folders = (await findFunctions('functions')).map(({ folder }) => folder);
await writeFile('deploy/PACKAGES.md', await licenceList(await shippedPackages(folders)));
