export const rows: readonly (readonly string[])[];
export const sandboxImports: readonly string[];
export const unmoved: readonly string[];
export const rootFiles: readonly string[];
export const effectRooms: readonly string[];
export const pureFolders: readonly string[];
export function forbiddenFor(layer: string): readonly string[];
