import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { Capture } from '../../api/types.ts'
import { toneOf } from '../../catalogue/status-tone.ts'
import { duration } from '../../format.ts'
import { formatName } from '../../i18n/formats.ts'
import { Badge } from '../../ui/badge.tsx'
import { Copy } from '../../ui/copy.tsx'
import { Body, copyTextOf, type Shown } from './body.tsx'
import { HeaderTable } from './header-table.tsx'
import { JsonView, type Marks } from './json-view.tsx'
import { kindOf, type Loss, reasonOf } from './losses.tsx'
import { text } from './texts.ts'

type Attempt = Capture['attempts'][number]

interface PanelProps {
  readonly title: string
  /** Format or status beside the title. */
  readonly about?: ComponentChildren
  readonly copy?: string | undefined
  readonly isCut?: boolean
  readonly children: ComponentChildren
}

const Panel = ({ title, about, copy, isCut, children }: PanelProps) => (
  <section class="view-panel" aria-label={title}>
    <header>
      <h2>{title}</h2>
      <span class="about">{about}</span>
      {isCut && <Badge tone="warn">{text().views.cut}</Badge>}
      {copy !== undefined && <Copy text={copy} what={title} kind="plain" small bare />}
    </header>
    {children}
  </section>
)

const isCutAt = (cut: readonly string[], at: string): boolean => cut.some(one => one.startsWith(at))

interface CallerProps {
  readonly capture: Capture
  readonly losses: readonly Loss[]
  /** JSON pointer of the value to scroll to. */
  readonly target: string | undefined
}

/** The request as the caller sent it. */
export function CallerPanel({ capture, losses, target }: CallerProps) {
  const { caller, cut } = capture
  const words = text().views
  return (
    <Panel
      title={words.caller}
      about={<About format={caller.format} path={caller.path} />}
      copy={copyTextOf(caller)}
      isCut={isCutAt(cut, '/caller')}
    >
      <Sided headers={caller.headers} query={caller.query}>
        <Body shown={caller} marks={marksOf(losses, loss => loss.pointer)} target={target} label={words.caller} />
      </Sided>
    </Panel>
  )
}

/** The canonical request. */
export function CanonicalPanel({ capture, losses }: Pick<CallerProps, 'capture' | 'losses'>) {
  const words = text().views
  const { canonical, cut } = capture
  return (
    <Panel
      title={words.canonical}
      copy={canonical === undefined ? undefined : JSON.stringify(canonical, null, 2)}
      isCut={isCutAt(cut, '/canonical')}
    >
      {canonical === undefined ? (
        <p class="nothing">{words.unread}</p>
      ) : (
        <JsonView
          value={canonical}
          marks={marksOf(losses, ({ path }) => path.map(step => `/${escaped(String(step))}`).join(''))}
          label={words.canonical}
        />
      )}
    </Panel>
  )
}

interface AttemptProps {
  readonly attempt: Attempt | undefined
  readonly at: number
}

/** The request that an attempt sent to its upstream. */
export function UpstreamPanel({ attempt, at, cut }: AttemptProps & { readonly cut: readonly string[] }) {
  const words = text().views
  const request = attempt?.request
  return (
    <Panel
      title={words.upstream}
      about={
        attempt && <About format={attempt.format} path={request ? request.origin + request.path : attempt.channel} />
      }
      copy={request && copyTextOf(request)}
      isCut={isCutAt(cut, `/attempts/${at}/request`)}
    >
      {request === undefined ? (
        <p class="nothing">{words.notSent}</p>
      ) : (
        <Sided headers={request.headers} query={request.query}>
          <Body shown={request} label={words.upstream} />
        </Sided>
      )}
    </Panel>
  )
}

type Side = 'upstream' | 'returned'

/** The response, as the upstream sent it and as the caller received it. */
export function AnswerPanel({ capture, attempt, at }: AttemptProps & { readonly capture: Capture }) {
  const words = text().views
  const { returned, cut } = capture
  const answer = attempt?.answer
  const [side, setSide] = useState<Side>(answer === undefined ? 'returned' : 'upstream')
  const isUpstream = side === 'upstream'
  const shown: (Shown & { readonly headers: { readonly [name: string]: string } }) | undefined = isUpstream
    ? answer
    : returned
  const [status, isWhole, after] = isUpstream
    ? [answer?.status, answer?.whole, answer?.after_ms]
    : [returned.status, returned.whole, returned.after_ms]
  return (
    <Panel
      title={words.answer}
      about={
        <>
          {status !== undefined && <Badge tone={toneOf({ status, error: undefined })}>{status}</Badge>}
          {after !== undefined && <span class="faint">{duration(after)}</span>}
          {status !== undefined && !isWhole && <Badge tone="bad">{words.notWhole}</Badge>}
        </>
      }
      copy={shown && copyTextOf(shown)}
      isCut={isCutAt(cut, isUpstream ? `/attempts/${at}/answer` : '/returned')}
    >
      <div class="capture-sides" role="group" aria-label={words.side}>
        {(['upstream', 'returned'] as const).map(one => (
          <button key={one} type="button" aria-pressed={one === side} onClick={() => setSide(one)}>
            {one === 'upstream' ? words.fromUpstream : words.toCaller}
          </button>
        ))}
      </div>
      {shown === undefined || status === undefined ? (
        <p class="nothing">{isUpstream ? words.noAnswer : words.left}</p>
      ) : (
        <Sided headers={shown.headers}>
          <Body key={side} shown={shown} label={words.answer} />
        </Sided>
      )}
    </Panel>
  )
}

const About = ({ format, path }: { readonly format: string; readonly path: string }) => (
  <>
    <Badge>{formatName(format)}</Badge>
    <code class="cut faint" title={path}>
      {path}
    </code>
  </>
)

type Fields = { readonly [name: string]: string }

/** A body with its headers below. */
function Sided({
  headers,
  query = {},
  children,
}: {
  readonly headers: Fields
  readonly query?: Fields
  readonly children: ComponentChildren
}) {
  const words = text().views
  return (
    <>
      {children}
      {Object.keys(query).length > 0 && <HeaderTable title={words.query} fields={query} />}
      {Object.keys(headers).length > 0 && <HeaderTable title={words.headers} fields={headers} />}
    </>
  )
}

/** Notes of the losses by JSON pointer. */
const marksOf = (losses: readonly Loss[], place: (loss: Loss) => string | undefined): Marks =>
  new Map(
    [...Map.groupBy(losses, place)].flatMap(([at, all]) =>
      at === undefined ? [] : [[at, all.map(loss => `${kindOf(loss)}: ${reasonOf(loss)}`)] as const],
    ),
  )

const escaped = (step: string): string => step.replaceAll('~', '~0').replaceAll('/', '~1')
