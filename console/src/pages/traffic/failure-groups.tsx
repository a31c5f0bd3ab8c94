import { get } from '../../api/request.ts'
import type { Failures } from '../../api/types.ts'
import { useLoad } from '../../api/use-load.ts'
import { FailureText } from '../../catalogue/failure.tsx'
import { number } from '../../format.ts'
import { Badge } from '../../ui/badge.tsx'
import { Card } from '../../ui/page.tsx'
import { When } from '../../ui/when.tsx'
import { addressOf } from './address.ts'
import { text } from './texts.ts'

/** Interval between two loads, in milliseconds. */
const AGAIN = 20_000
/** Number of groups that are shown. */
const SHOWN = 6

interface FailureGroupsProps {
  /** Query of the list, without `only`. */
  readonly query: { readonly [name: string]: string | undefined }
  readonly isLive: boolean
}

/** Failed requests of the last day, equal ones grouped, with a link to the latest of each. */
export function FailureGroups({ query, isLive }: FailureGroupsProps) {
  const words = text().failures
  const { only: _, ...filters } = query
  const loaded = useLoad(
    signal => get<Failures>('/failures', filters, signal),
    [JSON.stringify(filters)],
    isLive ? { every: AGAIN } : {},
  )
  const groups = loaded.data?.data ?? []
  if (groups.length === 0) return null
  return (
    <Card title={words.groups}>
      <ol class="failure-groups">
        {groups.slice(0, SHOWN).map(one => (
          <li key={one.request}>
            <Badge tone="bad">{words.count(number(one.count))}</Badge>
            <FailureText of={one} />
            <span class="note">
              {one.channel !== undefined && (
                <>
                  {[one.channel, one.model].filter(Boolean).join(' · ')}
                  <br />
                </>
              )}
              <When at={one.first_at} /> – <a href={addressOf(one.request)}>{<When at={one.at} relative />}</a>
            </span>
          </li>
        ))}
      </ol>
      {(groups.length > SHOWN || loaded.data?.complete === false) && <p class="note">{words.more}</p>}
    </Card>
  )
}
