import type { ChannelConfig, Config } from '../config/index.ts'
import { exampleLines, KEY_VARIABLE } from './examples.ts'
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
  const lines = [
    `interlingua ${version} listens on ${address}`,
    '',
    ...keyLines(config, first),
    `models   ${shortened([...named, ...listed]) || 'none: no channel is configured'}`,
    '',
    ...tryLines(triedAt(address, config), first.created ?? KEY_VARIABLE, config.channels),
  ]
  return lines.join('\n')
}

/** Certificates are for public names. */
const triedAt = (address: string, { server: { tls, publicUrls } }: Config): string =>
  tls === undefined ? address : (publicUrls[0] ?? address)

/** One request to try, and where the others are. */
function tryLines(address: string, key: string, channels: readonly ChannelConfig[]): string[] {
  const [models, request] = exampleLines({ address, key, channels })
  return [
    'Try it:',
    request ?? models!,
    ...(request?.includes('MODEL') ? [`         with a model of ${address}/v1/models in place of MODEL`] : []),
    `\`${program()} examples\` prints a line for each endpoint.`,
  ]
}

function keyLines(config: Config, { created, known, unread }: FirstKey): string[] {
  if (created !== undefined)
    return [
      `key      ${created}`,
      `         It is shown only now and stored as a hash; \`${program()} keys create NAME\` creates another.`,
    ]
  if (unread === true && config.keys.length === 0)
    return [
      'keys     unknown until the store can be used; the gateway tries it again and again.',
      `         \`${program()} keys create NAME\` then creates one.`,
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
