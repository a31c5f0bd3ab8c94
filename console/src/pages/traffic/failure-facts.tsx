import type { Request } from '../../api/types.ts'
import { type Failure, FailureText } from '../../catalogue/failure.tsx'
import { hrefOf } from '../../href.ts'
import { Card } from '../../ui/page.tsx'
import { text } from './texts.ts'

/** Address of a channel's errors. */
const errorsOf = (channel: string): string =>
  `${hrefOf('/channels')}?${new URLSearchParams({ channel, view: 'errors' })}`

interface Failed {
  readonly channel: string | undefined
  readonly failure: Failure
}

/** Failed attempts of a request in order, each with its reason and a link to the channel's errors. */
export function FailureFacts({ row }: { readonly row: Request }) {
  const words = text().failures
  const all: readonly Failed[] = [
    ...(row.tries ?? []).flatMap(({ channel, failure }) => (failure === undefined ? [] : [{ channel, failure }])),
    ...(row.failure === undefined ? [] : [{ channel: row.channel, failure: row.failure }]),
  ]
  if (all.length === 0) return null
  return (
    <Card title={row.failure === undefined ? words.earlier : words.title}>
      <ol class="failure-facts">
        {all.map(({ channel, failure }, index) => (
          <li key={index}>
            <FailureText of={failure} />
            {channel !== undefined && failure.reason !== 'gateway' && (
              <a href={errorsOf(channel)}>{words.ofChannel(channel)}</a>
            )}
          </li>
        ))}
      </ol>
    </Card>
  )
}
