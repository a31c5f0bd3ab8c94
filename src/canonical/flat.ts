/*
 * What was put together with `+`, or cut out of something longer, stays a tree of pieces in the engine, and a body that
 * holds one such text is written as JSON three times as slowly. A body's ids and media are made here for that reason.
 */

/** The pieces as one whole text. */
export const flatJoin = (...pieces: readonly (string | number)[]): string => pieces.join('')

/** A text that was cut out of a longer one, on its own. */
export const flatCopy = (text: string): string => [text.slice(0, 1), text.slice(1)].join('')
