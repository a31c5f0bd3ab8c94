import type { ChannelConfig, Config } from '../config/index.ts'
import { type ClientAccess, clientAccess } from './client-access.ts'
import { exampleLines, KEY_NAME, KEY_VARIABLE } from './examples.ts'
import { FIRST_USER } from './expected-user.ts'
import type { FirstStart } from './first-start.ts'
import { program } from './outcome.ts'

/** Describes the number of models per channel. Models from upstream lists are not known yet. */
const modelCounts = (channels: readonly ChannelConfig[]): string[] =>
  channels.map(({ name, models }) => {
    const { named, patterns } = models
    if (patterns.length === 0) return `${named.size} of ${name}`
    return named.size === 0 ? `all that ${name} lists` : `${named.size} of ${name} and all that it lists`
  })

/**
 * Returns the text printed when the gateway is listening, at most twelve lines: address, console, key, models and a
 * request to try.
 */
export function greeting(address: string, config: Config, first: FirstStart, version: string): string {
  const way = clientAccess(address, config)
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

function consoleLines(address: string, config: Config, { password, consoleNotBuilt: noPage }: FirstStart): string[] {
  if (config.console === undefined) return []
  if (noPage === true)
    return ['console  is not built. To build it, run `npm ci --include=dev` in the Interlingua folder.']
  if (password === undefined) return [`console  ${address}/console/`]
  return [
    `console  ${address}/console/ as ${FIRST_USER} with the password ${password}`,
    `         Shown only once and stored as a hash; \`${program()} console password\` sets a new one.`,
  ]
}

/** Returns a request to try, and a hint at the other examples. */
function tryLines(way: ClientAccess, created: string | undefined, channels: readonly ChannelConfig[]): string[] {
  const [models, request] = exampleLines({ ...way, key: created ?? KEY_VARIABLE, channels })
  const first = created === undefined ? '' : ` Set the key first: export ${KEY_NAME}=${created}`
  return [
    'Try it:',
    request ?? models!,
    ...(request?.includes('MODEL') ? [`         Replace MODEL with a model from ${way.address}/v1/models`] : []),
    `\`${program()} examples\` prints a sample request for each endpoint.${first}`,
  ]
}

function keyLines(config: Config, { created, storedKeys, storeUnreadable: unread }: FirstStart): string[] {
  if (created !== undefined)
    return [
      `key      ${created}`,
      `         Shown only once and stored as a hash; \`${program()} keys create NAME\` creates another.`,
    ]
  if (unread === true && config.keys.length === 0)
    return [
      'keys     unknown while the store is unavailable; the gateway keeps retrying.',
      `         \`${program()} keys create NAME\` then creates one.`,
    ]
  const names = [...config.keys.map(({ name }) => name), ...storedKeys.map(({ name }) => name)]
  return [
    `keys     ${shortened(names)}`,
    `         Stored keys cannot be shown; \`${program()} keys create NAME\` creates one. Set yours with: export ${KEY_NAME}=…`,
  ]
}

const shortened = (names: readonly string[]): string =>
  names.length > 8 ? `${names.slice(0, 8).join(', ')} and ${names.length - 8} more` : names.join(', ')
