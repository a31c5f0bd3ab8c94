import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { SecretOnce } from '../../ui/secret-once.tsx'
import { text } from './texts.ts'

interface PasswordOnceProps {
  readonly name: string
  readonly password: string
  readonly onClose: () => void
}

/** Dialog that shows a generated password once. */
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
      <SecretOnce secret={password} what={words.passwordOf} once={words.once} />
    </Dialog>
  )
}
