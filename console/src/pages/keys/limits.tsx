import type { Key } from '../../api/types.ts'
import { money, number } from '../../format.ts'
import { text } from './texts.ts'

type Limits = Pick<Key, 'rpm' | 'tpm' | 'concurrent' | 'budget'>

const dollars = (value: number): string => money(value, { round: true })

/** Limits of a key or group, one string for each. */
export function limitsOf({ rpm, tpm, concurrent, budget }: Limits): readonly string[] {
  const words = text().limit
  const rows: readonly (readonly [(value: string) => string, number | undefined, (value: number) => string])[] = [
    [words.rpm, rpm, number],
    [words.tpm, tpm, value => number(value, { short: true })],
    [words.concurrent, concurrent, number],
    [words.day, budget?.day, dollars],
    [words.month, budget?.month, dollars],
  ]
  const said = rows.flatMap(([say, value, write]) => (value === undefined ? [] : [say(write(value))]))
  return budget?.unknown === 'refuse' ? [...said, words.knownPrices] : said
}

interface LimitsProps {
  readonly of: Limits
  /** Text for no limits. */
  readonly none: string
}

/** Table cell with the limits of a key or group. */
export function LimitsCell({ of, none }: LimitsProps) {
  const all = limitsOf(of)
  if (all.length === 0) return <span class="faint">{none}</span>
  return (
    <span class="lines">
      {all.map(one => (
        <span key={one}>{one}</span>
      ))}
    </span>
  )
}
