import type { ReplayMode, TestReplayOptions } from './test-replay.ts'

/* Checks the options of tests, most of which are written in JavaScript. */

const MODES: ReadonlySet<ReplayMode> = new Set<ReplayMode>(['replay', 'record', 'off'])

type Check = (value: unknown) => boolean

/** A text in place of a list would be read letter by letter, so that nothing of it is redacted. */
const isRules: Check = value => Array.isArray(value) && value.every(rule => typeof rule === 'string')

const isAddress: Check = value =>
  typeof value === 'string' && /^https?:$/.test(URL.canParse(value) ? new URL(value).protocol : '')

/** Checks and requirements by option. */
const CHECKS: { readonly [option in keyof TestReplayOptions]-?: readonly [Check, string] } = {
  mode: [value => MODES.has(value as ReplayMode), `one of ${[...MODES].join(', ')}`],
  upstream: [isAddress, 'a URL of http or https'],
  key: [value => typeof value === 'string', 'a text'],
  redact: [isRules, 'a list of texts'],
  ignore: [isRules, 'a list of texts'],
  strict: [value => typeof value === 'boolean', 'true or false'],
  speed: [value => typeof value === 'number' && Number.isFinite(value) && value >= 0, 'a number from 0 on'],
}

/**
 * Checks the options that are set.
 *
 * @throws TypeError if one has a wrong value.
 */
export function checkOptions(options: TestReplayOptions): void {
  if (typeof options !== 'object' || options === null) throw new TypeError('The options must be an object.')
  for (const [name, [isRight, requirement]] of Object.entries(CHECKS)) {
    const value = options[name as keyof TestReplayOptions]
    if (value !== undefined && !isRight(value))
      throw new TypeError(
        `The option \`${name}\` must be ${requirement}${name === 'key' ? '' : `, not ${shown(value)}`}.`,
      )
  }
}

const shown = (value: unknown): string =>
  (typeof value === 'string' ? JSON.stringify(value) : String(value)).slice(0, 100)
