import { useState } from 'preact/hooks'
import type { ProblemError } from '../../api/problem.ts'
import { asProblem } from '../../api/use-load.ts'
import { type FormValues, isNumber, isPast, NUMBERS, type SetValue } from './form-values.ts'
import { text } from './texts.ts'

/** JSON pointer of each form field in the API body, for finding the field of an error. */
const POINTERS: { readonly [F in keyof FormValues]?: string } = {
  ...{ name: '/name', group: '/group', note: '/note', rpm: '/rpm', tpm: '/tpm', concurrent: '/concurrent' },
  ...{ day: '/budget/day', month: '/budget/month', models: '/models', doors: '/doors', channels: '/channels' },
  ...{ expires: '/expires_at', fallbacks: '/fallbacks' },
}

/** State and actions of a form. */
export interface Form {
  readonly values: FormValues
  readonly set: SetValue
  /** Error of a field, found by the form before sending or by the gateway. */
  readonly errorAt: (field: keyof FormValues) => string | undefined
  /** Error that belongs to no field. */
  readonly problem: ProblemError | undefined
  readonly isBusy: boolean
  /** Sends the form if its fields are valid. */
  readonly submit: () => Promise<void>
}

/** Hook with the state of a form. `send` makes the API call and rejects with ProblemError. */
export function useForm(initial: FormValues, send: (values: FormValues) => Promise<void>): Form {
  const [values, setValues] = useState(initial)
  const [problem, setProblem] = useState<ProblemError>()
  const [isTried, setTried] = useState(false)
  const [isBusy, setBusy] = useState(false)

  const faultOf = (field: keyof FormValues): string | undefined => {
    if (field === 'name' && values.name.trim() === '') return text().form.required
    if (NUMBERS.some(one => one === field) && !isNumber(values[field] as string)) return text().form.notANumber
    if (field === 'expires' && values.expires !== initial.expires && isPast(values.expires)) return text().form.past
    return undefined
  }
  const refusalOf = (field: keyof FormValues): string | undefined => {
    if (field === 'name' && problem?.type === 'name-taken') return problem.message
    const pointer = POINTERS[field]
    return problem?.errors.find(one => one.pointer === pointer || one.pointer?.startsWith(`${pointer}/`))?.detail
  }
  const fields = Object.keys(POINTERS) as (keyof FormValues)[]

  const submit = async (): Promise<void> => {
    setTried(true)
    setProblem(undefined)
    if (isBusy || fields.some(field => faultOf(field) !== undefined)) return
    setBusy(true)
    await send(values).catch(thrown => setProblem(asProblem(thrown)))
    setBusy(false)
  }
  return {
    ...{ values, isBusy, submit },
    set: (field, value) => setValues(before => ({ ...before, [field]: value })),
    errorAt: field => (isTried ? (faultOf(field) ?? refusalOf(field)) : undefined),
    problem: fields.some(field => refusalOf(field) !== undefined) ? undefined : problem,
  }
}
