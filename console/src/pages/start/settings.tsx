import { useState } from 'preact/hooks'
import type { Key } from '../../api/types.ts'
import { Badge } from '../../ui/badge.tsx'
import { Icon } from '../../ui/icon.tsx'
import { wayTo } from './choices.ts'
import type { Client, Format, Language } from './clients/client.ts'
import { Rail } from './rail.tsx'
import { Segmented } from './segmented.tsx'
import { SnippetView } from './snippet.tsx'
import { text } from './texts.ts'
import type { Connection } from './use-connection.ts'

interface SettingsProps {
  readonly of: Connection
  readonly client: Client
  readonly format: Format
  readonly onClient: (client: Client) => void
  readonly onFormat: (format: Format) => void
}

/** Placeholder for an unknown secret. */
export const PLACEHOLDER = 'YOUR_KEY'
const NO_MODEL = 'YOUR_MODEL'

/** Card with the settings of each client, filled in with address, secret and model. */
export function SettingsCard(props: SettingsProps) {
  const { client, onClient } = props
  return (
    <section class="card flush settings" aria-label={text().settings}>
      <Rail client={client} onClient={onClient}>
        <Panel {...props} />
      </Rail>
    </section>
  )
}

function Panel({ of, client, format, onFormat }: SettingsProps) {
  const [chosen, setLanguage] = useState<Language>('python')
  const { base, model, key, secret = PLACEHOLDER } = of
  const words = text()
  const language = client.languages?.find(one => one === chosen) ?? client.languages?.[0] ?? 'python'
  const values = { base, secret, model: model?.id ?? NO_MODEL, format, language }
  const note = client.note?.(values)
  return (
    <>
      <div class="panel-head">
        <h2>{client.name}</h2>
        <Way of={of} format={format} />
        <div class="push">
          {client.formats.length > 1 && (
            <Segmented<Format>
              label={words.format}
              value={format}
              onValue={onFormat}
              options={client.formats.map(value => ({ value, label: words.formats[value] }))}
            />
          )}
          {(client.languages?.length ?? 0) > 1 && (
            <Segmented<Language>
              label={words.language}
              value={language}
              onValue={setLanguage}
              options={client.languages!.map(value => ({ value, label: words.languages[value] }))}
            />
          )}
        </div>
      </div>
      {model && wayTo(model, format) === 'none' && (
        <p class="callout warn">
          <Icon name="warning" />
          <span>{words.impossible(client.name, words.formats[format])}</span>
        </p>
      )}
      {model && wayTo(model, format) === 'translated' && <p class="faint">{words.wayTitles.translated}</p>}
      {note && (
        <p class="callout warn">
          <Icon name="warning" />
          <span>{words.notes[note]}</span>
        </p>
      )}
      {of.secret === undefined && of.keys.data !== undefined && <MissingSecret of={key} />}
      {client.write(values).map(one => (
        <SnippetView
          key={`${one.file}${one.role}`}
          of={one}
          client={client.name}
          marks={[base, values.secret, values.model]}
        />
      ))}
    </>
  )
}

const TONES = { native: 'good', translated: 'accent', none: 'bad' } as const

/** Badge that says whether the client's format is native, translated or not possible for the model. */
function Way({ of: { model }, format }: { readonly of: Connection; readonly format: Format }) {
  const words = text()
  const way = model && wayTo(model, format)
  return (
    <span class="way">
      <span class="faint">{words.speaks(words.formats[format])}</span>
      {way && (
        <Badge tone={TONES[way]} title={words.wayTitles[way]}>
          {words.ways[way]}
        </Badge>
      )}
    </span>
  )
}

/** Hint to replace the placeholder by the key's secret. */
function MissingSecret({ of: key }: { readonly of: Key | undefined }) {
  const words = text()
  const shape = key?.secrets.at(-1)
  return (
    <p class="callout">
      <Icon name="info" />
      <span>
        {key === undefined ? words.missingNone : words.missing(key.name)}
        {shape && <> {words.missingHidden(`${shape.prefix}…${shape.last_four}`)}</>}
      </span>
    </p>
  )
}
