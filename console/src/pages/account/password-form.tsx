import { useState } from 'preact/hooks'
import type { ProblemError } from '../../api/problem.ts'
import { put } from '../../api/request.ts'
import { asProblem } from '../../api/use-load.ts'
import { session } from '../../session-state.ts'
import { Button } from '../../ui/button.tsx'
import { Field } from '../../ui/field.tsx'
import { Card } from '../../ui/page.tsx'
import { Problem } from '../../ui/states.tsx'
import { toast } from '../../ui/toast.tsx'
import { text } from './texts.ts'

const NOTHING = { current: '', password: '', again: '' }
const SHORTEST = 10

type Values = typeof NOTHING

/** Form that changes the user's password. */
export function PasswordForm() {
  const words = text().password
  const [values, setValues] = useState(NOTHING)
  const [isTried, setTried] = useState(false)
  const [isBusy, setBusy] = useState(false)
  const [problem, setProblem] = useState<ProblemError>()
  const faults = faultsOf(values)

  const submit = async (event: Event): Promise<void> => {
    event.preventDefault()
    setTried(true)
    setProblem(undefined)
    if (isBusy || Object.values(faults).some(fault => fault !== undefined)) return
    setBusy(true)
    try {
      await put('/session/password', { current: values.current, password: values.password })
      setValues(NOTHING)
      setTried(false)
      toast(words.done)
    } catch (thrown) {
      setProblem(asProblem(thrown))
    }
    setBusy(false)
  }
  const field = (name: keyof Values, label: string, hint?: string) => (
    <Field
      label={label}
      hint={hint}
      type="password"
      value={values[name]}
      onValue={value => setValues(before => ({ ...before, [name]: value }))}
      error={isTried ? (faults[name] ?? problem?.at(`/${name}`)) : undefined}
      autocomplete={name === 'current' ? 'current-password' : 'new-password'}
      required
    />
  )
  return (
    <Card title={words.title}>
      <form class="stack" noValidate onSubmit={submit}>
        {/* Password managers need the user name in the form. */}
        <input type="text" autocomplete="username" value={session.value!.user.name} readOnly hidden />
        {field('current', words.current)}
        {field('password', words.fresh, words.freshHint)}
        {field('again', words.again)}
        {problem && problem.errors.length === 0 && <Problem error={problem} />}
        <div class="actions">
          <Button kind="primary" type="submit" busy={isBusy}>
            {words.submit}
          </Button>
        </div>
      </form>
    </Card>
  )
}

function faultsOf({ current, password, again }: Values): { readonly [F in keyof Values]: string | undefined } {
  const words = text().password
  return {
    current: current === '' ? words.missing : undefined,
    password: [...password].length < SHORTEST ? words.tooShort : undefined,
    again: again === password ? undefined : words.differ,
  }
}
