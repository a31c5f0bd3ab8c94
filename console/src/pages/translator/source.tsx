import type { RefObject } from 'preact'
import { ROWS } from '../../../../src/formats/rows/index.ts'
import { formatName } from '../../i18n/formats.ts'
import { Button } from '../../ui/button.tsx'
import { Select } from '../../ui/field.tsx'
import { messageOf } from '../../ui/states.tsx'
import { Editor } from './editor.tsx'
import { type Mark, markAt } from './marks.ts'
import { text as words } from './texts.ts'
import type { Translation } from './use-translation.ts'

/** Formats whose texts can be translated: all but those of voice sessions. */
export const FORMATS: readonly string[] = [...ROWS]
  .filter(([, { upstream }]) => upstream?.does[0] !== 'realtime')
  .map(([format]) => format)

/** Kinds of text that can be translated. */
export const KINDS = ['request', 'result', 'events'] as const

/** Text to translate. An empty format or kind is detected from the text. */
export interface Source {
  readonly text: string
  readonly format: string
  readonly kind: string
}

interface SourceProps {
  readonly source: Source
  readonly onSource: (source: Source) => void
  readonly translation: Translation
  readonly marks: readonly Mark[]
  readonly active: string | undefined
  readonly onActive: (id: string | undefined) => void
  readonly host: RefObject<HTMLDivElement | null>
}

/** Card with the text to translate, its format and its kind. */
export function SourceCard({ source, onSource, translation, marks, active, onActive, host }: SourceProps) {
  const { text, format, kind } = source
  const { data, error, busy } = translation
  const guessedFormat = data && words().guessed(formatName(data.format))
  const guessedKind = data && words().guessed(words().kindsOfText[data.kind])
  const tidied = tidy(text)
  return (
    <section class="card flush source" aria-label={words().given} aria-busy={busy}>
      <div class="what">
        <Select
          label={words().format}
          hideLabel
          value={format}
          onValue={value => onSource({ ...source, format: value })}
          options={[
            { value: '', label: guessedFormat ?? `${words().format}: ${words().guess}` },
            ...FORMATS.map(value => ({ value, label: formatName(value) })),
          ]}
        />
        <Select
          label={words().kind}
          hideLabel
          value={kind}
          onValue={value => onSource({ ...source, kind: value })}
          options={[
            { value: '', label: guessedKind ?? `${words().kind}: ${words().guess}` },
            ...KINDS.map(value => ({ value, label: words().kindsOfText[value] })),
          ]}
        />
      </div>
      <Editor
        value={text}
        onValue={value => onSource({ ...source, text: value })}
        marks={error === undefined ? marks : wrongPlace(text, error.message)}
        active={active}
        onCaret={place => {
          const mark = markAt(marks, place)
          if (mark === undefined) return
          onActive(mark.id)
          document.getElementById(mark.id)?.scrollIntoView({ block: 'nearest' })
        }}
        isWrong={error !== undefined}
        host={host}
      />
      <footer>
        {error !== undefined ? (
          <p class="wrong" role="alert">
            {messageOf(error).replace(/^\/text: /, '')}
          </p>
        ) : (
          <span class="faint">
            {text === '' ? '' : sizeOf(text)}
            {marks.length > 0 && (
              <span class="hint">
                <kbd>n</kbd> {words().nextLoss}
              </span>
            )}
          </span>
        )}
        <div class="actions">
          {tidied !== undefined && tidied !== text && (
            <Button kind="plain" small onClick={() => onSource({ ...source, text: tidied })}>
              {words().tidy}
            </Button>
          )}
          {text !== '' && (
            <Button kind="plain" small onClick={() => onSource({ text: '', format: '', kind: '' })}>
              {words().clear}
            </Button>
          )}
        </div>
      </footer>
    </section>
  )
}

/** Formats a text as indented JSON. Undefined for invalid JSON. */
function tidy(text: string): string | undefined {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return undefined
  }
}

/** Mark at the position of a JSON syntax error, if the error message has one. */
function wrongPlace(text: string, message: string): readonly Mark[] {
  const at = Number(/ at position (\d+)/.exec(message)?.[1] ?? Number.NaN)
  if (!Number.isInteger(at) || text === '') return []
  const start = Math.min(at, text.length - 1)
  return [{ start, end: start + 1, tone: 'bad', id: 'fault', quiet: false }]
}

/** Size of a text in UTF-8, formatted. */
export const sizeOf = (text: string): string => {
  const bytes = new TextEncoder().encode(text).length
  return bytes < 1000 ? `${bytes} B` : `${(bytes / 1000).toFixed(1)} kB`
}
