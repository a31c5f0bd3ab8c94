import { useState } from 'preact/hooks'
import type { ProblemError } from '../../api/problem.ts'
import { post } from '../../api/request.ts'
import type { Key, NewKey } from '../../api/types.ts'
import { asProblem } from '../../api/use-load.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { Select } from '../../ui/field.tsx'
import { FormActions } from '../../ui/form-actions.tsx'
import { Problem } from '../../ui/states.tsx'
import { text } from './texts.ts'

interface RotateDialogProps {
  readonly of: Key
  readonly onRotated: (key: NewKey) => void
  readonly onClose: () => void
}

const GRACES = ['0s', '1h', '24h', '7d', '30d'] as const
type Grace = (typeof GRACES)[number]

/** Dialog that gives a key a new secret. The old secret stays valid for the chosen grace period. */
export function RotateDialog({ of, onRotated, onClose }: RotateDialogProps) {
  const words = text().rotate
  const [grace, setGrace] = useState<Grace>('24h')
  const [isBusy, setBusy] = useState(false)
  const [problem, setProblem] = useState<ProblemError>()
  const rotate = (): void => {
    setBusy(true)
    post<NewKey>(`/keys/${encodeURIComponent(of.id)}/rotate`, { grace })
      .then(onRotated, thrown => setProblem(asProblem(thrown)))
      .finally(() => setBusy(false))
  }
  return (
    <Dialog
      title={words.title(of.name)}
      onClose={onClose}
      onSubmit={rotate}
      footer={<FormActions submit={words.submit} busy={isBusy} onClose={onClose} />}
    >
      <p>{words.text}</p>
      <Select
        label={words.grace}
        value={grace}
        onValue={setGrace}
        options={GRACES.map(value => ({ value, label: words.graces[value] }))}
        data-autofocus
      />
      {problem && <Problem error={problem} />}
    </Dialog>
  )
}
