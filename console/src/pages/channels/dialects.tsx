import { get } from '../../api/request.ts'
import type { ChannelDetails } from '../../api/types.ts'
import { useLoad } from '../../api/use-load.ts'
import { named } from '../../i18n/catalogue.ts'
import { flagMeaning } from '../../i18n/flag-meanings.ts'
import { formatName } from '../../i18n/formats.ts'
import { Badge } from '../../ui/badge.tsx'
import { Loaded } from '../../ui/states.tsx'
import { text } from './texts.ts'

/** Formats of a channel: the work each one does and the dialect flags in which the upstream differs. */
export function Dialects({ name }: { readonly name: string }) {
  const details = useLoad(signal => get<ChannelDetails>(`/channels/${encodeURIComponent(name)}`, {}, signal), [name])
  return (
    <Loaded of={details}>
      {({ dialects }) => (
        <>
          {dialects.map(one => (
            <Dialect key={one.format} of={one} />
          ))}
        </>
      )}
    </Loaded>
  )
}

type OfDialect = { readonly of: ChannelDetails['dialects'][number] }

const Dialect = ({ of: { format, native, does, flags } }: OfDialect) => {
  const words = text().dialects
  return (
    <section class="channels-dialect">
      <header>
        <h3>{formatName(format)}</h3>
        <Badge tone={native ? 'good' : 'neutral'} title={native ? words.nativeHint : words.foreignHint}>
          {native ? words.native : words.foreign}
        </Badge>
        <span class="note">
          {words.does}: {does.map(work => named('works', work)).join(', ')}
        </span>
      </header>
      {flags.length === 0 ? <p class="note">{words.none}</p> : <Flags of={flags} />}
    </section>
  )
}

const Flags = ({ of }: { readonly of: OfDialect['of']['flags'] }) => (
  <dl>
    {of.map(({ name, value, meaning }) => (
      <div key={name}>
        <dt>
          <code>{name}</code> <code class="channels-value">{written(value)}</code>
        </dt>
        {meaning === undefined ? (
          <dd class="note">{text().dialects.noEffect}</dd>
        ) : (
          <Meaning {...flagMeaning(name, meaning)} />
        )}
      </div>
    ))}
  </dl>
)

const Meaning = ({ lang, text: said }: { readonly lang: string; readonly text: string }) => (
  <dd lang={lang}>
    <Marked text={said} />
  </dd>
)

const written = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))

/** Renders parts between backquotes as code. */
const Marked = ({ text }: { readonly text: string }) => (
  <>{text.split('`').map((part, index) => (index % 2 === 1 ? <code key={index}>{part}</code> : part))}</>
)
