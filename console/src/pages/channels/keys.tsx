import type { Channel } from '../../api/types.ts'
import { number } from '../../format.ts'
import { Badge, type Tone } from '../../ui/badge.tsx'
import { When } from '../../ui/when.tsx'
import { text } from './texts.ts'

type PooledKey = NonNullable<Channel['keys']>[number]

const TONES: { readonly [S in PooledKey['state']]: Tone } = {
  ...{ ok: 'good', failing: 'bad', resting: 'warn', refused: 'bad', full: 'bad' },
}

/** The keys of a channel's pool, each by its last characters. */
export const Keys = ({ of }: { readonly of: readonly PooledKey[] }) => (
  <ul class="channels-list">
    {of.map((key, index) => (
      // The endings of two keys may be equal.
      <li key={`${index} ${key.ending}`}>
        <code>…{key.ending}</code>{' '}
        <Badge tone={TONES[key.state]} dot>
          {text().panel.keyStates[key.state]}
        </Badge>{' '}
        <span class="note">
          {text().panel.keyLoad(number(key.in_flight), `${number(Math.round(key.last_5_minutes.error_rate * 100))} %`)}
          {key.resting_until !== undefined && (
            <>
              {' · '}
              <When at={key.resting_until} relative />
            </>
          )}
        </span>
      </li>
    ))}
  </ul>
)
