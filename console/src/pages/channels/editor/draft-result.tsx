import { number } from '../../../format.ts'
import { named } from '../../../i18n/catalogue.ts'
import { Badge } from '../../../ui/badge.tsx'
import { Fact, Facts } from '../../../ui/facts.tsx'
import { Findings } from '../findings.tsx'
import { TestResult } from '../test-result.tsx'
import { text } from '../texts.ts'
import { Waiting } from '../waiting.tsx'
import type { Editor } from './use-editor.ts'
import { Yaml } from './yaml.tsx'

/** Result of the live test: the answer, findings, what the channel can do, its models, and the text for the file. */
export function DraftResult({ editor }: { readonly editor: Editor }) {
  const words = text().editor
  const { busy, tested, isStale } = editor
  return (
    <div role="status" class="stack">
      {busy === 'test' && <Waiting />}
      {busy !== 'test' && tested !== undefined && (
        <>
          {isStale && <p class="note">{words.stale}</p>}
          <ol class="channels-results" aria-label={text().test.results}>
            <TestResult of={{ at: new Date().toISOString(), ...tested }} />
          </ol>
          <Findings of={tested.findings} />
          <Facts>
            <Fact label={words.does}>
              <span class="badges">
                {tested.does.map(work => (
                  <Badge key={work}>{named('works', work)}</Badge>
                ))}
              </span>
            </Fact>
            {tested.models !== undefined && (
              <Fact label={words.listed(number(tested.model_count ?? tested.models.length))}>
                <ListedModels of={tested.models} editor={editor} />
              </Fact>
            )}
          </Facts>
          <Yaml of={tested} />
        </>
      )}
    </div>
  )
}

/** Models shown as buttons. The rest is counted. */
const SHOWN = 40

/** Models that the upstream lists. A click adds one to the channel's. */
function ListedModels({ of, editor: { values, set } }: { readonly of: readonly string[]; readonly editor: Editor }) {
  const words = text().editor
  const chosen = new Set(values.models.split('\n').map(line => line.split('=').at(-1)!.trim()))
  const left = of.filter(id => !chosen.has(id))
  return (
    <>
      <span class="badges">
        {left.slice(0, SHOWN).map(id => (
          <button
            key={id}
            type="button"
            class="channel-model"
            aria-label={words.addModel(id)}
            onClick={() => set({ models: [values.models.trim(), id].filter(Boolean).join('\n') })}
          >
            + {id}
          </button>
        ))}
      </span>
      {left.length > SHOWN && <span class="note">{words.moreListed(number(left.length - SHOWN))}</span>}
    </>
  )
}
