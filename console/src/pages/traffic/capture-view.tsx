import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import type { Capture } from '../../api/types.ts'
import { Tabs } from '../../ui/tabs.tsx'
import { Losses } from './losses.tsx'
import { AnswerPanel, CallerPanel, CanonicalPanel, UpstreamPanel } from './panels.tsx'
import { text } from './texts.ts'
import { useNarrow } from './use-narrow.ts'

type View = 'caller' | 'canonical' | 'upstream' | 'answer'

/** Views of a captured request, side by side or as tabs on narrow screens. */
export function CaptureView({ capture }: { readonly capture: Capture }) {
  const { attempts } = capture
  const [at, setAt] = useState(Math.max(attempts.length - 1, 0))
  const [view, setView] = useState<View>('caller')
  const [target, setTarget] = useState<string>()
  const isNarrow = useNarrow()
  const attempt = attempts[at]
  const words = text().views
  const losses = attempt?.losses ?? []
  const panels: { readonly [V in View]: VNode } = {
    caller: <CallerPanel capture={capture} losses={losses} target={target} />,
    canonical: <CanonicalPanel capture={capture} losses={losses} />,
    upstream: <UpstreamPanel attempt={attempt} at={at} cut={capture.cut} />,
    answer: <AnswerPanel key={at} capture={capture} attempt={attempt} at={at} />,
  }
  const views = Object.keys(panels) as View[]
  return (
    <section class="capture-view" aria-label={words.label}>
      {attempts.length > 1 && (
        <div class="capture-attempts" role="group" aria-label={words.attemptsLabel}>
          {attempts.map((one, index) => (
            <button
              key={index}
              type="button"
              aria-pressed={index === at}
              class={one.error === undefined ? undefined : 'failed'}
              title={one.error?.message}
              onClick={() => setAt(index)}
            >
              <span class="dot" />
              {words.attempt(index + 1, one.channel)}
              {one.error !== undefined && <span class="faint"> {one.error.kind}</span>}
            </button>
          ))}
          {capture.omitted_attempts !== undefined && (
            <span class="faint">{words.omitted(capture.omitted_attempts)}</span>
          )}
        </div>
      )}
      {attempt?.error !== undefined && (
        <div class="problem">
          <span>
            <strong>{attempt.error.kind}</strong> {attempt.error.message}
          </span>
        </div>
      )}
      <Losses
        losses={losses}
        inAnswer={capture.returned.losses}
        onShow={pointer => {
          setView('caller')
          // Clearing the target first makes a second click on the same loss scroll again.
          setTarget(undefined)
          setTimeout(() => setTarget(pointer))
        }}
      />
      {isNarrow ? (
        <Tabs
          label={words.label}
          value={view}
          onValue={setView}
          tabs={views.map(value => ({ value, label: words[value] }))}
        >
          {panels[view]}
        </Tabs>
      ) : (
        <div class="view-panels">{Object.values(panels)}</div>
      )}
    </section>
  )
}
