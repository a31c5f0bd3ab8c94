import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { ProblemError } from '../api/problem.ts'
import { asProblem } from '../api/use-load.ts'
import { common } from '../i18n/common.ts'
import { Button } from './button.tsx'
import { Dialog } from './dialog.tsx'
import { Problem } from './states.tsx'

interface ConfirmProps {
  readonly title: string
  /** One or two sentences that say what the action does. */
  readonly children: ComponentChildren
  readonly action: string
  readonly danger?: boolean
  readonly onConfirm: () => Promise<unknown>
  readonly onClose: () => void
}

/** Dialog that asks before an action. If the action fails, the dialog stays open and shows the error. */
export function Confirm({ title, children, action, danger, onConfirm, onClose }: ConfirmProps) {
  const [error, setError] = useState<ProblemError>()
  const confirm = (): Promise<void> => onConfirm().then(onClose, thrown => setError(asProblem(thrown)))
  return (
    <Dialog
      title={title}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose} data-autofocus>
            {common().cancel}
          </Button>
          <Button kind={danger ? 'danger' : 'primary'} onClick={confirm}>
            {action}
          </Button>
        </>
      }
    >
      {children}
      {error && <Problem error={error} />}
    </Dialog>
  )
}
