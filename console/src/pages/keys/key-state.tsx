import type { Key } from '../../api/types.ts'
import { ago, time, timeOrDay } from '../../format.ts'
import { Badge, type Tone } from '../../ui/badge.tsx'
import { text } from './texts.ts'

export type KeyState = 'active' | 'disabled' | 'expired' | 'revoked'

/** Whether requests of a key are captured now. */
export const isCaptured = (key: Key): boolean => capturedUntil(key) !== undefined

const capturedUntil = ({ capture_until: until }: Key): string | undefined =>
  until !== undefined && Date.parse(until) > Date.now() ? until : undefined

/** State of a key, by revocation, expiry and `enabled`, in this order. */
export function stateOf({ revoked_at, expires_at, enabled }: Key): KeyState {
  if (revoked_at !== undefined) return 'revoked'
  if (expires_at !== undefined && Date.parse(expires_at) <= Date.now()) return 'expired'
  return enabled ? 'active' : 'disabled'
}

const TONES: { readonly [S in KeyState]: Tone } = {
  active: 'good',
  disabled: 'neutral',
  expired: 'warn',
  revoked: 'bad',
}

/** A key that expires within this number of days shows its expiry. */
const SOON = 30

/** Badges with the state, the expiry and the capture of a key. */
export function State({ row }: { readonly row: Key }) {
  const state = stateOf(row)
  const captured = capturedUntil(row)
  const expires = state === 'active' ? row.expires_at : undefined
  const isSoon = expires !== undefined && Date.parse(expires) - Date.now() < SOON * 86_400_000
  return (
    <span class="states">
      <Badge tone={TONES[state]} dot>
        {text().states[state]}
      </Badge>
      {captured && (
        <Badge tone="accent" title={time(captured, 'full')}>
          {text().states.capturing(timeOrDay(captured))}
        </Badge>
      )}
      {isSoon && (
        <Badge tone="warn" title={time(expires, 'full')}>
          {text().states.expires(ago(expires))}
        </Badge>
      )}
    </span>
  )
}
