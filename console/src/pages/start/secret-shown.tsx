import { Button } from '../../ui/button.tsx'
import { Copy } from '../../ui/copy.tsx'
import { Icon } from '../../ui/icon.tsx'
import { text } from './texts.ts'

interface SecretShownProps {
  readonly name: string
  readonly secret: string
  readonly onHide: () => void
}

/** The secret of a new key. */
export function SecretShown({ name, secret, onHide }: SecretShownProps) {
  const words = text().secret
  return (
    <section class="callout secret-shown" aria-label={words.title(name)}>
      <Icon name="keys" />
      <div>
        <strong>{words.title(name)}</strong>
        <p>{words.once}</p>
        <div class="secret-given">
          <code>{secret}</code>
          <Copy text={secret} what={words.what} kind="primary" small />
          <Button small kind="plain" onClick={onHide}>
            {words.hide}
          </Button>
        </div>
      </div>
    </section>
  )
}
