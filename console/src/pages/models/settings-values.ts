import { fallbacksIn, linesOfFallbacks, type WrittenFallback } from '../../catalogue/fallback-lines.ts'
import { isRecord, type JsonRecord } from '../../record.ts'

/** An entry of `models` as the config file has it. */
export type WrittenSettings = JsonRecord

export const PRICES = ['input', 'output', 'cache_read', 'cache_write'] as const
export const LIMITS = ['context', 'max_output'] as const
export const ORDERS = ['weight', 'latency', 'cost'] as const

/** Contents of the form. */
export interface SettingsValues {
  readonly id: string
  readonly name: string
  readonly order: string
  /** Prices and limits by their paths: `price.input`, `context`. */
  readonly numbers: { readonly [path: string]: string }
  readonly fallbacks: string
  /** All other fields, as JSON. Also those of `price`. */
  readonly more: string
}

const PATHS = [...PRICES.map(kind => `price.${kind}`), ...LIMITS]

/** Reads settings into the form. */
export function valuesOf(id: string, settings: WrittenSettings): SettingsValues {
  const { name, order, fallbacks, price, context, max_output, ...rest } = settings
  const prices = (price ?? {}) as WrittenSettings
  const otherPrices = Object.entries(prices).filter(([kind]) => !(PRICES as readonly string[]).includes(kind))
  const more = otherPrices.length === 0 ? rest : { ...rest, price: Object.fromEntries(otherPrices) }
  const numbers: WrittenSettings = {
    ...Object.fromEntries(PRICES.map(kind => [`price.${kind}`, prices[kind]])),
    ...{ context, max_output },
  }
  return {
    ...{ id, name: String(name ?? ''), order: String(order ?? '') },
    numbers: Object.fromEntries(PATHS.map(path => [path, numbers[path] === undefined ? '' : String(numbers[path])])),
    fallbacks: linesOfFallbacks((fallbacks ?? []) as readonly WrittenFallback[]),
    more: Object.keys(more).length === 0 ? '' : JSON.stringify(more, null, 2),
  }
}

/** The settings that the form describes. Throws a SyntaxError if the further fields are no JSON. */
export function settingsOf({ name, order, numbers, fallbacks, more }: SettingsValues): WrittenSettings {
  const settings: Record<string, unknown> = more.trim() === '' ? {} : (JSON.parse(more) as Record<string, unknown>)
  if (name.trim() !== '') settings['name'] = name.trim()
  if (order !== '') settings['order'] = order
  const price: Record<string, unknown> = isRecord(settings['price']) ? { ...settings['price'] } : {}
  for (const kind of PRICES) put(price, kind, numbers[`price.${kind}`])
  if (Object.keys(price).length > 0) settings['price'] = price
  for (const limit of LIMITS) put(settings, limit, numbers[limit])
  const listed = fallbacksIn(fallbacks)
  if (listed !== undefined) settings['fallbacks'] = listed
  return settings
}

/** Puts a number. What is none is sent as written, so that the gateway names the fault. */
function put(into: Record<string, unknown>, field: string, text = ''): void {
  if (text.trim() === '') return
  const value = Number(text)
  into[field] = Number.isFinite(value) ? value : text
}
