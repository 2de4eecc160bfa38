const longest = 60;

/** What somebody wrote, for a message about it: in quotes and never endless. */
export function quote(text: string): string {
  return JSON.stringify(text.length > longest ? `${text.slice(0, longest)}…` : text);
}
