import { isAddressable } from '../canonical/model-name.ts'
import { matches } from '../config/glob.ts'
import type { ChannelModels } from '../config/types.ts'

/*
 * Names of models at a channel's upstream. A pattern in a map renames the models that it matches: with `{ "openai/*":
 * "*" }`, `openai/gpt-5.6` becomes `gpt-5.6` at the upstream (docs/configuration.md#channels).
 */

/**
 * Returns the upstream's name of a model, or undefined if the channel does not have the model.
 *
 * @param listed ids in the upstream's list. If undefined, the list is unknown, and every name that matches a pattern is
 * accepted.
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

/** Returns the public ids of a model in the upstream's list, one for each pattern that selects the model. */
export const publicNamesOf = ({ patterns, renamed }: ChannelModels, upstream: string): string[] =>
  patterns.flatMap(pattern => {
    const target = renamed?.get(pattern) ?? pattern
    // If all models of a pattern have the same upstream name, their public names cannot be listed.
    if (!target.includes('*') || !matches(target, upstream)) return []
    return [target === pattern ? upstream : renamedBy(target, pattern, upstream)]
  })

/** Replaces the `*` in the target with the text that the pattern's `*` matches in the name. */
function renamedBy(pattern: string, target: string, name: string): string {
  const at = pattern.indexOf('*')
  const matched = name.slice(at, name.length - (pattern.length - at - 1))
  return target.replace('*', () => matched)
}
