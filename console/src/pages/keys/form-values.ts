import type { Group, Key } from '../../api/types.ts'

/** What is written into the fields of a form. */
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
  readonly onLoss: 'group' | 'show' | 'refuse'
  readonly expires: string
  readonly enabled: boolean
}

/** Fields of keys and groups that a form shows. */
type Shown = { readonly [F in keyof (Key & Group)]?: (Key & Group)[F] | undefined }

export type SetValue = <F extends keyof FormValues>(field: F, value: FormValues[F]) => void

const text = (value: number | undefined): string => (value === undefined ? '' : String(value))

/** What a key or group has, as a form has it; an empty form without one. */
export function valuesOf(of: Shown = {}): FormValues {
  return {
    ...{ name: of.name ?? '', group: of.group ?? 'default', note: of.note ?? '' },
    ...{ rpm: text(of.rpm), tpm: text(of.tpm), concurrent: text(of.concurrent) },
    ...{ day: text(of.budget?.day), month: text(of.budget?.month) },
    ...{ models: (of.models ?? []).join('\n'), doors: of.doors ?? [], channels: (of.channels ?? []).join('\n') },
    ...{ onLoss: of.on_loss ?? 'group', enabled: of.enabled ?? true },
    expires: minuteOf(of),
  }
}

/** The end of a key as the browser's field for times has it: to the minute, in UTC. */
const minuteOf = (of: Pick<Shown, 'expires_at'> = {}): string => of.expires_at?.slice(0, 16) ?? ''
const endOf = (minute: string): string | null => (minute === '' ? null : `${minute.slice(0, 16)}:00Z`)

export const NUMBERS = ['rpm', 'tpm', 'concurrent', 'day', 'month'] as const
export type NumberField = (typeof NUMBERS)[number]

/** Whether a field of numbers holds one, or nothing. */
export const isNumber = (value: string): boolean => value.trim() === '' || /^\d+(\.\d+)?$/.test(value.trim())

const number = (value: string): number | null => (value.trim() === '' ? null : Number(value))
const lines = (value: string): readonly string[] | null => {
  const all = value
    .split(/[\n,]/)
    .map(line => line.trim())
    .filter(line => line !== '')
  return all.length === 0 ? null : all
}

/** What keys and groups have in common, as the API takes it; null for what is empty. */
export const permissionsOf = (values: FormValues) => ({
  ...{ rpm: number(values.rpm), tpm: number(values.tpm), concurrent: number(values.concurrent) },
  budget: { day: number(values.day), month: number(values.month) },
  models: lines(values.models),
  doors: values.doors.length === 0 ? null : values.doors,
  on_loss: values.onLoss === 'group' ? null : values.onLoss,
})

/** @param before the key as it is: its form has the minute of its end alone. */
export const keyBody = (values: FormValues, before?: Key) => ({
  ...{ name: values.name.trim(), group: values.group, note: values.note.trim() === '' ? null : values.note.trim() },
  ...permissionsOf(values),
  enabled: values.enabled,
  expires_at: values.expires === minuteOf(before) ? (before?.expires_at ?? null) : endOf(values.expires),
})

export const groupBody = (values: FormValues) => ({ ...permissionsOf(values), channels: lines(values.channels) })
