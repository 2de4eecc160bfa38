import { posix } from 'node:path';

/** An import's path is relative to the file that imports it. */
export function resolvePath(pattern: string, file: string): string {
  return posix.isAbsolute(pattern) ? posix.normalize(pattern) : posix.join(posix.dirname(file), pattern);
}

/** `*` and `?` stand for anything but a slash. */
export function globMatches(pattern: string, path: string): boolean {
  const expression = pattern
    .replace(/[.+^${}()|[\]\\]/g, '\\$&')
    .replaceAll('*', '[^/]*')
    .replaceAll('?', '[^/]');
  return new RegExp(`^${expression}$`).test(path);
}
