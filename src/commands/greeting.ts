import type { ChannelConfig, Config } from '../config/index.ts'
import { exampleLines } from './examples.ts'
import type { FirstKey } from './first-key.ts'
import { program } from './outcome.ts'

/** The models named by channels; those that upstreams list are not available yet. */
function namedModels(channels: readonly ChannelConfig[]): string[] {
  return [...new Set(channels.flatMap(({ models }) => [...models.named.keys()]))]
}

/** The text printed when the gateway listens: its address, key and models, and how to try each endpoint. */
export function greeting(address: string, config: Config, first: FirstKey, version: string): string {
  const named = namedModels(config.channels)
  const open = config.channels.filter(({ models }) => models.patterns.length > 0).map(({ name }) => name)
  const listed = open.length === 0 ? [] : [`whatever ${open.join(', ')} list${open.length === 1 ? 's' : ''}`]
  const key = first.created ?? '$INTERLINGUA_KEY'
  const lines = [
    `interlingua ${version} listens on ${address}`,
    '',
    ...keyLines(config, first),
    `models   ${shortened([...named, ...listed]) || 'none: no channel is configured'}`,
    '',
    'Try it:',
    ...exampleLines(address, key, config.channels),
  ]
  if (named.length === 0 && open.length > 0) lines.push('', 'Replace MODEL by a model of the first list.')
  return lines.join('\n')
}

function keyLines(config: Config, { created, known }: FirstKey): string[] {
  if (created !== undefined)
    return [
      `key      ${created}`,
      `         It is shown only now and stored as a hash; \`${program()} keys create NAME\` creates another.`,
    ]
  const names = [...config.keys.map(({ name }) => name), ...known.map(({ name }) => name)]
  return [
    `keys     ${shortened(names)}`,
    `         They cannot be shown; \`${program()} keys create NAME\` creates a new one. Put yours in INTERLINGUA_KEY:`,
    '         export INTERLINGUA_KEY=…',
  ]
}

const shortened = (names: readonly string[]): string =>
  names.length > 8 ? `${names.slice(0, 8).join(', ')} and ${names.length - 8} more` : names.join(', ')
