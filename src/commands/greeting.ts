import type { ChannelConfig, Config } from '../config/index.ts'
import { exampleLines, KEY_NAME, KEY_VARIABLE } from './examples.ts'
import { FIRST_USER } from './expected-user.ts'
import type { FirstStart } from './first-start.ts'
import { program } from './outcome.ts'
import { type Reached, reached } from './reached.ts'

/** How many models each channel names; those that upstreams list are not known yet. */
const modelCounts = (channels: readonly ChannelConfig[]): string[] =>
  channels.map(({ name, models }) => {
    const { named, patterns } = models
    if (patterns.length === 0) return `${named.size} of ${name}`
    return named.size === 0 ? `whatever ${name} lists` : `${named.size} of ${name} and whatever it lists`
  })

/** The text printed when the gateway listens, of at most twelve lines: address, console, key, models, one request to try. */
export function greeting(address: string, config: Config, first: FirstStart, version: string): string {
  const way = reached(address, config)
  const lines = [
    `interlingua ${version} listens on ${address}`,
    '',
    ...consoleLines(way.address, config, first),
    ...keyLines(config, first),
    `models   ${shortened(modelCounts(config.channels)) || 'none: no channel is configured'}`,
    '',
    ...tryLines(way, first.created, config.channels),
  ]
  return lines.join('\n')
}

function consoleLines(address: string, config: Config, { password, noPage }: FirstStart): string[] {
  if (config.console === undefined) return []
  if (noPage === true) return ['console  is not built: `npm ci --include=dev` in the folder of Interlingua builds it.']
  if (password === undefined) return [`console  ${address}/console/`]
  return [
    `console  ${address}/console/ as ${FIRST_USER} with the password ${password}`,
    `         It is shown only now and stored as a hash; \`${program()} console password\` makes another.`,
  ]
}

/** One request to try, and where the others are. */
function tryLines(way: Reached, created: string | undefined, channels: readonly ChannelConfig[]): string[] {
  const [models, request] = exampleLines({ ...way, key: created ?? KEY_VARIABLE, channels })
  const first = created === undefined ? '' : ` They take the key from: export ${KEY_NAME}=${created}`
  return [
    'Try it:',
    request ?? models!,
    ...(request?.includes('MODEL') ? [`         with a model of ${way.address}/v1/models in place of MODEL`] : []),
    `\`${program()} examples\` prints a line for each endpoint.${first}`,
  ]
}

function keyLines(config: Config, { created, known, unread }: FirstStart): string[] {
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
    `         They cannot be shown; \`${program()} keys create NAME\` creates one. Put yours here: export ${KEY_NAME}=…`,
  ]
}

const shortened = (names: readonly string[]): string =>
  names.length > 8 ? `${names.slice(0, 8).join(', ')} and ${names.length - 8} more` : names.join(', ')
