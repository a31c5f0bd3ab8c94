import type { Channel } from '../../api/types.ts'
import { number } from '../../format.ts'
import { hrefOf } from '../../href.ts'
import { named } from '../../i18n/catalogue.ts'
import { Badge } from '../../ui/badge.tsx'
import { Empty } from '../../ui/states.tsx'
import { When } from '../../ui/when.tsx'
import { text } from './texts.ts'

/** Last errors of a channel, newest first, with the upstream's messages. */
export function Errors({ of: { name, last_errors: of } }: { readonly of: Channel }) {
  const words = text().panel
  if (of.length === 0)
    return (
      <Empty icon="check" title={words.noErrors}>
        {words.noErrorsText}
      </Empty>
    )
  return (
    <>
      <p class="note">
        {words.errorsHint}{' '}
        <a href={`${hrefOf('/traffic')}?${new URLSearchParams({ channel: name, only: 'errors' })}`}>
          {words.failedRequests}
        </a>
      </p>
      <ol class="channels-errors">
        {of.map((error, index) => (
          <li key={`${error.at} ${index}`}>
            <div>
              <Badge tone="bad">{named('kinds', error.kind)}</Badge>
              <strong>{named('reasons', error.reason)}</strong>
              {error.status !== undefined && <span class="note">{words.status(error.status)}</span>}
              {error.count > 1 && <Badge>{words.times(number(error.count))}</Badge>}
              <code class="said">{error.model}</code>
              <span class="note channels-when">
                <When at={error.at} relative /> ·{' '}
                {error.count > 1 && (
                  <>
                    <When at={error.first_at} /> –{' '}
                  </>
                )}
                <When at={error.at} />
              </span>
            </div>
            <p class="said">{error.message}</p>
            {error.request !== undefined && (
              <a href={`${hrefOf('/traffic')}?request=${encodeURIComponent(error.request)}`}>{words.lastRequest}</a>
            )}
          </li>
        ))}
      </ol>
    </>
  )
}
