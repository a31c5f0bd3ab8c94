import { useEffect, useRef } from 'preact/hooks'
import { duration, number } from '../../../format.ts'
import { hrefOf } from '../../../href.ts'
import { Badge, type Tone } from '../../../ui/badge.tsx'
import { Copy } from '../../../ui/copy.tsx'
import { Problem } from '../../../ui/states.tsx'
import { text } from '../texts.ts'
import { LossesView } from './losses-view.tsx'
import type { Trial } from './run-trial.ts'

/** A response: its facts, its text, and its events as received. */
export function TrialView({ of: trial }: { readonly of: Trial | undefined }) {
  const words = text().trial
  return (
    <>
      {trial && <Line of={trial} />}
      {trial?.problem && <Problem error={trial.problem} />}
      {trial?.losses && <LossesView of={trial.losses} />}
      <div class={trial === undefined ? 'answer idle' : 'answer'}>
        <figure class="code">
          <figcaption>
            <span>{words.answer}</span>
            {trial?.text && <Copy text={trial.text} what={words.answer} kind="plain" small />}
          </figcaption>
          <Answer of={trial} />
        </figure>
        <figure class="code">
          <figcaption>
            <span>{words.bytes}</span>
            {trial !== undefined && trial.count > 0 && (
              <span class="faint">{words.events(trial.count, size(trial.bytes))}</span>
            )}
          </figcaption>
          <Events of={trial} />
        </figure>
      </div>
    </>
  )
}

const size = (bytes: number): string =>
  bytes < 1024 ? `${bytes} B` : `${number(Number((bytes / 1024).toPrecision(3)))} KB`

const TONES: { readonly [S in Trial['state']]: Tone } = {
  ...{ running: 'accent', done: 'neutral', stopped: 'warn', failed: 'bad' },
}

function Line({ of: { state, status, firstByteMs, ms, requestId, losses } }: { readonly of: Trial }) {
  const words = text().trial
  return (
    <p class="trial-line" role="status">
      {status !== undefined && <Badge tone={status < 400 ? 'good' : 'bad'}>{`HTTP ${status}`}</Badge>}
      <Badge tone={TONES[state]} dot={state === 'running'}>
        {words[state]}
      </Badge>
      {status !== undefined && status < 400 && (losses === undefined || losses.count === 0) && (
        <Badge title={words.losslessTitle}>{words.lossless}</Badge>
      )}
      {losses !== undefined && losses.count > 0 && <Badge tone="warn">{words.losses(losses.count)}</Badge>}
      {firstByteMs !== undefined && (
        <span>
          <span class="faint">{words.firstByte}</span> {duration(Math.round(firstByteMs))}
        </span>
      )}
      {ms !== undefined && (
        <span>
          <span class="faint">{words.whole}</span> {duration(Math.round(ms))}
        </span>
      )}
      {requestId && (
        <span>
          <span class="faint">{words.requestId}</span>{' '}
          <a
            class="mono"
            href={`${hrefOf('/traffic')}?request=${encodeURIComponent(requestId)}`}
            title={words.toTraffic}
          >
            {requestId}
          </a>
        </span>
      )}
    </p>
  )
}

function Answer({ of: trial }: { readonly of: Trial | undefined }) {
  const words = text().trial
  const box = useFollowing(trial?.text.length)
  const isEmpty = !trial?.text && !trial?.error && !trial?.thought
  return (
    <div ref={box} class="answer-text" tabIndex={0} role="region" aria-label={words.answer}>
      {trial?.thought && (
        <details>
          <summary>{words.thought}</summary>
          <p class="faint">{trial.thought}</p>
        </details>
      )}
      {trial?.error && <p class="answer-error">{trial.error}</p>}
      {trial?.text}
      {isEmpty && <span class="faint">{trial?.state === 'done' ? words.noText : words.nothing}</span>}
    </div>
  )
}

function Events({ of: trial }: { readonly of: Trial | undefined }) {
  const words = text().trial
  const box = useFollowing(trial?.count)
  const events = trial?.events ?? []
  const earlier = (trial?.count ?? 0) - events.length
  return (
    <div ref={box} class="events" tabIndex={0} role="region" aria-label={words.bytes}>
      {earlier > 0 && <p class="faint">{words.earlier(earlier)}</p>}
      {events.length === 0 && <span class="faint">{words.nothingYet}</span>}
      {events.map(({ at, ms, raw }) => (
        <div key={at} class="event">
          <span class="event-time">{`+${Math.round(ms)} ms`}</span>
          <pre>{raw}</pre>
        </div>
      ))}
    </div>
  )
}

/** Distance from the end within which the box counts as scrolled to the end, in pixels. */
const NEAR = 48

/** Hook that scrolls a growing box to its end, unless the user has scrolled away from it. */
function useFollowing(grown: number | undefined) {
  const box = useRef<HTMLDivElement>(null)
  const wasNear = useRef(true)
  const element = box.current
  if (element !== null) wasNear.current = element.scrollHeight - element.scrollTop - element.clientHeight < NEAR
  useEffect(() => {
    if (wasNear.current && box.current !== null) box.current.scrollTop = box.current.scrollHeight
  }, [grown])
  return box
}
