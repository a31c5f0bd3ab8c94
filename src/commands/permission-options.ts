import { type Command, InvalidArgumentError, Option } from 'commander'
import { defined, definedIfAny } from '../canonical/node.ts'
import { suggestion } from '../config/faults.ts'
import type { LimitSettings, OnLoss } from '../config/types.ts'
import { instant, isInstant, milliseconds } from '../config/units.ts'
import { CALLER_FORMATS } from '../formats/index.ts'

/** Option value that removes a setting. */
export const NONE = Symbol('none')

/** An option's value: a new value, NONE to remove the setting, or undefined to leave it. */
export type OptionValue<T> = T | typeof NONE | undefined

/** Permission settings from command line options. */
export interface PermissionOptions {
  readonly models?: OptionValue<readonly string[]>
  readonly doors?: OptionValue<readonly string[]>
  readonly channels?: OptionValue<readonly string[]>
  readonly rpm?: OptionValue<number>
  readonly tpm?: OptionValue<number>
  readonly concurrent?: OptionValue<number>
  readonly budgetDay?: OptionValue<number>
  readonly budgetMonth?: OptionValue<number>
  readonly budgetUnknown?: OptionValue<'allow' | 'refuse'>
  readonly onLoss?: OptionValue<OnLoss>
}

/** Adds the options that keys and groups share. */
export function permissionOptions(command: Command): Command {
  return command
    .option(
      '--models <patterns>',
      'models that may be used, separated by commas; * matches anything',
      orNone(parseList),
    )
    .option(
      '--doors <formats>',
      'formats of callers whose endpoints may be used, separated by commas',
      orNone(parseFormats),
    )
    .option('--rpm <number>', 'requests per minute', orNone(parseWhole))
    .option('--tpm <number>', 'tokens per minute', orNone(parseWhole))
    .option('--concurrent <number>', 'concurrent requests', orNone(parseWhole))
    .option('--budget-day <dollars>', 'US dollars per day (UTC)', orNone(parseAmount))
    .option('--budget-month <dollars>', 'US dollars per month (UTC)', orNone(parseAmount))
    .addOption(
      new Option(
        '--budget-unknown <what>',
        'whether requests to models of unknown price are allowed: allow or refuse',
      ).argParser(orNone(parseUnknownPrices)),
    )
    .addOption(
      new Option('--on-loss <what>', 'whether requests with translation losses are answered: show or refuse').argParser(
        orNone(parseOnLoss),
      ),
    )
}

const parseUnknownPrices = (text: string): 'allow' | 'refuse' => {
  if (text !== 'allow' && text !== 'refuse') throw new InvalidArgumentError('Expected allow or refuse.')
  return text
}

/**
 * Applies changes to limits. A given value replaces the previous one, and `none` removes it. Limits that only a later
 * version knows stay.
 */
export function limitsWith(before: LimitSettings, options: PermissionOptions): LimitSettings {
  return defined({
    ...before,
    rpm: valueAfter(before.rpm, options.rpm),
    tpm: valueAfter(before.tpm, options.tpm),
    concurrent: valueAfter(before.concurrent, options.concurrent),
    budget: definedIfAny({
      ...before.budget,
      day: valueAfter(before.budget?.day, options.budgetDay),
      month: valueAfter(before.budget?.month, options.budgetMonth),
      unknown: valueAfter(before.budget?.unknown, options.budgetUnknown),
    }),
  })
}

/** Returns a field's value after a change. Undefined if the field then has no value. */
export const valueAfter = <T>(before: T | undefined, change: OptionValue<T>): T | undefined =>
  change === NONE ? undefined : (change ?? before)

/** Wraps an option parser so that it also accepts `none`. */
export const orNone =
  <T>(read: (text: string) => T) =>
  (text: string): T | typeof NONE =>
    text === 'none' ? NONE : read(text)

export function parseList(text: string): readonly string[] {
  const entries = text.split(',').map(one => one.trim())
  if (entries.includes('')) throw new InvalidArgumentError('Expected a list of names, separated by commas.')
  return entries
}

function parseFormats(text: string): readonly string[] {
  const names = parseList(text)
  const unknown = names.find(name => !CALLER_FORMATS.has(name))
  if (unknown === undefined) return names
  throw new InvalidArgumentError(`Unknown format "${unknown}"${suggestion(unknown, CALLER_FORMATS.keys())}.`)
}

function parseWhole(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('Expected a whole number, 0 or more.')
}

/** Maximum budget, in US dollars. Larger amounts could not be counted exactly. */
const MAX_DOLLARS = 1_000_000

function parseAmount(text: string): number {
  if (/^\d{1,12}(\.\d{1,9})?$/.test(text) && Number(text) <= MAX_DOLLARS) return Number(text)
  throw new InvalidArgumentError(`Expected an amount of US dollars, at most ${MAX_DOLLARS}.`)
}

function parseOnLoss(text: string): OnLoss {
  if (text === 'show' || text === 'refuse') return text
  throw new InvalidArgumentError('Expected show or refuse.')
}

/** Parses a future time: ISO 8601, or a duration from now such as `30d`. Returns Unix milliseconds. */
export function parseFutureTime(text: string): number {
  const later = milliseconds(text)
  const at = later === undefined ? instant(text) : Date.now() + later
  if (at === undefined || !isInstant(at))
    throw new InvalidArgumentError('Expected a time such as 2027-01-31, or a duration from now such as 30d.')
  if (at <= Date.now()) throw new InvalidArgumentError('The time is in the past.')
  return at
}

export function parseDuration(text: string): number {
  const value = milliseconds(text)
  if (value === undefined) throw new InvalidArgumentError('Expected a duration such as 24h.')
  return value
}

/**
 * Validates the name of a new key or group. Names appear in lists and logs, and the admin API accepts the same names.
 *
 * @throws Error describing what is wrong.
 */
export function checkName(name: string): void {
  if (name.trim() === '' || name.length > 200) throw new Error('a name must have 1 to 200 characters')
  if (!PRINTABLE.test(name)) throw new Error('a name must not contain control characters')
}

const PRINTABLE = /^[^\p{Cc}\p{Cs}]*$/u
