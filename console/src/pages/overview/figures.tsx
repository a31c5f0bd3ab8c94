import type { ComponentChildren } from 'preact'
import type { Overview } from '../../api/types.ts'
import { costText } from '../../catalogue/cost.ts'
import { SpendBar } from '../../catalogue/spend-bar.tsx'
import { money, number, percent } from '../../format.ts'
import { hrefOf } from '../../href.ts'
import { Sparkline } from '../../ui/sparkline.tsx'
import { text } from './texts.ts'

type OfOverview = { readonly of: Overview }

/** Key figures: requests, errors and spend of today beside yesterday, the month with its forecast, and caches. */
export function Figures({ of }: OfOverview) {
  const { today, yesterday, month, cache, hours } = of
  const words = text()
  const hour = hourOf(of.at)
  const before = (value: string): string => words.yesterday(value, hour)
  const share = (sum: Overview['today']): string => percent(sum.requests === 0 ? 0 : sum.errors / sum.requests)
  const requests = hours.map(one => one.requests)
  return (
    <dl class="overview-figures">
      <Figure label={words.tiles.requests} value={number(today.requests)} href="/usage?range=24h">
        <span>{before(number(yesterday.requests))}</span>
        <Sparkline values={requests} label={words.hours(number(requests.reduce((sum, one) => sum + one, 0)))} />
      </Figure>
      <Figure label={words.tiles.errors} value={number(today.errors)} tone={toneOf(today)} href="/traffic?only=errors">
        <span>
          {today.requests > 0 && `${words.ofRequests(share(today))} · `}
          {before(number(yesterday.errors))}
        </span>
      </Figure>
      <Figure label={words.tiles.spend} value={costText(today)} href="/usage?range=24h&show=cost">
        <span>{before(costText(yesterday))}</span>
        <Doubts of={today} />
      </Figure>
      <Figure label={words.tiles.month} value={costText(month)} href="/usage?range=30d&show=cost&by=key">
        {month.forecast !== undefined && <span>{words.forecast(money(month.forecast))}</span>}
        {month.budget && (
          <>
            <span>{words.ofBudget(money(month.budget.spent), money(month.budget.limit))}</span>
            <SpendBar of={month.budget} label={words.tiles.month} />
          </>
        )}
        <Doubts of={month} />
      </Figure>
      <Figure
        label={words.tiles.cache}
        value={cache.share === undefined ? '–' : percent(cache.share)}
        href="/usage?range=24h&show=tokens&by=nothing"
      >
        <span>
          {cache.share === undefined ? words.noTokens : cache.saved !== undefined && words.saved(money(cache.saved))}
        </span>
      </Figure>
    </dl>
  )
}

/** End of the current hour in UTC, to which yesterday is counted. */
const hourOf = (at: string): string => `${String((new Date(at).getUTCHours() + 1) % 24).padStart(2, '0')}:00 UTC`

const toneOf = ({ requests, errors }: Overview['today']): string =>
  requests > 0 && errors / requests >= 0.1 ? 'bad' : errors > 0 && errors / requests >= 0.01 ? 'warn' : ''

/** What makes a cost uncertain: unknown and estimated parts. */
const Doubts = ({ of: { unpriced, estimated } }: { readonly of: Overview['today'] }) => (
  <>
    {unpriced > 0 && <span>{text().unpriced(number(unpriced))}</span>}
    {estimated > 0 && <span>{text().estimated(number(estimated))}</span>}
  </>
)

interface FigureProps {
  readonly label: string
  readonly value: string
  readonly tone?: string
  /** Page with the details, below `/console`. */
  readonly href: string
  readonly children: ComponentChildren
}

const Figure = ({ label, value, tone = '', href, children }: FigureProps) => (
  <div>
    <dt>
      <a href={hrefOf(href)}>{label}</a>
    </dt>
    <dd class={`overview-value ${tone}`}>{value}</dd>
    <dd class="note">{children}</dd>
  </div>
)
