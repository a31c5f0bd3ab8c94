import type { Json, JsonObject } from '../../canonical/node.ts'

/** Paths in the canonical request, and their recorded values. The recording answers every request with these values. */
export interface PartialMatch {
  readonly values: readonly { readonly path: readonly string[]; readonly recorded: ReadonlySet<string> }[]
}

/**
 * Prepares the field `match` of a recording.
 *
 * @param form the compared form of the recorded request.
 */
export const partialMatch = (paths: readonly string[], form: JsonObject): PartialMatch => ({
  values: paths.map(text => {
    const path = text.split('.')
    return { path, recorded: valuesAt(form, path) }
  }),
})

/**
 * Returns true if a request has the recorded values at all paths. A path with `*` may have more values than recorded. A
 * path without a recorded value must have none.
 */
export const matchesPartially = ({ values }: PartialMatch, form: JsonObject): boolean =>
  values.every(({ path, recorded }) => {
    const requested = valuesAt(form, path)
    return recorded.size === 0 ? requested.size === 0 : [...recorded].every(one => requested.has(one))
  })

/** Returns the values at a path as JSON. `*` means every field or item, `-1` the last item of a list. */
function valuesAt(value: Json | undefined, [step, ...rest]: readonly string[]): Set<string> {
  if (value === undefined) return new Set()
  if (step === undefined) return new Set([JSON.stringify(value)])
  if (typeof value !== 'object' || value === null) return new Set()
  if (step === '*') return new Set(Object.values(value).flatMap(item => [...valuesAt(item as Json, rest)]))
  const name = step === '-1' && Array.isArray(value) ? String(value.length - 1) : step
  return Object.hasOwn(value, name) ? valuesAt((value as JsonObject)[name], rest) : new Set()
}
