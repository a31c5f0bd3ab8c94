import { common } from '../i18n/common.ts'
import { Button } from './button.tsx'
import type { IconName } from './icon.tsx'

interface FormActionsProps {
  /** What the button that submits is called. */
  readonly submit: string
  readonly icon?: IconName
  readonly busy?: boolean
  readonly disabled?: boolean
  readonly onClose: () => void
}

/** The foot of a dialog with a form: leave it, or submit. */
export const FormActions = ({ submit, icon, busy = false, disabled = false, onClose }: FormActionsProps) => (
  <>
    <Button onClick={onClose}>{common().cancel}</Button>
    <Button kind="primary" type="submit" busy={busy} disabled={disabled} {...(icon === undefined ? {} : { icon })}>
      {submit}
    </Button>
  </>
)
