import { isAddressable } from '../canonical/model-name.ts'
import { matches } from '../config/glob.ts'
import type { ChannelModels } from '../config/types.ts'

/*
 * Names of models at a channel's upstream. A pattern of a map renames what it matches: of `{ "openai/*": "*" }`,
 * `openai/gpt-5.6` is `gpt-5.6` at the upstream (docs/configuration.md#channels).
 */

/**
 * Returns the upstream's name of a model. Undefined if the channel does not have the model.
 *
 * @param listed ids that the upstream lists. Undefined if unknown: every name that matches a pattern is then accepted.
 */
export function upstreamNameOf(
  { named, patterns, renamed }: ChannelModels,
  model: string,
  listed?: ReadonlySet<string>,
): string | undefined {
  const name = named.get(model)
  if (name !== undefined) return name
  for (const pattern of patterns) {
    if (!matches(pattern, model)) continue
    const target = renamed?.get(pattern)
    if (target === undefined) {
      if (listed === undefined || listed.has(model)) return model
      continue
    }
    const upstream = renamedBy(pattern, target, model)
    const isUsable = listed === undefined || !target.includes('*') || listed.has(upstream)
    if (isUsable && isAddressable(upstream)) return upstream
  }
  return undefined
}

/** Returns the public ids of a model that the upstream lists, one for each pattern that selects the model. */
export const publicNamesOf = ({ patterns, renamed }: ChannelModels, upstream: string): string[] =>
  patterns.flatMap(pattern => {
    const target = renamed?.get(pattern) ?? pattern
    // A pattern whose models all have one name at the upstream has no list of public names.
    if (!target.includes('*') || !matches(target, upstream)) return []
    return [target === pattern ? upstream : renamedBy(target, pattern, upstream)]
  })

/** Puts what the pattern's `*` matches in the name into the `*` of the target. */
function renamedBy(pattern: string, target: string, name: string): string {
  const at = pattern.indexOf('*')
  const matched = name.slice(at, name.length - (pattern.length - at - 1))
  return target.replace('*', () => matched)
}
