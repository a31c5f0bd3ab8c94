import type { ChannelTest } from '../../api/types.ts'
import { duration } from '../../format.ts'
import { named } from '../../i18n/catalogue.ts'
import { formatName } from '../../i18n/formats.ts'
import { Badge } from '../../ui/badge.tsx'
import { When } from '../../ui/when.tsx'
import { Findings } from './findings.tsx'
import { text } from './texts.ts'

/** A test's result with its time. */
export interface Tested extends ChannelTest {
  readonly at: string
}

/** Shows the result of one test. */
export function TestResult({ of }: { readonly of: Tested }) {
  const words = text().test
  const { ok, model, format, work, status, error, latency_ms: ms } = of
  return (
    <li class={ok ? 'good' : 'bad'}>
      <div>
        <Badge tone={ok ? 'good' : 'bad'} dot>
          {ok ? words.ok : words.failed}
        </Badge>
        <strong>{ok ? words.in(duration(ms)) : words.after(duration(ms))}</strong>
        {error && <span>{named('kinds', error.kind)}</span>}
        {status !== undefined && <span class="note">{text().panel.status(status)}</span>}
        <span class="note channels-when">
          <When at={of.at} />
        </span>
      </div>
      {error && <p class="said">{error.message}</p>}
      <Findings of={of.findings.filter(({ level }) => level !== 'ok')} />
      {of.text !== undefined && <q class="said">{of.text}</q>}
      <p class="note">
        {[model, format && formatName(format), named('works', work)].filter(Boolean).map((part, index) => (
          <span key={index}>
            {index > 0 && ' · '}
            <span class="said">{part}</span>
          </span>
        ))}
      </p>
    </li>
  )
}
