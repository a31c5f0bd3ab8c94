import type { TranslateExample } from '../../api/types.ts'
import { formatName } from '../../i18n/formats.ts'
import { Button } from '../../ui/button.tsx'
import { Empty } from '../../ui/states.tsx'
import { exampleName, text } from './texts.ts'

type What = Pick<TranslateExample, 'format' | 'kind' | 'name'>

/** Examples to start with. */
const FIRST: readonly What[] = [
  { format: 'messages', kind: 'request', name: 'showcase' },
  { format: 'chat', kind: 'request', name: 'showcase' },
  { format: 'responses', kind: 'events', name: 'reasoning' },
  { format: 'contents', kind: 'result', name: 'tool-call' },
  { format: 'images', kind: 'request', name: 'hello' },
]

interface BeginningProps {
  readonly onChoose: (what: What) => void
  readonly onMore: () => void
}

/** Placeholder of the results while there is no text. */
export const Beginning = ({ onChoose, onMore }: BeginningProps) => (
  <section class="card flush">
    <Empty icon="translator" title={text().emptyTitle}>
      {text().empty}
    </Empty>
    <div class="first">
      {FIRST.map(what => (
        <button key={what.format} type="button" onClick={() => onChoose(what)}>
          <strong>{formatName(what.format)}</strong>
          <span>
            {text().kindsOfText[what.kind]} · {exampleName(what.name)}
          </span>
        </button>
      ))}
      <Button kind="plain" onClick={onMore}>
        {text().moreExamples}
      </Button>
    </div>
  </section>
)
