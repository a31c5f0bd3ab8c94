import { Copy } from './copy.tsx'
import { Icon } from './icon.tsx'

interface SecretOnceProps {
  readonly secret: string
  /** Name of the secret for the copy button. */
  readonly what: string
  /** Warning that the secret is shown only once. */
  readonly once: string
}

/** A new secret with a warning that it is shown only once. */
export const SecretOnce = ({ secret, what, once }: SecretOnceProps) => (
  <>
    <p class="callout warn">
      <Icon name="warning" />
      <span>{once}</span>
    </p>
    <div class="secret">
      <code>{secret}</code>
      <Copy text={secret} what={what} kind="primary" autofocus />
    </div>
  </>
)
