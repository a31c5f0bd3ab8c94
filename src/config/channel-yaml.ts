import { stringify } from 'yaml'
import type { Path } from '../canonical/loss.ts'
import { mapSecrets, type Written } from './secret-fields.ts'

/** YAML of a channel for the config file. */
export interface ChannelYaml {
  readonly yaml: string
  /** Environment variables that replace its secrets. */
  readonly variables: readonly string[]
}

/** Writes a channel in the form of the config file, with environment variables in place of secrets. */
export function channelYaml(channel: Written): ChannelYaml {
  const variables: string[] = []
  const prefix = variableName(String(channel['name'] ?? 'channel'))
  const maskedChannel = mapSecrets(withoutInterpolation(channel) as Written, (_, path) => {
    const name = freeName(`${prefix}_${suffixOf(path)}`, variables)
    variables.push(name)
    return `\${${name}}`
  })
  return { yaml: stringify({ channels: [maskedChannel] }, { lineWidth: 0 }), variables }
}

/**
 * Escapes texts that would otherwise be replaced by environment variables. Field names need no escape, because they are
 * never replaced.
 */
function withoutInterpolation(value: unknown): unknown {
  if (typeof value === 'string') return value.replaceAll('${', () => '$${')
  if (Array.isArray(value)) return value.map(withoutInterpolation)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, withoutInterpolation(one)]))
}

/** Returns the suffix of a variable's name: `KEY`, `KEY_1` for the first key of a pool, `HEADER_X_TEAM`. */
function suffixOf(path: Path): string {
  const [field, inner] = path
  if (field === 'keys') return `KEY_${Number(inner) + 1}`
  if (field === 'headers') return `HEADER_${variableName(String(inner))}`
  return variableName(path.filter(step => step !== 'auth').join('_'))
}

const variableName = (text: string): string =>
  text
    .toUpperCase()
    .replaceAll(/[^A-Z0-9]+/g, '_')
    .replace(/^(?=\d)/, '_')

/** Appends a number to a name that is already in use. */
function freeName(name: string, usedNames: readonly string[]): string {
  let free = name
  for (let number = 2; usedNames.includes(free); number++) free = `${name}_${number}`
  return free
}
