import { PRESETS, type Preset } from '../formats/index.ts'
import { channelWithDefaults, defaultOf } from './channel.ts'
import type { ChannelConfig } from './types.ts'
import type { Env } from './variable.ts'

/** A vendor whose key is in the environment, but without all variables that its address needs. */
export interface UnusedKey {
  /** Name of the variable with the key. */
  readonly key: string
  /** Names of the missing variables. */
  readonly missing: readonly string[]
}

/** Returns the name of the variable with the vendor's key, or undefined if none is set. */
export const keyVariable = ({ env }: Preset, values: Env): string | undefined => env.find(name => values[name])

/** Returns the variables that the vendor's address needs and that are not set. */
function missingVariables({ addressEnv, variables = {} }: Preset, env: Env): string[] {
  const address = addressEnv !== undefined && env[addressEnv] === undefined ? [addressEnv] : []
  const others = Object.values(variables).filter(source => defaultOf(source, env) === undefined)
  return [...address, ...others.map(source => source.env[0]!)]
}

/**
 * Creates a channel for every vendor whose usual API key variable is set. If there are none, creates the demo's
 * channel.
 */
export function environmentChannels(env: Env): ChannelConfig[] {
  const found = usablePresets(env)
  const presets = found.length > 0 ? found : [PRESETS.get('replay')!]
  return presets.map(preset => channelWithDefaults({ name: preset.name, provider: preset.name }, preset, env, () => {}))
}

/** Returns the source of the channels: the environment if it has a vendor's key, otherwise the demo. */
export const environmentOrigin = (env: Env): 'environment' | 'demo' =>
  usablePresets(env).length > 0 ? 'environment' : 'demo'

const usablePresets = (env: Env): readonly Preset[] =>
  [...PRESETS.values()].filter(
    preset => keyVariable(preset, env) !== undefined && missingVariables(preset, env).length === 0,
  )

/** Returns the keys in the environment for which no channel could be created. */
export function unusedKeys(env: Env): UnusedKey[] {
  const presets = [...PRESETS.values()].filter(preset => keyVariable(preset, env) !== undefined)
  const usedNames = new Set(
    presets.filter(preset => missingVariables(preset, env).length === 0).map(preset => keyVariable(preset, env)),
  )
  return presets
    .map(preset => ({ key: keyVariable(preset, env)!, missing: missingVariables(preset, env) }))
    .filter(({ key }) => !usedNames.has(key))
    .filter((one, index, all) => all.findIndex(({ key }) => key === one.key) === index)
}
