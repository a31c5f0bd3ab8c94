import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { rowOf } from '../../canonical/maps.ts'
import { ROOT } from '../../root.ts'
import type { Rate, Rates } from './rates.ts'
import { listedNames } from './table.ts'

/*
 * Prices of tokens at single accounts, from the same table as `models.json`. The price package is renewed less
 * often, so that it lacks new models, and states earlier prices of others.
 */

/** Kinds of tokens of text models. */
export type TextKind = 'input' | 'output' | 'cacheRead' | 'cacheWrite' | 'cacheWriteLong' | 'reasoning'

/** Prices of a million tokens of each kind, in US dollars. */
export type TextPrices = { readonly [K in TextKind]?: number }

/** Prices of a model at an account. */
export interface AccountPrices extends TextPrices {
  /** Prices of prompts with more tokens than each number. */
  readonly above?: { readonly [tokens: string]: TextPrices }
}

/** Prices by account, and by model in the first spelling of `listedNames`. */
export type AccountTable = { readonly [account: string]: { readonly [model: string]: AccountPrices } }

/** Path of the checked-in table. `npm run catalogue` renews it. */
export const ACCOUNT_TABLE_FILE: string = join(ROOT, 'catalogue', 'prices.json')

/** Accounts by preset, where a vendor has several presets. The account of any other preset has its name. */
const ACCOUNTS: { readonly [preset: string]: string } = {
  ...{ 'azure-openai': 'azure', 'azure-deployments': 'azure', 'azure-foundry': 'azure' },
  ...{ 'bedrock-converse': 'bedrock', 'bedrock-invoke': 'bedrock' },
  ...{ 'claude-aws': 'anthropic', 'vertex-express': 'vertex', 'vertex-claude': 'vertex' },
}

let table: AccountTable | undefined

/** Returns the listed prices of a model at the account of a preset, or none. */
export function accountRates(preset: string, model: string): Rates {
  table ??= JSON.parse(readFileSync(ACCOUNT_TABLE_FILE, 'utf8')) as AccountTable
  const models = rowOf(table, rowOf(ACCOUNTS, preset) ?? preset)
  const name = models && listedNames(model).find(one => Object.hasOwn(models, one))
  return name === undefined ? {} : ratesIn(models![name]!)
}

/** Number of nanodollars per token at a dollar per million tokens. */
const SCALE = 1000

/** Returns the prices of an account as rates. */
export function ratesIn({ above = {}, ...base }: AccountPrices): Rates {
  const kinds = Object.entries(base) as [TextKind, number][]
  return Object.fromEntries(kinds.map(([kind, dollars]) => [kind, rateOf(kind, dollars, above)]))
}

function rateOf(kind: TextKind, dollars: number, above: NonNullable<AccountPrices['above']>): Rate {
  const tiers = Object.entries(above).flatMap(([tokens, { [kind]: price }]) =>
    price === undefined ? [] : [{ above: Number(tokens), price: price * SCALE }],
  )
  return { base: dollars * SCALE, ...(tiers.length > 0 && { tiers }) }
}
