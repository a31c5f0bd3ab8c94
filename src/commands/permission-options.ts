import { type Command, InvalidArgumentError, Option } from 'commander'
import { suggestion } from '../config/faults.ts'
import type { LimitSettings, OnLoss } from '../config/types.ts'
import { instant, isInstant, milliseconds } from '../config/units.ts'
import { DOORS } from '../formats/index.ts'

/** Given instead of a value, it removes a setting. */
export const NONE = Symbol('none')

/** A value as it was given, if it was. */
export type Given<T> = T | typeof NONE | undefined

/** What keys and groups may be allowed, as options give it. */
export interface PermissionOptions {
  readonly models?: Given<readonly string[]>
  readonly doors?: Given<readonly string[]>
  readonly channels?: Given<readonly string[]>
  readonly rpm?: Given<number>
  readonly tpm?: Given<number>
  readonly concurrent?: Given<number>
  readonly budgetDay?: Given<number>
  readonly budgetMonth?: Given<number>
  readonly budgetUnknown?: Given<'allow' | 'refuse'>
  readonly onLoss?: Given<OnLoss>
}

/** Adds the options of what keys and groups have in common. */
export function permissionOptions(command: Command): Command {
  return command
    .option('--models <patterns>', 'the models it may use, separated by commas', given(list))
    .option('--doors <formats>', 'the formats whose endpoints it may use', given(doors))
    .option('--rpm <number>', 'requests a minute', given(whole))
    .option('--tpm <number>', 'tokens a minute', given(whole))
    .option('--concurrent <number>', 'requests at once', given(whole))
    .option('--budget-day <dollars>', 'US dollars a day (UTC)', given(amount))
    .option('--budget-month <dollars>', 'US dollars a month (UTC)', given(amount))
    .addOption(
      new Option(
        '--budget-unknown <what>',
        'what becomes of requests to models whose price is unknown: allow or refuse',
      ).argParser(given(unknownPrices)),
    )
    .addOption(
      new Option(
        '--on-loss <what>',
        'what becomes of requests that lose something in translation: show or refuse',
      ).argParser(given(onLoss)),
    )
}

const unknownPrices = (text: string): 'allow' | 'refuse' => {
  if (text !== 'allow' && text !== 'refuse') throw new InvalidArgumentError('It is allow or refuse.')
  return text
}

/** The limits after a change: what was given replaces what there was, `none` removes it. */
export function limitsWith(before: LimitSettings, options: PermissionOptions): LimitSettings {
  const budget = {
    ...field('day', before.budget?.day, options.budgetDay),
    ...field('month', before.budget?.month, options.budgetMonth),
    ...field('unknown', before.budget?.unknown, options.budgetUnknown),
  }
  return {
    ...field('rpm', before.rpm, options.rpm),
    ...field('tpm', before.tpm, options.tpm),
    ...field('concurrent', before.concurrent, options.concurrent),
    ...(Object.keys(budget).length === 0 ? {} : { budget }),
  }
}

/** A field after a change: absent where there is none, or none any more. */
export const field = <N extends string, T>(
  name: N,
  before: T | undefined,
  change: Given<T>,
): { readonly [name in N]?: T } => {
  const value = change === NONE ? undefined : (change ?? before)
  return (value === undefined ? {} : { [name]: value }) as { readonly [name in N]?: T }
}

/** Reads a value, or `none`. */
export const given =
  <T>(read: (text: string) => T) =>
  (text: string): T | typeof NONE =>
    text === 'none' ? NONE : read(text)

export function list(text: string): readonly string[] {
  const entries = text.split(',').map(one => one.trim())
  if (entries.includes('')) throw new InvalidArgumentError('It is a list of names, separated by commas.')
  return entries
}

function doors(text: string): readonly string[] {
  const names = list(text)
  const unknown = names.find(name => !DOORS.has(name))
  if (unknown === undefined) return names
  throw new InvalidArgumentError(`There is no format "${unknown}"${suggestion(unknown, DOORS.keys())}.`)
}

function whole(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('It is a whole number, 0 or more.')
}

/** US dollars. More of them could not be counted exactly. */
const MOST_DOLLARS = 1_000_000

function amount(text: string): number {
  if (/^\d{1,12}(\.\d{1,9})?$/.test(text) && Number(text) <= MOST_DOLLARS) return Number(text)
  throw new InvalidArgumentError(`It is an amount of US dollars, ${MOST_DOLLARS} at most.`)
}

function onLoss(text: string): OnLoss {
  if (text === 'show' || text === 'refuse') return text
  throw new InvalidArgumentError('It is show or refuse.')
}

/** A time to come as ISO 8601, or one from now such as `30d`; in Unix milliseconds. */
export function timeToCome(text: string): number {
  const later = milliseconds(text)
  const at = later === undefined ? instant(text) : Date.now() + later
  if (at === undefined || !isInstant(at))
    throw new InvalidArgumentError('It is a time such as 2027-01-31, or one from now such as 30d.')
  if (at <= Date.now()) throw new InvalidArgumentError('It is in the past.')
  return at
}

export function duration(text: string): number {
  const value = milliseconds(text)
  if (value === undefined) throw new InvalidArgumentError('It is a duration such as 24h.')
  return value
}
