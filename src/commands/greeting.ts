import { withEscapedControls } from '../canonical/text.ts'
import { type UnusedKey, unusedKeys } from '../config/environment.ts'
import type { ChannelConfig, Config } from '../config/index.ts'
import { type ClientAccess, clientAccess } from './client-access.ts'
import { exampleLines, KEY_NAME, KEY_VARIABLE } from './examples.ts'
import { FIRST_USER } from './expected-user.ts'
import type { FirstStart } from './first-start.ts'
import { program } from './outcome.ts'

/** Describes the number of models per channel. Models from upstream lists are still unknown. */
const modelCounts = (channels: readonly ChannelConfig[]): string[] =>
  channels.map(({ name, models }) => {
    const { named, patterns } = models
    if (patterns.length === 0) return `${named.size} of ${name}`
    return named.size === 0 ? `all that ${name} lists` : `${named.size} of ${name} and all that it lists`
  })

/**
 * Returns the text printed when the gateway is listening, of at most nine lines: address, console, key, models, unused
 * keys from the environment, and a request to try.
 *
 * @param unused keys from the environment that yielded no channel, if the channels come from the environment.
 */
export function greeting(
  address: string,
  config: Config,
  first: FirstStart,
  version: string,
  unused: readonly UnusedKey[] = [],
): string {
  const access = clientAccess(address, config)
  const lines = [
    `interlingua ${version} listens on ${address}`,
    ...consoleLines(access.address, config, first),
    ...keyLines(config, first),
    `models   ${shortened(modelCounts(config.channels)) || 'none: no channel is configured'}`,
    ...unusedLines(unused),
    ...tryLines(access, first.created, config.channels),
  ]
  // Names of channels and models must neither forge a line of the log nor move a terminal's cursor.
  return lines.map(withEscapedControls).join('\n')
}

function consoleLines(
  address: string,
  config: Config,
  { password, consoleNotBuilt: isConsoleMissing }: FirstStart,
): string[] {
  if (config.console === undefined) return []
  if (isConsoleMissing === true)
    return ['console  is not built. To build it, run `npm ci --include=dev` in the Interlingua folder.']
  const user = password === undefined ? '' : ` as ${FIRST_USER} with the password ${password}`
  return [`console  ${address}/console/${user}`]
}

/** Returns the keys from the environment that yielded no channel, or none if there is a config file. */
export const unusedKeysFor = (path: string | undefined): UnusedKey[] =>
  path === undefined ? unusedKeys(process.env) : []

/** Returns the line that lists unused keys from the environment, with reasons. */
const unusedLines = (unused: readonly UnusedKey[]): string[] =>
  unused.length === 0
    ? []
    : [`unused   ${shortened(unused.map(({ key, missing }) => `${key}, as ${missing.join(' and ')} is not set`))}`]

/** Returns a request to try, and a hint about the other examples. */
function tryLines(access: ClientAccess, created: string | undefined, channels: readonly ChannelConfig[]): string[] {
  const [models, request] = exampleLines({ ...access, key: created ?? KEY_VARIABLE, channels })
  const first = created === undefined ? '' : ` Set the key first: export ${KEY_NAME}=${created}`
  const needsModel = request?.includes('MODEL') === true
  return [
    needsModel ? `Try it, with a model from ${access.address}/v1/models as MODEL:` : 'Try it:',
    request ?? models!,
    `\`${program()} examples\` prints a sample request for each endpoint.${first}`,
  ]
}

function keyLines(
  config: Config,
  { created, storedKeys, storeUnreadable: isStoreUnreadable, password }: FirstStart,
): string[] {
  if (created !== undefined) {
    const subject = password === undefined ? 'The key is' : 'Key and password are'
    return [
      `key      ${created}`,
      `         ${subject} shown only once and stored as a hash; \`${program()} keys create NAME\` creates another key.`,
    ]
  }
  if (isStoreUnreadable === true && config.keys.length === 0)
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
