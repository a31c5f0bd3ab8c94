import type { Key } from '../../api/types.ts'
import { Select } from '../../ui/field.tsx'
import { text } from './texts.ts'

interface KeyChoiceProps {
  readonly keys: readonly Key[]
  /** Id of the key. Empty for all models. */
  readonly value: string
  readonly onValue: (id: string) => void
}

/** Select for the key whose models are shown. */
export function KeyChoice({ keys, value, onValue }: KeyChoiceProps) {
  const words = text().key
  const options = keys.map(({ id, name, group }) => ({ value: id, label: `${name} · ${group}` }))
  // A link can name a key that is revoked or was not loaded.
  const others = value !== '' && keys.every(({ id }) => id !== value) ? [{ value, label: words.other }] : []
  return (
    <Select
      label={words.label}
      value={value}
      onValue={onValue}
      options={[{ value: '', label: words.all }, ...options, ...others]}
    />
  )
}

/** Whether a key is accepted: enabled, not revoked and not expired. */
export const isValid = ({ enabled, expires_at, revoked_at }: Key): boolean =>
  enabled && revoked_at === undefined && (expires_at === undefined || Date.parse(expires_at) > Date.now())
