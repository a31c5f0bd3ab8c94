import type { NewKey, Settings } from '../../api/types.ts'
import { freshKey } from '../../fresh-key.ts'
import { hrefOf } from '../../href.ts'
import { Button } from '../../ui/button.tsx'
import { Code } from '../../ui/code.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { SecretOnce } from '../../ui/secret-once.tsx'
import { text } from './texts.ts'

interface SecretDialogProps {
  readonly of: NewKey
  readonly why: 'made' | 'rotated'
  readonly settings: Settings | undefined
  readonly onClose: () => void
}

/** Dialog that shows a new secret once, with shell settings. */
export function SecretDialog({ of, why, settings, onClose }: SecretDialogProps) {
  const words = text().secret
  const address = settings?.public_urls[0]?.replace(/\/$/, '') ?? location.origin
  return (
    <Dialog
      title={words[why](of.name)}
      onClose={onClose}
      sticky
      wide
      footer={
        <Button kind="primary" onClick={onClose}>
          {words.done}
        </Button>
      }
    >
      <SecretOnce secret={of.secret} what={words.secret} once={words.once} />
      <Code label={words.settings} text={shellSettings(address, of.secret)} />
      <p class="faint">
        <a href={hrefOf('/start')} onClick={() => (freshKey.value = { name: of.name, secret: of.secret })}>
          {words.more}
        </a>
      </p>
    </Dialog>
  )
}

/** Environment variables that the tools and SDKs of OpenAI, Anthropic and Google read. */
const shellSettings = (address: string, secret: string): string =>
  [
    `export ANTHROPIC_BASE_URL=${address}`,
    `export ANTHROPIC_AUTH_TOKEN=${secret}`,
    `export OPENAI_BASE_URL=${address}/v1`,
    `export OPENAI_API_KEY=${secret}`,
    `export GOOGLE_GEMINI_BASE_URL=${address}`,
    `export GEMINI_API_KEY=${secret}`,
  ].join('\n')
