import { useState } from 'preact/hooks'
import type { ProblemError } from '../../api/problem.ts'
import { get, post } from '../../api/request.ts'
import type { Group, NewKey, PageOf } from '../../api/types.ts'
import { asProblem, useLoad } from '../../api/use-load.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { Field, Select } from '../../ui/field.tsx'
import { FormActions } from '../../ui/form-actions.tsx'
import { Problem } from '../../ui/states.tsx'
import { text } from './texts.ts'

interface NewKeyDialogProps {
  readonly onMade: (key: NewKey) => void
  readonly onClose: () => void
}

const DEFAULT = 'default'

/** Dialog that creates a key with a name and a group. The Keys page has all other settings. */
export function NewKeyDialog({ onMade, onClose }: NewKeyDialogProps) {
  const [name, setName] = useState('')
  const [group, setGroup] = useState(DEFAULT)
  const [problem, setProblem] = useState<ProblemError>()
  const [isBusy, setBusy] = useState(false)
  const groups = useLoad(signal => get<PageOf<Group>>('/groups', {}, signal))
  const words = text().newKey
  const names = [...new Set([DEFAULT, ...(groups.data?.data ?? []).map(one => one.name)])]
  const make = async (): Promise<void> => {
    if (isBusy || name.trim() === '') return
    setBusy(true)
    try {
      onMade(await post<NewKey>('/keys', { name: name.trim(), group }))
    } catch (thrown) {
      setProblem(asProblem(thrown))
      setBusy(false)
    }
  }
  const ofName = problem?.at('/name')
  return (
    <Dialog
      title={words.title}
      onClose={onClose}
      onSubmit={make}
      footer={<FormActions submit={words.make} busy={isBusy} disabled={name.trim() === ''} onClose={onClose} />}
    >
      {problem && ofName === undefined && <Problem error={problem} />}
      <Field
        label={words.name}
        hint={words.nameHint}
        value={name}
        onValue={setName}
        error={ofName === undefined ? undefined : problem?.message}
        data-autofocus
        autocomplete="off"
        spellcheck={false}
        placeholder="claude-code-ada"
      />
      <Select
        label={words.group}
        hint={words.groupHint}
        value={group}
        onValue={setGroup}
        options={names.map(value => ({ value, label: value }))}
      />
    </Dialog>
  )
}
