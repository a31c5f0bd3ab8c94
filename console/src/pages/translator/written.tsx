import { formatName } from '../../i18n/formats.ts'
import { Badge } from '../../ui/badge.tsx'
import { IconButton } from '../../ui/button.tsx'
import { Copy } from '../../ui/copy.tsx'
import { Icon } from '../../ui/icon.tsx'
import { LossList } from './loss-list.tsx'
import { Marked } from './marked.tsx'
import { type Listed, marksIn, TONES } from './marks.ts'
import { text } from './texts.ts'

/** Translation into one format. */
export interface InFormat {
  readonly format: string
  readonly written: string | undefined
  readonly path: string | undefined
  readonly error: string | undefined
  readonly losses: readonly Listed[]
}

interface WrittenProps {
  readonly of: InFormat
  readonly isStream: boolean
  readonly active: string | undefined
  readonly onActive: (id: string | undefined, show?: boolean) => void
  /** Makes the translation the new source text. */
  readonly onTake: () => void
}

/** Translation into one format with its losses. */
export const Written = ({ of, isStream, active, onActive, onTake }: WrittenProps) => {
  const { format, written, path, error, losses } = of
  const name = formatName(format)
  return (
    <section class="card flush written" aria-label={name} data-format={format}>
      <header>
        <h2>
          {name}
          {path !== undefined && <code class="path">POST {path}</code>}
        </h2>
        <div class="actions">
          {error === undefined && <Counts losses={losses} />}
          {written !== undefined && (
            <>
              <IconButton icon="translator" small label={text().take(name)} onClick={onTake} />
              <Copy text={written} what={name} kind="plain" small bare />
            </>
          )}
        </div>
      </header>
      {error !== undefined && (
        <p class="cannot">
          <Icon name="warning" />
          <span>{error}</span>
        </p>
      )}
      {losses.length > 0 && (
        <LossList losses={losses} format={name} isStream={isStream} active={active} onActive={onActive} />
      )}
      {written !== undefined && (
        <pre class={isStream ? 'wire dense' : 'wire'} tabIndex={0} role="region" aria-label={text().writtenAs(name)}>
          <Marked text={written} marks={marksIn(written, losses, { side: 'pointer_to', isStream })} active={active} />
        </pre>
      )}
    </section>
  )
}

const KINDS = Object.keys(TONES) as (keyof typeof TONES)[]

/** Number of losses of each kind. */
const Counts = ({ losses }: { readonly losses: readonly Listed[] }) => {
  const loud = losses.filter(({ quiet }) => !quiet)
  if (loud.length === 0)
    return (
      <Badge tone="good">
        <Icon name="check" size={13} />
        {text().nothingLost}
      </Badge>
    )
  return (
    <>
      {KINDS.map(kind => [kind, loud.filter(one => one.kind === kind)] as const)
        .filter(([, all]) => all.length > 0)
        .map(([kind, all]) => (
          <Badge key={kind} tone={TONES[kind]}>
            {text().count(kind, all.length)}
          </Badge>
        ))}
    </>
  )
}
