import type { ChannelConfig, Config } from '../config/index.ts'
import { exampleLines } from './examples.ts'
import type { FirstKey } from './first-key.ts'
import { program } from './outcome.ts'

/** The models named by channels; those that upstreams list themselves are not known yet. */
function namedModels(channels: readonly ChannelConfig[]): string[] {
  return [...new Set(channels.flatMap(({ models }) => [...models.named.keys()]))]
}

/** What a newcomer is told once the gateway listens: where, with which key, which models, and how to try each endpoint. */
export function greeting(address: string, config: Config, first: FirstKey, version: string): string {
  const named = namedModels(config.channels)
  const open = config.channels.filter(({ models }) => models.patterns.length > 0).map(({ name }) => name)
  const listed = open.length === 0 ? [] : [`whatever ${open.join(', ')} list${open.length === 1 ? 's' : ''}`]
  const key = first.made ?? '$INTERLINGUA_KEY'
  const lines = [
    `interlingua ${version} listens on ${address}`,
    '',
    ...keyLines(config, first),
    `models   ${shortened([...named, ...listed]) || 'none: no channel is configured'}`,
    '',
    'Try it:',
    ...exampleLines(address, key, config.channels),
  ]
  if (named.length === 0 && open.length > 0) lines.push('', 'Put a model of the first list where it says MODEL.')
  return lines.join('\n')
}

function keyLines(config: Config, { made, known }: FirstKey): string[] {
  if (made !== undefined)
    return [
      `key      ${made}`,
      `         It is shown this once and kept as a hash only; \`${program()} keys create NAME\` makes another.`,
    ]
  const names = [...config.keys.map(({ name }) => name), ...known]
  return [
    `keys     ${shortened(names)}`,
    `         They cannot be shown; \`${program()} keys create NAME\` makes a new one. Put yours in INTERLINGUA_KEY:`,
    '         export INTERLINGUA_KEY=…',
  ]
}

const shortened = (names: readonly string[]): string =>
  names.length > 8 ? `${names.slice(0, 8).join(', ')} and ${names.length - 8} more` : names.join(', ')
