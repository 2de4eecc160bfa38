import manifest from '../../package.json' with { type: 'json' };

/** The one version of package, image, metrics and manifests. */
export const { version } = manifest;
