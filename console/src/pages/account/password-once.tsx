import { Button } from '../../ui/button.tsx'
import { Copy } from '../../ui/copy.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Icon } from '../../ui/icon.tsx'
import { text } from './texts.ts'

interface PasswordOnceProps {
  readonly name: string
  readonly password: string
  readonly onClose: () => void
}

/** The one time that a password that was made up is shown. */
export function PasswordOnce({ name, password, onClose }: PasswordOnceProps) {
  const words = text().users
  return (
    <Dialog
      title={words.made(name)}
      onClose={onClose}
      sticky
      footer={
        <Button kind="primary" onClick={onClose}>
          {words.done}
        </Button>
      }
    >
      <p class="callout warn">
        <Icon name="warning" />
        <span>{words.once}</span>
      </p>
      <div class="secret">
        <code>{password}</code>
        <Copy text={password} what={words.passwordOf} kind="primary" autofocus />
      </div>
    </Dialog>
  )
}
