import type { Key } from '../../api/types.ts'
import { Select } from '../../ui/field.tsx'
import { text } from './texts.ts'

interface KeyChoiceProps {
  readonly keys: readonly Key[]
  /** The id of the key; empty for all models. */
  readonly value: string
  readonly onValue: (id: string) => void
}

/** Whose models are shown. */
export function KeyChoice({ keys, value, onValue }: KeyChoiceProps) {
  const words = text().key
  const options = keys.map(({ id, name, group }) => ({ value: id, label: `${name} · ${group}` }))
  // By a link to a key that is revoked, or beyond those that are loaded.
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

/** Whether a key lets anybody in. */
export const isValid = ({ enabled, expires_at, revoked_at }: Key): boolean =>
  enabled && revoked_at === undefined && (expires_at === undefined || Date.parse(expires_at) > Date.now())
