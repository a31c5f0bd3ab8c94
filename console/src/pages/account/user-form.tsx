import { useState } from 'preact/hooks'
import type { ProblemError } from '../../api/problem.ts'
import { post } from '../../api/request.ts'
import type { NewUser } from '../../api/types.ts'
import { asProblem } from '../../api/use-load.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { Field, Select } from '../../ui/field.tsx'
import { FormActions } from '../../ui/form-actions.tsx'
import { Problem } from '../../ui/states.tsx'
import { text } from './texts.ts'

const ROLES = ['viewer', 'admin'] as const

interface UserFormProps {
  readonly onMade: (name: string, password: string) => void
  readonly onClose: () => void
}

/** Form that creates a user. The gateway generates the password. */
export function UserForm({ onMade, onClose }: UserFormProps) {
  const words = text().users.form
  const [name, setName] = useState('')
  const [role, setRole] = useState<(typeof ROLES)[number]>('viewer')
  const [isTried, setTried] = useState(false)
  const [isBusy, setBusy] = useState(false)
  const [problem, setProblem] = useState<ProblemError>()
  const nameFault = name.trim() === '' ? words.required : (problem?.at('/name') ?? takenOf(problem))

  const submit = async (): Promise<void> => {
    setTried(true)
    setProblem(undefined)
    if (isBusy || name.trim() === '') return
    setBusy(true)
    await post<NewUser>('/users', { name: name.trim(), role }).then(
      user => onMade(user.name, user.password ?? ''),
      thrown => setProblem(asProblem(thrown)),
    )
    setBusy(false)
  }
  return (
    <Dialog
      title={words.title}
      onClose={onClose}
      onSubmit={submit}
      footer={<FormActions submit={words.submit} busy={isBusy} onClose={onClose} />}
    >
      <Field
        label={text().name}
        value={name}
        onValue={setName}
        error={isTried ? nameFault : undefined}
        autocomplete="off"
        autocapitalize="none"
        spellcheck={false}
        required
        data-autofocus
      />
      <Select
        label={words.role}
        value={role}
        onValue={setRole}
        options={ROLES.map(value => ({ value, label: text().roles[value] }))}
      />
      {problem && isTried && nameFault === undefined && <Problem error={problem} />}
    </Dialog>
  )
}

const takenOf = (problem: ProblemError | undefined): string | undefined =>
  problem?.type === 'name-taken' ? problem.message : undefined
