import type { Group, Key } from '../../api/types.ts'
import { fallbacksIn, linesOfFallbacks } from '../../catalogue/fallback-lines.ts'
import { linesIn } from '../../lines.ts'

/** Contents of a form's fields. */
export interface FormValues {
  readonly name: string
  readonly group: string
  readonly note: string
  readonly rpm: string
  readonly tpm: string
  readonly concurrent: string
  readonly day: string
  readonly month: string
  readonly models: string
  readonly doors: readonly string[]
  readonly channels: string
  /** Fallback models of a group, one per line. */
  readonly fallbacks: string
  readonly onLoss: 'group' | 'show' | 'refuse'
  readonly expires: string
  readonly enabled: boolean
}

/** Fields of keys and groups that the forms edit. */
type Shown = { readonly [F in keyof (Key & Group)]?: (Key & Group)[F] | undefined }

export type SetValue = <F extends keyof FormValues>(field: F, value: FormValues[F]) => void

const text = (value: number | undefined): string => (value === undefined ? '' : String(value))

/** Converts a key or group to form values. Without one, an empty form. */
export function valuesOf(of: Shown = {}): FormValues {
  return {
    ...{ name: of.name ?? '', group: of.group ?? 'default', note: of.note ?? '' },
    ...{ rpm: text(of.rpm), tpm: text(of.tpm), concurrent: text(of.concurrent) },
    ...{ day: text(of.budget?.day), month: text(of.budget?.month) },
    ...{ models: (of.models ?? []).join('\n'), doors: of.doors ?? [], channels: (of.channels ?? []).join('\n') },
    ...{ onLoss: of.on_loss ?? 'group', enabled: of.enabled ?? true },
    fallbacks: linesOfFallbacks(of.fallbacks ?? []),
    expires: minuteOf(of),
  }
}

/** Converts an expiry time to the value of a `datetime-local` field: to the minute, in UTC. */
const minuteOf = (of: Pick<Shown, 'expires_at'> = {}): string => of.expires_at?.slice(0, 16) ?? ''
const endOf = (minute: string): string | null => (minute === '' ? null : `${minute.slice(0, 16)}:00Z`)

/** Returns true for an expiry in the past. The field is in UTC and easily taken for local time. */
export const isPast = (minute: string, now = Date.now()): boolean => Date.parse(endOf(minute) ?? '') <= now

/** Names of the number fields. */
export const NUMBERS = ['rpm', 'tpm', 'concurrent', 'day', 'month'] as const
export type NumberField = (typeof NUMBERS)[number]

/**
 * Returns true if a number field is empty or holds a valid number. JavaScript writes tiny numbers with an exponent. A
 * number without end would become null in JSON, which removes the limit.
 */
export const isNumber = (value: string): boolean =>
  value.trim() === '' || (/^\d+(\.\d+)?(e[+-]?\d+)?$/i.test(value.trim()) && Number.isFinite(Number(value)))

const number = (value: string): number | null => (value.trim() === '' ? null : Number(value))
/** The items of a field, one per line or with commas between them, also those of Chinese keyboards. */
const lines = (value: string): readonly string[] | null => {
  const all = linesIn(value, /[\n,，、]/)
  return all.length === 0 ? null : all
}

/** API fields that keys and groups share. An empty form field becomes null. */
export const permissionsOf = (values: FormValues) => ({
  ...{ rpm: number(values.rpm), tpm: number(values.tpm), concurrent: number(values.concurrent) },
  budget: { day: number(values.day), month: number(values.month) },
  models: lines(values.models),
  doors: values.doors.length === 0 ? null : values.doors,
  on_loss: values.onLoss === 'group' ? null : values.onLoss,
})

/**
 * API body of a key.
 *
 * @param before the stored key. The form rounds its expiry to the minute, so an unchanged expiry is sent as stored.
 */
export const keyBody = (values: FormValues, before?: Key) => ({
  ...{ name: values.name.trim(), group: values.group, note: values.note.trim() === '' ? null : values.note.trim() },
  ...permissionsOf(values),
  enabled: values.enabled,
  expires_at: values.expires === minuteOf(before) ? (before?.expires_at ?? null) : endOf(values.expires),
})

/** API body of a group. */
export const groupBody = (values: FormValues) => ({
  ...permissionsOf(values),
  channels: lines(values.channels),
  fallbacks: fallbacksIn(values.fallbacks) ?? null,
})
