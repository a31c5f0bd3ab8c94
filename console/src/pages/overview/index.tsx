import './overview.css'
import { get } from '../../api/request.ts'
import type { Overview } from '../../api/types.ts'
import { useLoad } from '../../api/use-load.ts'
import { number } from '../../format.ts'
import { Icon } from '../../ui/icon.tsx'
import { Card, Page } from '../../ui/page.tsx'
import { Loaded } from '../../ui/states.tsx'
import { ConcernList } from './concerns.tsx'
import { Details } from './details.tsx'
import { Figures } from './figures.tsx'
import { text } from './texts.ts'

/** Interval between two loads, in milliseconds. */
const AGAIN = 5000

/** Overview page: whether all is well, what needs an operator, and the figures of today and this month. */
export default function OverviewPage() {
  const overview = useLoad(signal => get<Overview>('/overview', {}, signal), [], { every: AGAIN })
  const words = text()
  return (
    <Page title={words.title} lead={words.lead}>
      <Loaded of={overview} lines={8}>
        {of => (
          <div class="overview">
            <Verdict of={of} />
            {of.concerns.length > 0 && (
              <Card title={words.concerns}>
                <ConcernList of={of.concerns} />
              </Card>
            )}
            <Figures of={of} />
            <Details of={of} />
          </div>
        )}
      </Loaded>
    </Page>
  )
}

/** One line that can be read from two metres: all is well, or how much is wrong. */
function Verdict({ of: { concerns, channels } }: { readonly of: Overview }) {
  const words = text()
  const bad = concerns.filter(one => one.severity === 'bad').length
  const warn = concerns.length - bad
  const tone = bad > 0 ? 'bad' : warn > 0 ? 'warn' : 'good'
  const said = [bad > 0 ? words.needs(bad) : '', warn > 0 ? words.watch(warn) : ''].filter(Boolean).join(' · ')
  return (
    <p class={`overview-verdict ${tone}`}>
      <Icon name={tone === 'good' ? 'check' : 'warning'} size={28} />
      <strong>{said === '' ? words.well : said}</strong>
      <span>{words.wellText(number(channels.ok), number(channels.all))}</span>
    </p>
  )
}
