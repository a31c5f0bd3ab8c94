import type { Model } from '../api/types.ts'
import { money } from '../format.ts'
import { catalogue } from '../i18n/catalogue.ts'

/** Units other than tokens by which models are billed. */
const UNITS = ['image', 'characters', 'video_second', 'minute', 'session_minute', 'search'] as const
type Unit = (typeof UNITS)[number]

/** Returns the units other than tokens that have a price. */
export const pricedUnits = (price: Model['price'] = {}): readonly Unit[] =>
  UNITS.filter(unit => price[unit] !== undefined)

/** Returns true if a model has a price of tokens. */
export const hasTokenPrice = (price: Model['price']): boolean =>
  price?.input !== undefined || price?.output !== undefined

interface UnitPriceProps {
  readonly of: NonNullable<Model['price']>
}

/** The price of a model without a price of tokens, such as `$0.04 per image`. */
export function UnitPrice({ of }: UnitPriceProps) {
  const [unit] = pricedUnits(of)
  if (unit === undefined) return null
  return (
    <span>
      {money(of[unit])} <span class="faint">{catalogue().perUnit[unit]}</span>
    </span>
  )
}
