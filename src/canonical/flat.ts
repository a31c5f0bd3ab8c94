/*
 * A string made with `+`, or cut out of a longer one, stays a tree of slices in the engine, and a body that holds one
 * such string is serialized three times as slowly. Ids and media of bodies are therefore made here.
 */

/** The parts as one flat string. */
export const flatJoin = (...parts: readonly (string | number)[]): string => parts.join('')

/** A flat copy of a string that was cut out of a longer one. */
export const flatCopy = (text: string): string => [text.slice(0, 1), text.slice(1)].join('')
