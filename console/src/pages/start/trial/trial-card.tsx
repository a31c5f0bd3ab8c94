import { useState } from 'preact/hooks'
import { useDraft } from '../../../drafts.ts'
import { isAdmin } from '../../../session-state.ts'
import { Button } from '../../../ui/button.tsx'
import { Area } from '../../../ui/field.tsx'
import { Card } from '../../../ui/page.tsx'
import { formatsOf } from '../choices.ts'
import type { Format } from '../clients/client.ts'
import { json } from '../clients/quote.ts'
import { Segmented } from '../segmented.tsx'
import { text } from '../texts.ts'
import type { Connection } from '../use-connection.ts'
import { requestOf } from './request.ts'
import { TrialView } from './trial-view.tsx'
import { useTrial } from './use-trial.ts'

interface TrialCardProps {
  readonly of: Connection
  /** Format of the client whose settings are shown. */
  readonly format: Format
}

/** A request body that was edited. It belongs to one model and format. */
interface Written {
  readonly text: string
  readonly of: string
}

/** Card that sends a request as the chosen key and shows the response. */
export function TrialCard({ of: { key, model }, format: usual }: TrialCardProps) {
  const words = text().trial
  const [prompt, setPrompt] = useDraft<string | undefined>('trial.prompt', undefined)
  const [chosen, setChosen] = useState<{ readonly format: Format; readonly instead: Format }>()
  const [written, setWritten] = useDraft<Written | undefined>('trial.request', undefined)
  const { trial, start, stop } = useTrial()

  const possible = model === undefined ? [] : formatsOf(model)
  const wanted = chosen?.instead === usual ? chosen.format : usual
  const format = possible.includes(wanted) ? wanted : (possible[0] ?? wanted)
  const request = requestOf(format, model?.id ?? '', prompt ?? words.usual, true)
  const about = `${format} ${model?.id}`
  const own = written?.of === about ? written.text : undefined
  const body = own === undefined ? request.body : objectIn(own)
  const isRunning = trial?.state === 'running'
  const isReady = key !== undefined && model !== undefined && possible.length > 0 && body !== undefined

  if (!isAdmin.value)
    return (
      <Card title={words.title}>
        <p class="faint">{words.viewer}</p>
      </Card>
    )
  const begin = (): void => {
    if (isReady) void start({ key: key.id, format, path: request.path, body })
  }
  return (
    <Card title={words.title} actions={<span class="faint">{words.lead}</span>}>
      <div class="trial-form">
        <Area
          label={words.prompt}
          rows={2}
          value={prompt ?? words.usual}
          onValue={setPrompt}
          disabled={own !== undefined}
        />
        <div class="trial-controls">
          {possible.length > 1 && (
            <Segmented<Format>
              label={text().format}
              value={format}
              onValue={next => setChosen({ format: next, instead: usual })}
              options={possible.map(value => ({ value, label: text().formats[value] }))}
            />
          )}
          {/* The same button starts and stops, so that it keeps the focus. */}
          <Button
            kind={isRunning ? 'secondary' : 'primary'}
            icon={isRunning ? 'stop' : 'play'}
            disabled={!isRunning && !isReady}
            onClick={isRunning ? stop : begin}
          >
            {isRunning ? words.stop : words.send}
          </Button>
        </div>
        <details>
          <summary>
            {words.request} <code>POST {request.path}</code>
          </summary>
          <Area
            label={words.request}
            hideLabel
            mono
            rows={10}
            spellcheck={false}
            value={own ?? json(request.body)}
            onValue={next => setWritten({ text: next, of: about })}
            error={body === undefined ? words.notJson : undefined}
          />
          {own !== undefined && (
            <Button small onClick={() => setWritten(undefined)}>
              {words.reset}
            </Button>
          )}
        </details>
        {(key === undefined || model === undefined) && <p class="faint">{words.needs}</p>}
      </div>
      <TrialView of={trial} />
    </Card>
  )
}

/** Parses a JSON object. Undefined for any other text. */
function objectIn(written: string): { readonly [name: string]: unknown } | undefined {
  try {
    const value = JSON.parse(written)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined
  } catch {
    return undefined
  }
}
