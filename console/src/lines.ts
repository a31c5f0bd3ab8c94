/**
 * Marks without width that pasted text carries, such as those of word processors and chat programs. A name with one
 * looks right and matches nothing. Joiners within words (U+200C, U+200D) stay, because some scripts need them.
 */
const INVISIBLE = /[\u200b\u2060\ufeff]/g

/** The lines of a field that have text, without white space around them and without invisible marks. */
export const linesIn = (text: string, between: string | RegExp = '\n'): readonly string[] =>
  text
    .replace(INVISIBLE, '')
    .split(between)
    .map(line => line.trim())
    .filter(line => line !== '')
