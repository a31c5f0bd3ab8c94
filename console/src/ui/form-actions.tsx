import { common } from '../i18n/common.ts'
import { Button } from './button.tsx'
import type { IconName } from './icon.tsx'

interface FormActionsProps {
  /** Label of the submit button. */
  readonly submit: string
  readonly icon?: IconName
  readonly busy?: boolean
  readonly disabled?: boolean
  readonly onClose: () => void
}

/** Footer of a form dialog: cancel and submit. */
export const FormActions = ({ submit, icon, busy = false, disabled = false, onClose }: FormActionsProps) => (
  <>
    <Button onClick={onClose}>{common().cancel}</Button>
    <Button kind="primary" type="submit" busy={busy} disabled={disabled} {...(icon === undefined ? {} : { icon })}>
      {submit}
    </Button>
  </>
)
