import manifest from '../../package.json' with { type: 'json' };

/** The version of package, image, metrics and manifests. */
export const { version } = manifest;
