import { useState } from 'preact/hooks'
import type { Overview } from '../../api/types.ts'
import { FailureText } from '../../catalogue/failure.tsx'
import { SpendBar, shareOf } from '../../catalogue/spend-bar.tsx'
import { ago, money, number, percent, time } from '../../format.ts'
import { hrefOf } from '../../href.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { text } from './texts.ts'

type Concern = Overview['concerns'][number]

/** Number of concerns shown at first. */
const SHOWN = 8

/** List of what needs an operator, the worst first, each with its reason and a link to the page that helps. */
export function ConcernList({ of }: { readonly of: readonly Concern[] }) {
  const [isWhole, setWhole] = useState(false)
  const shown = isWhole ? of : of.slice(0, SHOWN)
  return (
    <>
      <ul class="overview-concerns">
        {shown.map(one => (
          <ConcernRow key={keyOf(one)} of={one} />
        ))}
      </ul>
      {of.length > shown.length && (
        <Button small onClick={() => setWhole(true)}>
          {text().more(of.length - shown.length)}
        </Button>
      )}
    </>
  )
}

const keyOf = ({ kind, channel, model, ending, key, period, message }: Concern): string =>
  [kind, channel, model, ending, key, period, message].join(' ')

function ConcernRow({ of }: { readonly of: Concern }) {
  const words = text()
  const href = linkOf(of)
  const name = nameOf(of)
  return (
    <li class={of.severity}>
      <Badge tone={of.severity} dot>
        {words[of.severity]}
      </Badge>
      <div>
        <p>
          <strong>{words.kinds[of.kind]}</strong>{' '}
          {href === undefined ? <span class="said">{name}</span> : <a href={href}>{name}</a>}
          <When of={of} />
        </p>
        <Reason of={of} />
      </div>
    </li>
  )
}

/** The name of the thing: a channel, a model, a key. */
function nameOf({ kind, channel, model, ending, key, key_name, message }: Concern): string {
  if (kind === 'store' || kind === 'redis' || kind === 'config') return message ?? ''
  if (ending !== undefined) return `${channel} …${ending}`
  if (kind === 'unpriced' || kind === 'model-resting')
    return channel === undefined ? model! : `${model} ${text().at(channel)}`
  return channel ?? key_name ?? key ?? ''
}

function linkOf({ kind, channel, model, key }: Concern): string | undefined {
  const at = (path: string, query: Record<string, string>): string => `${hrefOf(path)}?${new URLSearchParams(query)}`
  if (kind === 'unpriced') return at('/models', { model: model! })
  if (channel !== undefined)
    return at('/channels', { channel, ...(kind.endsWith('failing') ? { view: 'errors' } : {}) })
  if (kind === 'limited' && key !== undefined) return at('/traffic', { key, only: 'errors' })
  return key === undefined ? undefined : at('/usage', { range: '30d', show: 'cost', by: 'model', key })
}

function When({ of: { since, until } }: { readonly of: Concern }) {
  const [at, said] = since === undefined ? [until, text().until] : [since, text().since]
  if (at === undefined) return null
  return (
    <span class="note" title={time(at, 'full')}>
      {' '}
      {said(ago(at))}
    </span>
  )
}

function Reason({ of }: { readonly of: Concern }) {
  const words = text()
  const { kind, failure, budget, period, requests } = of
  if (failure !== undefined) return <FailureText of={failure} />
  if (budget !== undefined && period !== undefined)
    return (
      <>
        <span class="note">
          {words.budget(money(budget.spent), money(budget.limit), percent(shareOf(budget)), period)}
        </span>
        <SpendBar of={budget} label={words.kinds.budget} />
      </>
    )
  if (kind === 'limited') return <span class="note">{words.limited(number(requests ?? 0))}</span>
  if (kind === 'unpriced') return <span class="note">{words.unpricedOf(number(requests ?? 0))}</span>
  return null
}
