import type { Channel } from '../../api/types.ts'
import { named } from '../../i18n/catalogue.ts'
import { Badge } from '../../ui/badge.tsx'
import { Empty } from '../../ui/states.tsx'
import { When } from '../../ui/when.tsx'
import { text } from './texts.ts'

/** Last errors of a channel, newest first, with the upstream's messages. */
export function Errors({ of }: { readonly of: Channel['last_errors'] }) {
  const words = text().panel
  if (of.length === 0)
    return (
      <Empty icon="check" title={words.noErrors}>
        {words.noErrorsText}
      </Empty>
    )
  return (
    <>
      <p class="note">{words.errorsHint}</p>
      <ol class="channels-errors">
        {of.map((error, index) => (
          <li key={`${error.at} ${index}`}>
            <div>
              <Badge tone="bad">{named('kinds', error.kind)}</Badge>
              {error.status !== undefined && <span class="note">{words.status(error.status)}</span>}
              <code class="said">{error.model}</code>
              <span class="note channels-when">
                <When at={error.at} relative /> · <When at={error.at} />
              </span>
            </div>
            <p class="said">{error.message}</p>
          </li>
        ))}
      </ol>
    </>
  )
}
