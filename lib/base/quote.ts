const longest = 60;

/** Puts a user's text into quotes for a message, cut to 60 characters. */
export function quote(text: string): string {
  return JSON.stringify(text.length > longest ? `${text.slice(0, longest)}…` : text);
}
