import { Copy } from './copy.tsx'
import { Icon } from './icon.tsx'

interface SecretOnceProps {
  readonly secret: string
  /** What it is, for the button that copies it. */
  readonly what: string
  /** That it is shown only now. */
  readonly once: string
}

/** A secret at the one time that it is shown. */
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
