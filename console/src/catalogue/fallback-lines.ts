import { linesIn } from '../lines.ts'

/** A fallback model as the config has it: its id alone is taken for every reason. */
export type WrittenFallback = string | { readonly model: string; readonly on?: readonly string[] }

/** Fallback models as lines: `model`, or `model: failure, context` with the reasons for which it is taken. */
export const linesOfFallbacks = (all: readonly WrittenFallback[]): string =>
  all
    .map(one =>
      typeof one === 'string' ? one : one.on === undefined ? one.model : `${one.model}: ${one.on.join(', ')}`,
    )
    .join('\n')

/**
 * The fallback models that lines describe. Undefined without a line. A model id may contain a colon without a space.
 * Punctuation may be that of Chinese keyboards.
 */
export function fallbacksIn(text: string): readonly WrittenFallback[] | undefined {
  const lines = linesIn(text)
  if (lines.length === 0) return undefined
  return lines.map(line => {
    const [model = '', reasons] = line.split(/:\s+|：\s*/, 2)
    return reasons === undefined ? model : { model, on: reasons.split(/[\s,，、]+/).filter(Boolean) }
  })
}
