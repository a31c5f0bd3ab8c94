import { useEffect, useState } from 'preact/hooks'
import { useLocation } from 'preact-iso'
import { ProblemError } from '../../api/problem.ts'
import { get, remove } from '../../api/request.ts'
import type { Capture, Request } from '../../api/types.ts'
import { type Loaded, useLoad } from '../../api/use-load.ts'
import { hrefOf } from '../../href.ts'
import { isAdmin } from '../../session-state.ts'
import { Button } from '../../ui/button.tsx'
import { Confirm } from '../../ui/confirm.tsx'
import { Copy } from '../../ui/copy.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Loading, Problem } from '../../ui/states.tsx'
import { toast } from '../../ui/toast.tsx'
import { addressOf } from './address.ts'
import { CaptureView } from './capture-view.tsx'
import { StatusBadge } from './columns.tsx'
import { FailureFacts } from './failure-facts.tsx'
import { FixtureDialog } from './fixture-dialog.tsx'
import { NotCaptured } from './not-captured.tsx'
import { RecordingsDialog } from './recordings-dialog.tsx'
import { ReplayDialog } from './replay-dialog.tsx'
import { requestAt } from './request-at.ts'
import { Summary } from './summary.tsx'
import { text } from './texts.ts'

/** Interval between two loads of a running request, in milliseconds. */
const EVERY = 700

type Open = 'replay' | 'fixture' | 'recordings' | 'forget'

/** Page of one request: its facts, and the captured bodies if there are any. */
export function RequestDetail({ id }: { readonly id: string }) {
  const { route } = useLocation()
  const path = `/requests/${encodeURIComponent(id)}`
  const row = useLoad(signal => requestAt(id, signal), [id])
  const captured = useLoad(
    async signal => (isAdmin.value && row.data?.captured ? await captureAt(path, signal) : undefined),
    [id, row.data?.captured],
  )
  const isPending = useWaiting(row)
  const [open, setOpen] = useState<Open>()
  const words = text().detail
  const close = (): void => setOpen(undefined)
  const capture = captured.data
  const shown = row.data
  return (
    <>
      <nav class="crumbs" aria-label={text().title}>
        <a href={hrefOf('/traffic')}>
          <Icon name="right" size={14} />
          {words.back}
        </a>
      </nav>
      <header class="page-head">
        <div>
          <h1 class="request-title">
            <span class="mono">{shown?.model ?? capture?.model ?? words.title}</span>
            {shown && <StatusBadge row={shown} />}
          </h1>
          <p class="request-id">
            <code>{id}</code>
            <Copy text={id} what={words.copyId} kind="plain" small bare />
          </p>
        </div>
        {capture && (
          <div class="actions">
            <Button icon="trash" kind="plain" onClick={() => setOpen('forget')}>
              {words.forget}
            </Button>
            <Button icon="check" onClick={() => setOpen('recordings')}>
              {words.recordings}
            </Button>
            <Button icon="download" onClick={() => setOpen('fixture')}>
              {words.fixture}
            </Button>
            <Button icon="play" kind="primary" onClick={() => setOpen('replay')}>
              {words.replay}
            </Button>
          </div>
        )}
      </header>
      {isPending && (
        <div class="callout" role="status">
          <Icon name="info" />
          <span>{words.pending}</span>
        </div>
      )}
      {row.error && <Problem error={gone(row.error)} onRetry={row.reload} />}
      {shown ? (
        <>
          <Summary row={shown} replayOf={capture?.replay_of} />
          <FailureFacts row={shown} />
        </>
      ) : (
        row.loading && row.error === undefined && !isPending && <Loading lines={3} />
      )}
      {capture !== undefined && <CaptureView capture={capture} />}
      {shown && capture === undefined && !captured.loading && <NotCaptured row={shown} />}
      {captured.error && <Problem error={captured.error} onRetry={captured.reload} />}
      {open === 'replay' && <ReplayDialog capture={capture!} onSent={next => route(addressOf(next))} onClose={close} />}
      {open === 'fixture' && <FixtureDialog id={id} onClose={close} />}
      {open === 'recordings' && <RecordingsDialog id={id} onClose={close} />}
      {open === 'forget' && (
        <Confirm
          title={words.forget}
          action={words.forget}
          danger
          onClose={close}
          onConfirm={async () => {
            await remove(`${path}/capture`)
            toast(words.forgotten)
            // Reloading the row also reloads the capture.
            await row.reload()
          }}
        >
          <p>{words.forgetText}</p>
        </Confirm>
      )}
    </>
  )
}

/** Loads the capture of a request. Undefined without one. */
const captureAt = (path: string, signal: AbortSignal): Promise<Capture | undefined> =>
  get<Capture>(`${path}/capture`, {}, signal).catch((thrown: unknown) => {
    if (thrown instanceof ProblemError && thrown.status === 404) return undefined
    throw thrown
  })

/** Hook that reloads a request until it has ended, because its row is stored only after its end. */
function useWaiting({ data, error, loading, reload }: Loaded<Request | undefined>): boolean {
  const [isFirst, setFirst] = useState(true)
  useEffect(() => {
    if (loading) return
    setFirst(false)
    if (data !== undefined || error !== undefined) return
    const timer = setTimeout(reload, EVERY)
    return () => clearTimeout(timer)
  }, [data, error, loading])
  return !isFirst && data === undefined && error === undefined
}

const gone = (error: ProblemError): ProblemError =>
  error.status === 404 ? new ProblemError(404, { detail: text().detail.gone }) : error
