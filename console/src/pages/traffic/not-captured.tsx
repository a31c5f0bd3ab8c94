import { useState } from 'preact/hooks'
import { get, patch } from '../../api/request.ts'
import type { Key, Request } from '../../api/types.ts'
import { useLoad } from '../../api/use-load.ts'
import { time } from '../../format.ts'
import { isAdmin } from '../../session-state.ts'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/page.tsx'
import { Empty } from '../../ui/states.tsx'
import { toastProblem } from '../../ui/toast.tsx'
import { text } from './texts.ts'

/** Hint for a request without a capture, with a button to capture the key's next requests. */
export function NotCaptured({ row }: { readonly row: Request }) {
  const words = text().detail
  if (!isAdmin.value)
    return (
      <Card>
        <Empty icon="record" title={words.admins} />
      </Card>
    )
  return (
    <Card>
      <Empty
        icon="record"
        title={words.notCaptured}
        action={row.key === undefined ? undefined : <Switch id={row.key} />}
      >
        {words.captureHint}
      </Empty>
    </Card>
  )
}

function Switch({ id }: { readonly id: string }) {
  const words = text().detail
  const loaded = useLoad(signal => get<Key>(`/keys/${encodeURIComponent(id)}`, {}, signal), [id])
  const [changed, setChanged] = useState<Key>()
  const key = changed ?? loaded.data
  if (key === undefined || key.revoked_at !== undefined) return null
  const until = key.capture_until
  if (until !== undefined && Date.parse(until) > Date.now())
    return <span class="faint">{words.capturing(key.name, time(until))}</span>
  if (key.source === 'config') return <span class="faint">{words.fixedKey}</span>
  const capture = (): Promise<void> =>
    patch<Key>(`/keys/${encodeURIComponent(id)}`, { capture: '1h' }).then(setChanged, toastProblem)
  return (
    <Button icon="record" onClick={capture}>
      {words.capture(key.name)}
    </Button>
  )
}
