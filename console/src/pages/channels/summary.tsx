import type { Channel } from '../../api/types.ts'
import { rateText, toneOf } from '../../catalogue/error-rate.tsx'
import { number } from '../../format.ts'
import { Tile, Tiles } from '../../ui/facts.tsx'
import { text } from './texts.ts'

type Rate = Channel['last_5_minutes']

/** Totals of all channels: state, requests in flight and error rates. */
export function Summary({ of }: { readonly of: readonly Channel[] }) {
  const words = text().tiles
  const taking = of.filter(({ state }) => state === 'ok' || state === 'resting' || state === 'failing').length
  const flight = of.reduce((sum, { in_flight }) => sum + in_flight, 0)
  return (
    <Tiles>
      <Tile
        label={words.taking}
        value={number(taking)}
        note={words.ofAll(number(of.length))}
        tone={taking === 0 ? 'bad' : 'neutral'}
      />
      <Tile label={words.flight} value={number(flight)} />
      <RateTile label={words.five} of={together(of.map(one => one.last_5_minutes))} />
      <RateTile label={words.sixty} of={together(of.map(one => one.last_60_minutes))} />
    </Tiles>
  )
}

/** Key figure with an error rate. */
export function RateTile({ label, of }: { readonly label: string; readonly of: Rate }) {
  const words = text().tiles
  const { requests, errors } = of
  const note = requests === 0 ? words.noRequests : words.counts(number(errors), number(requests))
  return <Tile label={label} value={rateText(of)} note={note} tone={toneOf(of)} />
}

function together(rates: readonly Rate[]): Rate {
  const requests = rates.reduce((sum, rate) => sum + rate.requests, 0)
  const errors = rates.reduce((sum, rate) => sum + rate.errors, 0)
  return { requests, errors, error_rate: requests === 0 ? 0 : errors / requests }
}
